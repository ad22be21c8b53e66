# SPDX-License-Identifier: BSD-3-Clause
"""Makes the test bad_arguments.c. It calls every procedure once for each reason to refuse the call
(wrong_calls.py); all other arguments are good. No data is communicated, so it runs on any number
of ranks.

The test covers pairs of procedure and error class: the classes that checks.py refuses by kind,
and those of the row's `raises:`. Some classes need messages or callbacks. They are tested by
hand, in the program of test/mpi that `raises: CLASS@program` names. A pair that is neither
covered nor named is an error of the table."""

import os

import kinds
from checks import checks, raiser
from wrong_calls import LOW, wrong_calls

TEMPLATE = os.path.join(os.path.dirname(os.path.abspath(__file__)), 'bad_arguments.c.in')
# The generated program does not call these. Tests by hand must cover all their classes.
LEFT_OUT = {'MPI_Init', 'MPI_Init_thread', 'MPI_Finalize', 'MPI_Abort', 'MPI_Pcontrol'}

GOOD_HANDLES = {'COMMUNICATOR': 'MPI_COMM_WORLD', 'DATATYPE': 'MPI_INT', 'OPERATION': 'MPI_SUM', 'GROUP': 'group',
                'INFO': 'info', 'ERRHANDLER': 'MPI_ERRORS_RETURN', 'REQUEST': 'request',
                'MESSAGE': 'MPI_MESSAGE_NO_PROC', 'SESSION': 'session', 'WINDOW': 'win', 'FILE': 'file'}
PREFIXES = {'int': 'int', 'MPI_Aint': 'aint', 'MPI_Count': 'count'}


def good(procedure, p, large):
    """Returns a good value for an argument, as C."""
    if p.kind in kinds.HANDLES:
        if p.lengths:
            return {'DATATYPE': 'types', 'REQUEST': 'requests', 'INFO': '(MPI_Info[]){info}'}.get(p.kind, 'NULL')
        if p.direction == 'out':
            return '(void *)place'
        value = GOOD_HANDLES[p.kind]
        if p is raiser(procedure) and p.kind == 'ERRHANDLER':
            value = 'session_errhandler' if procedure.name.startswith('MPI_Session') else 'errhandler'
        if p.direction == 'inout' or 'by-pointer' in p.flags:
            return '&(%s){%s}' % (kinds.HANDLES[p.kind].c, value)
        return value
    if p.kind == 'BUFFER':
        return 'buffer' if p is procedure.of_kind('BUFFER')[0] else 'other_buffer'
    if p.kind == 'STRING' and p.direction == 'in':
        return '"key"'
    if p.kind in ('STATUS', 'F90_STATUS'):
        return '(void *)place' if p.direction == 'out' or p.kind != 'STATUS' else '&status'
    if p.kind == 'F08_STATUS':
        return '(void *)place'
    if p.function:
        twin = '_c' if p.kind == 'POLYFUNCTION' and large else ''
        return '(%s%s *)any_function' % (p.function, twin)
    if p.kind.startswith(('EXTRA_STATE', 'ARGUMENT')) and p.direction != 'out':
        return 'NULL' if 'by-value' not in p.flags or p.kind != 'ARGUMENT_COUNT' else '0'
    if p.kind in ('STRING_ARRAY', 'STRING_2DARRAY'):
        return 'NULL'
    if p.kind.startswith('ATTRIBUTE_VAL') and p.direction == 'in':
        return 'buffer'
    if p.direction != 'in':
        return '(void *)place'
    if p.lengths:
        return '(void *)%s_ones' % PREFIXES.get(kinds.scalar(p.kind, large), 'int')
    if p.kind == 'KEYVAL':
        return {'MPI_Type': 'type_keyval', 'MPI_Win_': 'win_keyval'}.get(procedure.name[:8], 'keyval')
    if p.kind in ('RANK', 'RANK_NNI'):
        return 'rank' if p.name in ('root', 'rank', 'local_leader') else '0'
    return {'TAG': '0', 'ORDER': 'MPI_ORDER_C', 'COLOR': '0', 'LOGICAL': '0'}.get(p.kind, '1')


def value_of(procedure, p, large, wrong):
    value = wrong.changes.get(p.name)
    if value is LOW:
        return '(void *)%s_lows' % PREFIXES[kinds.scalar(p.kind, large)]
    return value or good(procedure, p, large)


def left_handle(procedure, wrong):
    """Returns, as C, what the last result that is a handle must be after the call: all results lie
    at one place. Returns NULL if there is no such result."""
    made = [p for p in procedure.parameters if p.kind in kinds.HANDLES and p.direction == 'out' and not p.lengths]
    if not made:
        return 'NULL'
    return kinds.HANDLES[made[-1].kind].null if wrong.judged else 'junk'


def covered(procedure):
    return set() if procedure.name in LEFT_OUT else {w.error for w in wrong_calls(procedure)}


def owed(procedure):
    """Returns the error classes that some test must bring about."""
    return {c.error for p in procedure.parameters for c in checks(procedure, p)} | {c for c, _ in procedure.raises}


def called(procedures):
    return [p for p in procedures if p.exported and not p.plain]


def by_hand(procedures):
    """Returns (procedure, class, program) for each pair that is tested by hand. Ends the program if
    a pair has no test."""
    out, missing = [], []
    for p in called([p for p in procedures if p.works]):
        named = dict(p.raises)
        for error in sorted(owed(p) - covered(p)):
            if named.get(error):
                out.append((p, error, named[error]))
            else:
                missing.append('procedures.txt:%d: %s: no wrong call brings about MPI_ERR_%s; write raises: %s@PROGRAM '
                               'where a program of test/mpi does' % (p.line, p.name, error, error))
    if missing:
        raise SystemExit('\n'.join(missing))
    return out


def make(chapters, procedures, objects):
    functions, rows, pairs = [], [], set()
    for procedure in [p for p in called(procedures) if p.name not in LEFT_OUT]:
        for large in (False, True) if procedure.has_twin else (False,):
            name = procedure.name + ('_c' if large else '')
            if not procedure.works:     # mpi.h does not declare it
                functions.append('extern %s;\n' % kinds.prototype(procedure, large))
            for wrong in wrong_calls(procedure):
                arguments = [value_of(procedure, q, large, wrong) for q in procedure.parameters if kinds.passed(q, large)]
                shown = ', '.join('%s' % value_of(procedure, q, large, wrong)
                                  for q in procedure.parameters if q.name in wrong.changes) or 'good ones'
                functions.append('static int call_%d(void)\n{\n    return %s(%s);\n}\n'
                                 % (len(rows), name, ', '.join(arguments)))
                rows.append('    {"%s", "%s", "%s", MPI_ERR_%s, %s, call_%d, %s},'
                            % (name, wrong.names, shown.replace('"', '\\"'), wrong.error,
                               ' | '.join(wrong.when) or 'ALWAYS', len(rows), left_handle(procedure, wrong)))
                pairs.add((procedure.name, wrong.error))
    hand = by_hand(procedures)
    text = '%d pairs of procedure and error class; %d more in programs of their own: %s' % (
        len(pairs), len(hand), ', '.join('%s %s (%s)' % (p.name, error, program) for p, error, program in hand))
    return open(TEMPLATE, encoding='utf-8').read().replace('@CALLS@', '\n'.join(functions)) \
        .replace('@TABLE@', '\n'.join(rows)).replace('@COVERED@', text.replace('%', '%%'))


if __name__ == '__main__':
    import table
    for procedure, error, program in by_hand(table.read_procedures()[1]):
        print(procedure.name, error, program)
