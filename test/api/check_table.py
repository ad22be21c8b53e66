#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""check_table.py SRCDIR: compares api/procedures.txt with the MPI Forum's facts of MPI-4.0 (mpi-4.0-facts.txt): names,
kinds and directions of parameters and their order, const, arrays, returned kinds.

check_table.py --prove SRCDIR: shows that it would notice: changes the table in memory, one thing at a time, and wants
each change found."""

import copy
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))

# What MPI-4.1 changed in procedures of MPI-4.0: there is now MPI_Status_set_elements_c.
LATER = {('MPI_Status_set_elements', 'count'): 'POLYXFER_NUM_ELEM_NNI'}

# Mistakes in the Forum's data: the standard's text says otherwise, and so do the data of MPI_Scatterv and MPI_Iscatterv.
NOT_ROOT_ONLY = {('MPI_Scatterv_init', 'recvbuf')}


def read_facts():
    facts = {}
    for line in open(os.path.join(HERE, 'mpi-4.0-facts.txt'), encoding='utf-8'):
        if not line.startswith('#'):
            name, returned, *parameters = line.split()
            facts[name] = (returned, parameters)
    return facts


def as_fact(procedure, p):
    marks = [('const', p.const), ('array', p.lengths and p.kind != 'STRING'), ('large-only', 'large-only' in p.flags),
             ('root-only', 'root-only' in p.flags)]
    return '%s:%s:%s%s' % (p.name, p.kind, p.direction, ''.join('+' + m for m, on in marks if on))


def differences(procedures, facts):
    """What is not as in MPI-4.0, as sentences."""
    by_name = {p.name: p for p in procedures}
    out = []
    for name, (returned, wanted) in facts.items():
        procedure = by_name.get(name)
        if procedure is None:
            out.append('%s is not in the table' % name)
            continue
        if procedure.returns != returned:
            out.append('%s returns %s in the table, %s in MPI-4.0' % (name, procedure.returns, returned))
        wanted = [fact for fact in wanted]
        for i, fact in enumerate(wanted):
            parameter, kind, rest = fact.split(':', 2)
            kind = LATER.get((name, parameter), kind)
            if (name, parameter) in NOT_ROOT_ONLY:
                rest = rest.replace('+root-only', '')
            wanted[i] = '%s:%s:%s' % (parameter, kind, rest)
        got = [as_fact(procedure, p) for p in procedure.parameters]
        if len(got) != len(wanted):
            out.append('%s has %d parameters in the table, %d in MPI-4.0' % (name, len(got), len(wanted)))
        out += ['%s: the table says %s, MPI-4.0 %s' % (name, g, w) for g, w in zip(got, wanted) if g != w]
    for p in procedures:
        newer = p.since == '-' or p.since > '4.0' or 'removed' in p.words
        if p.name not in facts and not newer:
            out.append('%s is said to be of MPI %s, but is not in MPI-4.0' % (p.name, p.since))
    return out


def forms_that_differ(procedures):
    """Which collectives mark their arguments otherwise in the nonblocking or persistent form, as sentences."""
    blocking = {p.name.lower(): p for p in procedures}
    out = []
    for form in procedures:
        name = form.name.lower().replace('mpix_', 'mpi_')
        of = blocking.get('mpi_' + name[5:] if name.startswith('mpi_i') else name.removesuffix('_init'))
        if form.rules not in ('coll', 'neighbor') or not of or of is form:
            continue
        marks = {p.name: (p.kind, p.direction, sorted(p.flags)) for p in of.parameters}
        out += ['%s: %s is not marked as in %s' % (form.name, p.name, of.name) for p in form.parameters
                if p.name in marks and marks[p.name] != (p.kind, p.direction, sorted(p.flags))]
    return out


def changed(procedures, name, change):
    """A copy of the table with one procedure changed."""
    out = copy.deepcopy(procedures)
    change(next(p for p in out if p.name == name), out)
    return out


CHANGES = {
    'a kind': lambda p, _: setattr(p.parameters[1], 'kind', 'POLYXFER_NUM_ELEM'),
    'a direction': lambda p, _: setattr(p.parameters[0], 'direction', 'in'),
    'a name': lambda p, _: setattr(p.parameters[2], 'name', 'type'),
    'the order': lambda p, _: p.parameters.insert(3, p.parameters.pop(4)),
    'a parameter too few': lambda p, _: p.parameters.pop(),
    'a const': lambda p, _: setattr(p.parameters[0], 'const', True),
    'an array': lambda p, _: p.parameters[6].lengths.append('*'),
    'the returned kind': lambda p, _: p.words.update(returns='LOGICAL'),
    'a procedure missing': lambda p, table: table.remove(p),
    'a procedure of another name': lambda p, _: setattr(p, 'name', 'MPI_Receive'),
}


def main():
    prove = sys.argv[1:2] == ['--prove']
    sys.dont_write_bytecode = True
    sys.path.insert(0, os.path.join(sys.argv[-1], 'api'))
    import table
    _, procedures = table.read_procedures()
    facts = read_facts()
    if len(facts) < 400:
        raise SystemExit('only %d procedures in mpi-4.0-facts.txt' % len(facts))
    if not prove:
        found = differences(procedures, facts) + forms_that_differ(procedures)
        print('\n'.join(found))
        print('%d procedures of MPI-4.0 compared with %d in the table: %d differences'
              % (len(facts), len(procedures), len(found)))
        return bool(found)
    unmarked = changed(procedures, 'MPI_Igather', lambda p, _: p.parameters[3].flags.remove('root-only'))
    unnoticed = ['a mark of a form'] * (not forms_that_differ(unmarked))
    unnoticed += [what for what, change in CHANGES.items()
                 if not differences(changed(procedures, 'MPI_Recv', change), facts)]
    for what in unnoticed:
        print('MPI_Recv with %s changed was not noticed' % what)
    print('%d of %d changes noticed' % (len(CHANGES) + 1 - len(unnoticed), len(CHANGES) + 1))
    return bool(unnoticed)


sys.exit(main())
