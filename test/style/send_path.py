#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Reads two files of callgrind, of FEW and MANY 8-byte sends, and holds what one send runs against the budget of docs/send-path.md:
`send_path.py TOP FEW FILE MANY FILE`. Returns 1 if the path has grown."""
import collections
import os
import re
import sys

FUNCTIONS = {'PMPI_Send', 'tern_pml_send', 'shm_send'}
SOURCES = {'entry_pt2pt.c', 'send.c', 'shm.c'}  # and ring.h: the four files that a reader opens
HEADERS = 9  # of one-line functions
INSTRUCTIONS = 210
# What runs only if the receiver sleeps, which another program on this machine may cause.
WAKING = {'tern_doorbell_wake'}


def read(path):
    """Returns {(function, file): instructions} and {function: object file}."""
    costs, objects = collections.Counter(), {}
    names = {'fn': {}, 'fl': {}, 'ob': {}}
    now = {'fn': '', 'fl': '', 'ob': ''}
    skip = False
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
            match = re.match(r'(?:\+\d+|-\d+|\*|\d+) (\d+)$', line)
            if match and not skip:
                costs[now['fn'], os.path.normpath(now['fl'])] += int(match.group(1))
                objects[now['fn']] = now['ob']
            skip = False
    return costs, objects


def main():
    top, few, few_file, many, many_file = sys.argv[1:]
    messages = int(many) - int(few)
    before, _ = read(few_file)
    after, objects = read(many_file)
    each = {at: (after[at] - before[at]) / messages for at in after}
    ours = {at: n for at, n in each.items() if 'libmpi.so' in objects[at[0]] and n >= 0.5
            and re.sub(r"[.'].*", '', at[0]) not in WAKING}
    functions = {re.sub(r"[.'].*", '', function) for function, _ in ours}
    files = {os.path.basename(name) for _, name in ours}
    sources = {name for name in files if name.endswith('.c')}
    headers = files - sources
    instructions = round(sum(ours.values()))
    print(f'{instructions} instructions in {", ".join(sorted(functions))}; {", ".join(sorted(sources))}; {len(headers)} headers: '
          f'{", ".join(sorted(headers))}')
    wrong = []
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
