#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Reads two files of callgrind, of FEW and MANY 8-byte sends, and holds what one send runs against the budget of docs/send-path.md:
`send_path.py TOP FEW FILE MANY FILE`. Returns 1 if the path has grown."""
import collections
import os
import re
import subprocess
import sys

FUNCTIONS = {'PMPI_Send', 'tern_pml_send', 'shm_send'}
SOURCES = {'entry_pt2pt.c', 'send.c', 'shm.c'}  # and ring.h: the four files that a reader opens
HEADERS = 9  # of one-line functions
INSTRUCTIONS = 210
INDIRECT = 1  # calls and jumps through pointers: the byte mover's send
# What runs only if the receiver sleeps, which another program on this machine may cause.
WAKING = {'tern_doorbell_wake'}


def read(path):
    """Returns {(function, file): instructions}, {function: object file} and, if the file has addresses (--dump-instr=yes),
    {(function, address): how often executed}."""
    costs, objects, executed = collections.Counter(), {}, collections.Counter()
    names = {'fn': {}, 'fl': {}, 'ob': {}}
    now = {'fn': '', 'fl': '', 'ob': ''}
    skip, positions, address = False, 1, 0
    with open(path, encoding='utf-8') as file:
        for line in file:
            match = re.match(r'(c?)(fn|fl|fi|fe|ob|file)=\((\d+)\)(?: (.*))?$', line)
            if match:
                called, kind, number, name = match.groups()
                table = 'fl' if kind in ('fl', 'fi', 'fe', 'file') else kind
                if name:
                    names[table][number] = name
                if not called and kind != 'file':
                    now[table] = names[table].get(number, '?')
                continue
            if line.startswith('calls='):
                skip = True  # the next line is the cost of what is called
                continue
            if line.startswith('positions:'):
                positions = len(line.split()) - 1
                continue
            match = re.match(r'((?:(?:[+-]?\d+|0x[0-9a-f]+|\*) )+)(\d+)$', line)
            if match and len(match.group(1).split()) == positions:
                at = match.group(1).split()[0]  # relative to the line before if it has a sign
                address = address + int(at) if at[0] in '+-' else address if at == '*' else int(at, 0)
                if not skip:
                    costs[now['fn'], os.path.normpath(now['fl'])] += int(match.group(2))
                    objects[now['fn']] = now['ob']
                    executed[now['fn'], address] += int(match.group(2))
            skip = False
    return costs, objects, executed


def indirect(library, addresses):
    """Returns the instructions at these addresses that call or jump through a pointer."""
    text = subprocess.run(['objdump', '-d', '--no-show-raw-insn', f'--start-address={min(addresses)}',
                           f'--stop-address={max(addresses) + 1}', library], check=True, stdout=subprocess.PIPE, text=True).stdout
    lines = re.findall(r'^ *([0-9a-f]+):\s+(.*)$', text, re.M)
    through = re.compile(r'(?:notrack |bnd )*(?:call|jmp)q? +\*|blr |br ')
    return [instruction for at, instruction in lines if int(at, 16) in addresses and through.match(instruction)]


def main():
    top, few, few_file, many, many_file = sys.argv[1:]
    messages = int(many) - int(few)
    before, _, executed_before = read(few_file)
    after, objects, executed = read(many_file)
    each = {at: (after[at] - before[at]) / messages for at in after}
    ours = {at: n for at, n in each.items() if 'libmpi.so' in objects[at[0]] and n >= 0.5
            and re.sub(r"[.'].*", '', at[0]) not in WAKING}
    functions = {re.sub(r"[.'].*", '', function) for function, _ in ours}
    files = {os.path.basename(name) for _, name in ours}
    sources = {name for name in files if name.endswith('.c')}
    headers = files - sources
    instructions = round(sum(ours.values()))
    names = {function for function, _ in ours}
    each_send = {at for at in executed if at[0] in names and executed[at] - executed_before[at] >= messages / 2}
    library = objects.get('tern_pml_send')
    through = indirect(library, {address for _, address in each_send}) if library and each_send else []
    print(f'{instructions} instructions in {", ".join(sorted(functions))}; {", ".join(sorted(sources))}; {len(headers)} headers: '
          f'{", ".join(sorted(headers))}; through pointers: {"; ".join(through)}')
    wrong = []
    if len(each_send) < instructions / 2 or not through:
        wrong.append(f'{len(each_send)} addresses and {len(through)} indirect calls were seen, expected as many as instructions, and one')
    if len(through) > INDIRECT:
        wrong.append(f'{len(through)} indirect calls, expected {INDIRECT} at most: {"; ".join(through)}')
    if not FUNCTIONS & functions:
        wrong.append('none of the functions of a send was seen')
    if functions - FUNCTIONS:
        wrong.append(f'functions beside {", ".join(sorted(FUNCTIONS))}: {", ".join(sorted(functions - FUNCTIONS))}')
    if sources - SOURCES:
        wrong.append(f'files beside {", ".join(sorted(SOURCES))}: {", ".join(sorted(sources - SOURCES))}')
    if len(headers) > HEADERS:
        wrong.append(f'{len(headers)} headers, expected {HEADERS} at most')
    if instructions > INSTRUCTIONS:
        wrong.append(f'{instructions} instructions, expected {INSTRUCTIONS} at most')
    for fault in wrong:
        print(f'the path of an 8-byte MPI_Send has grown ({top}/docs/send-path.md): {fault}')
    return 1 if wrong else 0


if __name__ == '__main__':
    sys.exit(main())
