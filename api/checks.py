# SPDX-License-Identifier: BSD-3-Clause
"""Tells which arguments an entry point refuses: by kind, in one table (CHECKS). Tells also when an
argument is significant at all.

The implementing function does the checks that need the meaning of arguments: is this operation
defined on that type, does the key exist?"""

from dataclasses import dataclass

import kinds
from table import COLLECTIVE

# In these chapters a datatype that describes a buffer must be committed.
COMMUNICATION = ('pt2pt', 'coll', 'neighbor', 'op', 'window', 'file')


@dataclass
class Check:
    """One reason to refuse one argument."""
    parameter: object
    condition: str      # C: refuse if true; may use `int64_t index_`, which find sets
    refusal: str  # C: a function after tern_entry_refuse_, and its arguments after `procedure`
    error: str          # error class without MPI_ERR_
    bad: str = ''       # C: a wrong value for the test; '' if none can be made without harm
    find: str = ''      # C: expression for index_; evaluated first


def private_name(p):
    return p.name + '_'


def group_of(procedure, p):
    """Returns a buffer and the parameters that describe it: [buffer, count(s), displacements,
    type]."""
    group = []
    for q in procedure.parameters:
        if q.kind == 'BUFFER':
            group = [q]
        elif q.kind == 'DATATYPE' or q.poly:
            group.append(q)
        else:
            group = []
        if q is p:
            break
    return group


def triple(procedure, p):
    """Returns (count, datatype) that describe the buffer p. Returns None if the buffer is described
    in another way, as by counts per rank."""
    rest = procedure.parameters[procedure.parameters.index(p) + 1:]
    while rest and rest[0].kind in ('BUFFER', 'PARTITION'):
        rest = rest[1:]
    counts = rest and 'NUM_ELEM' in rest[0].kind and (rest[0].poly or partitioned(procedure))
    if len(rest) >= 2 and counts and not rest[0].lengths \
            and rest[1].kind == 'DATATYPE' and not rest[1].lengths:
        return rest[0], rest[1]
    return None


def partitioned(procedure):
    return any(p.kind == 'PARTITION' for p in procedure.parameters)


def rooted(procedure):
    return procedure.rules in COLLECTIVE and any(p.name == 'root' for p in procedure.parameters)


def handler(procedure):
    """Returns the communicator whose error handler is called, or None."""
    for p in procedure.parameters:
        if p.kind == 'COMMUNICATOR' and p.direction != 'out' and not p.only_at and 'null-ok' not in p.flags:
            return p
    return None


def window(procedure):
    """Returns the window that the call works on, or None."""
    return next((p for p in procedure.parameters if p.kind == 'WINDOW' and p.direction != 'out'
                 and procedure.chapter != 'conversion'), None)


def raiser(procedure):
    """Returns the parameter whose error handler is called, or None. It is a communicator, a window,
    a session, a file, or the error handler that a new object will have."""
    if procedure.chapter == 'file':
        return next((p for p in procedure.of_kind('FILE') if p.direction != 'out'), None)
    comm = handler(procedure) or window(procedure)
    if comm:
        return comm
    sessions = [p for p in procedure.of_kind('SESSION') if p.direction != 'out']
    makes = any(p.direction == 'out' and p.kind in ('SESSION', 'COMMUNICATOR') for p in procedure.parameters)
    return (sessions or (procedure.of_kind('ERRHANDLER') if makes else []) or [None])[0]


def guards(procedure, p):
    """Returns C conditions; the argument is significant if all are true."""
    out = []
    comm = handler(procedure)
    if p.only_at:
        group = procedure.of_kind('GROUP')
        own = private_name(comm) + '->p2p.rank' if comm else private_name(group[0]) + '->rank'
        out.append('%s == %s' % (own, p.only_at))
    if procedure.name.lower().endswith('get_accumulate') and p.name.startswith('origin_'):
        out.append('op != MPI_NO_OP')
    if procedure.rules not in COLLECTIVE:
        if 'root-only' in p.flags:
            out.append('%s->p2p.rank == root' % private_name(comm))
        return out
    group = group_of(procedure, p)
    if rooted(procedure) and (group or p.kind == 'OPERATION'):
        if 'root-only' in p.flags:
            where = 'at_root'
        elif group and 'root-only' not in group[0].flags and procedure.name not in ('MPI_Bcast', 'MPI_Ibcast',
                                                                                    'MPI_Bcast_init'):
            where = 'off_root'
        else:
            where = 'takes_part'
        out.append('tern_entry_%s(%s, root)' % (where, private_name(comm)))
    if 'not-first' in p.flags:
        out.append('(%s->p2p.rank != 0 || sendbuf == MPI_IN_PLACE)' % private_name(comm))
    if group and 'in-place' in group[0].flags:
        out.append('%s != MPI_IN_PLACE' % group[0].name)
    return out


def length_of(procedure, p):
    """Returns a C expression for the number of elements of an array argument, or '' if only the
    implementing function knows it."""
    if not p.lengths:
        return ''
    names = [q.name for q in procedure.parameters]
    if p.lengths[0] in names:
        return p.lengths[0]
    if p.lengths[0] == '*' and procedure.rules == 'coll' and p.direction == 'in':
        comm = private_name(handler(procedure))
        # In reduce_scatter: a count for each member of the local group. Else: a count for each rank
        # that the communicator reaches.
        return comm + ('->group->size' if procedure.name.lower().find('reduce_scatter') >= 0 else '->p2p.size')
    return ''


def counts_of(procedure, p):
    """Returns the parameter that tells how many elements of the datatype p a buffer has, or
    None."""
    for q in reversed(procedure.parameters[:procedure.parameters.index(p)]):
        if 'NUM_ELEM' in q.kind:
            return q if q.direction == 'in' else None
        if 'DISPLACEMENT' not in q.kind:
            return None
    return None


def check_length(procedure, p):
    """Refuses more bytes than 63 bits can count, before any code multiplies."""
    count = counts_of(procedure, p)
    if not count or procedure.rules not in COMMUNICATION:
        return []
    if not count.lengths:
        return [] if p.lengths else [
            Check(p, 'tern_entry_too_long(%s, %s)' % (count.name, private_name(p)),
                  'length("%s", %s, %s)' % (count.name, count.name, private_name(p)), 'COUNT')]
    n = length_of(procedure, count)
    if not n:
        return []
    ints = '(struct tern_ints){%s, sizeof *%s}' % (count.name, count.name)
    types = '%s, NULL' % p.name if p.lengths else 'NULL, ' + private_name(p)
    return [Check(p, 'index_ >= 0', 'length_at("%s", %s, %s, index_)' % (count.name, ints, types), 'COUNT', '',
                  'tern_entry_find_too_long(%s, %s, %s)' % (ints, n, types))]


def check_handle(procedure, p):
    h = kinds.HANDLES[p.kind]
    refusal = 'handle(TERN_ERR_%s, "%s", %s%s, "%s")'
    if p.lengths:
        n = length_of(procedure, p)
        out = []
        if n:
            out.append(Check(p, '%s > 0 && !%s' % (n, p.name), 'null(TERN_ERR_ARG, "%s")' % p.name, 'ARG', 'NULL'))
        if p.kind == 'DATATYPE' and p.direction == 'in' and n:
            committed = 'true' if procedure.rules in COMMUNICATION else 'false'
            out.append(Check(p, 'index_ >= 0', 'type("%s", %s, index_)' % (p.name, p.name), 'TYPE', 'bad_types',
                             'tern_datatype_find_bad(%s, %s, %s)' % (p.name, n, committed)))
            out += check_length(procedure, p)
        if p.kind == 'REQUEST' and p.direction != 'out' and n:
            out.append(Check(p, 'index_ >= 0', 'request("%s", %s, index_)' % (p.name, p.name), 'REQUEST',
                             'bad_requests', 'tern_entry_find_bad_request(%s, %s)' % (p.name, n)))
        return out
    if p.direction == 'out':
        return check_pointer(procedure, p)
    indirect = p.direction == 'inout' or 'by-pointer' in p.flags
    star = '*' if indirect else ''
    valid = 'tern_entry_valid_or_null' if 'null-ok' in p.flags else \
        'tern_entry_valid_taken' if p.direction == 'inout' and p.kind in kinds.LENT else 'tern_entry_valid'
    bad = 'NULL' if 'null-ok' in p.flags else h.null
    out = [Check(p, '!' + p.name, 'null(TERN_ERR_ARG, "%s")' % p.name, 'ARG', 'NULL')] if indirect else []
    out.append(Check(p, '!%s(%s%s, TERN_MAGIC_%s)' % (valid, star, p.name, h.magic),
                     refusal % (h.error, p.name, star, p.name, h.null), h.error,
                     '&(%s){%s}' % (h.c, bad) if indirect else '(%s)%s' % (h.c, bad)))
    if p.kind == 'DATATYPE' and p.direction == 'in' and procedure.rules in COMMUNICATION \
            and procedure.of_kind('BUFFER'):
        own = private_name(p)
        out.append(Check(p, '!%s->type.committed' % own, 'uncommitted("%s", %s)' % (p.name, own), 'TYPE',
                         'uncommitted_type'))
        out += check_length(procedure, p)
    return out


def check_pointer(procedure, p):
    """Checks a pointer to the place of a result."""
    if 'null-ok' in p.flags:
        return []
    if p.lengths and p.kind != 'STRING':
        n = length_of(procedure, p)
        if not n:
            return []
        return [Check(p, '%s > 0 && !%s' % (n, p.name), 'null(TERN_ERR_ARG, "%s")' % p.name, 'ARG', 'NULL')]
    if p.lengths and p.lengths[0] in [q.name for q in procedure.parameters]:
        return [Check(p, '%s > 0 && !%s' % (p.lengths[0], p.name), 'null(TERN_ERR_ARG, "%s")' % p.name, 'ARG', 'NULL')]
    return [Check(p, '!' + p.name, 'null(TERN_ERR_ARG, "%s")' % p.name, 'ARG', 'NULL')]


def at_least(least, error):
    """Returns a check that refuses smaller values, or smaller elements of an array."""
    def check(procedure, p):
        if p.direction != 'in':
            return check_pointer(procedure, p)
        if not p.lengths:
            return [Check(p, '%s < %d' % (p.name, least), 'small(TERN_ERR_%s, "%s", %s, %d)'
                          % (error, p.name, p.name, least), error, str(least - 1))]
        n = length_of(procedure, p)
        if not n:
            return []
        null = [Check(p, '%s > 0 && !%s' % (n, p.name), 'null(TERN_ERR_%s, "%s")' % (error, p.name), error, 'NULL')]
        if least is None or not p.poly:
            return null
        ints = '(struct tern_ints){%s, sizeof *%s}' % (p.name, p.name)
        return null + [Check(p, 'index_ >= 0', 'element(TERN_ERR_%s, "%s", %s, index_, %d)'
                             % (error, p.name, ints, least), error, 'low_ints',
                             'tern_entry_find_below(%s, %s, %d)' % (ints, n, least))]
    return check


def any_value(procedure, p):
    """Accepts every value, or leaves the check to the implementing function. A result still needs a
    place."""
    if p.lengths and p.direction == 'in':
        return at_least(None, 'ARG')(procedure, p)
    return check_pointer(procedure, p) if p.direction != 'in' else []


def check_window_rank(procedure, p):
    """Checks the target of a one-sided operation, or the rank of another call on a window."""
    own = private_name(window(procedure))
    also = p.name == 'target_rank' or procedure.name == 'MPI_Win_shared_query'
    return [Check(p, 'tern_entry_bad_%s(%s, %s)' % ('target' if also else 'member', own, p.name),
                  'target("%s", %s, %s)' % (p.name, p.name, 'true' if also else 'false'), 'RANK', '-77')]


def check_rank(procedure, p):
    if window(procedure) and p.direction == 'in':
        return check_window_rank(procedure, p)
    comm = handler(procedure)
    if p.direction != 'in' or p.lengths or not comm:
        return any_value(procedure, p)
    own = private_name(comm)
    name = 'dest' if partitioned(procedure) and p.name == 'source' else p.name  # no wildcards
    bad = {'dest': ('dest', ' or MPI_PROC_NULL'), 'source': ('source', ', MPI_ANY_SOURCE or MPI_PROC_NULL')}.get(name)
    if p.name == 'root':
        return [Check(p, 'tern_entry_bad_root(%s, root)' % own, 'root("root", root)', 'ROOT', '-77')]
    if bad:
        return [Check(p, 'tern_entry_bad_%s(%s, %s)' % (bad[0], own, p.name), 'rank(TERN_ERR_RANK, "%s", %s, "%s")'
                      % (p.name, p.name, bad[1]), 'RANK', '-77')]
    if p.name in ('rank', 'local_leader'):
        return [Check(p, 'tern_entry_outside(%s, %s)' % (own, p.name), 'rank(TERN_ERR_RANK, "%s", %s, "")'
                      % (p.name, p.name), 'RANK', '-77')]
    return []


def check_tag(procedure, p):
    if p.direction != 'in' or procedure.name.startswith('MPI_Status_'):
        return any_value(procedure, p)
    receives = p.name == 'recvtag' or (p.name == 'tag' and any(q.name == 'source' for q in procedure.parameters)
                                       and not partitioned(procedure))
    condition = '%s < 0' % p.name
    if receives:
        condition = 'tern_entry_bad_wanted_tag(%s, %s)' % (private_name(handler(procedure)), p.name)
    return [Check(p, condition, 'tag("%s", %s, %s)' % (p.name, p.name, 'true' if receives else 'false'), 'TAG', '-77')]


def check_buffer(procedure, p):
    described = triple(procedure, p)
    if not described or procedure.rules not in COMMUNICATION + ('datatype',):
        return []
    count, datatype = described
    any_data = 'partitions > 0 && ' if partitioned(procedure) else ''
    return [Check(p, any_data + 'tern_entry_bad_buffer(%s, %s, %s)' % (p.name, count.name, private_name(datatype)),
                  'buffer("%s", %s, %s)' % (p.name, p.name, count.name), 'BUFFER',
                  '' if 'not-first' in p.flags else 'NULL')]


def check_string(procedure, p):
    if p.direction == 'in' and procedure.rules == 'info' and p.name in ('key', 'value'):
        least, most, error = {'key': (1, '(int)tern_face_info_key() - 1', 'INFO_KEY'),
                              'value': (0, '(int)tern_face_info_value() - 1', 'INFO_VALUE')}[p.name]
        return [Check(p, 'tern_entry_bad_string(%s, %d, %s)' % (p.name, least, most),
                      'string(TERN_ERR_%s, "%s", %s, %d, %s)' % (error, p.name, p.name, least, most), error,
                      'long_string')]
    return check_pointer(procedure, p)


def check_status(procedure, p):
    ignorable = p.kind == 'STATUS' and p.direction == 'out' and not procedure.name.startswith('MPI_Status_f')
    return [] if ignorable else check_pointer(procedure, p)


def check_bytes(procedure, p):
    """Checks a size in bytes. With MPI_BUFFER_AUTOMATIC the size has no meaning."""
    out = at_least(0, 'ARG')(procedure, p)
    if procedure.name.lower().endswith(('_attach_buffer', '_buffer_attach')):
        out[0].condition += ' && buffer != MPI_BUFFER_AUTOMATIC'
    return out


def one_of(condition, allowed, error, bad):
    def check(procedure, p):
        if p.direction != 'in':
            return any_value(procedure, p)
        return [Check(p, condition % {'x': p.name}, 'choice(TERN_ERR_%s, "%s", %s, "%s")'
                      % (error, p.name, p.name, allowed), error, bad)]
    return check


# The assertions that each procedure takes (MPI-4.1 section 12.5.5).
ASSERTIONS = {
    'MPI_Win_fence': 'NOSTORE NOPUT NOPRECEDE NOSUCCEED',
    'MPI_Win_post': 'NOCHECK NOSTORE NOPUT',
    'MPI_Win_start': 'NOCHECK',
    'MPI_Win_lock': 'NOCHECK',
    'MPI_Win_lock_all': 'NOCHECK',
}


def check_assert(procedure, p):
    modes = ['MPI_MODE_' + mode for mode in ASSERTIONS[procedure.name].split()]
    allowed = '0 or ' + modes[0] if len(modes) == 1 else '0 or a sum of ' + ', '.join(modes)
    return one_of('%%(x)s & ~(%s)' % ' | '.join(modes), allowed, 'ASSERT', '1024')(procedure, p)


# The checks by kind, or by kind:name for one name. A kind that is not listed gets any_value.
CHECKS = {
    'BUFFER': check_buffer,
    'STATUS': check_status, 'F90_STATUS': check_status, 'F08_STATUS': check_status,
    'STRING': check_string,
    'RANK': check_rank, 'RANK_NNI': check_rank,
    'TAG': check_tag,
    'C_BUFFER': check_pointer, 'C_BUFFER2': check_pointer,
    'FUNCTION': check_pointer, 'POLYFUNCTION': check_pointer,
    'POLYXFER_NUM_ELEM': at_least(0, 'COUNT'),
    'POLYXFER_NUM_ELEM_NNI': at_least(0, 'COUNT'),
    'POLYDTYPE_NUM_ELEM_NNI': at_least(0, 'COUNT'),
    'POLYDTYPE_NUM_ELEM_NNI:blocklength': at_least(0, 'ARG'),
    'POLYDTYPE_NUM_ELEM_NNI:array_of_blocklengths': at_least(0, 'ARG'),
    'POLYDTYPE_NUM_ELEM_NNI:array_of_starts': at_least(0, 'ARG'),
    'POLYDTYPE_NUM_ELEM:outcount': at_least(0, 'COUNT'),
    'POLYDTYPE_NUM_ELEM:incount': at_least(0, 'COUNT'),
    'POLYDTYPE_NUM_ELEM_PI': at_least(1, 'ARG'),
    'POLYNUM_BYTES_NNI': check_bytes,
    'POLYNUM_PARAM_VALUES': at_least(0, 'ARG'),
    'XFER_NUM_ELEM:count': at_least(0, 'COUNT'),
    'XFER_NUM_ELEM_NNI': at_least(0, 'COUNT'),
    'PARTITION': at_least(0, 'ARG'),
    'WINDOW_SIZE': at_least(0, 'SIZE'),
    'WIN_ATTACH_SIZE': at_least(0, 'SIZE'),
    'POLYRMA_DISPLACEMENT': at_least(1, 'DISP'),
    'RMA_DISPLACEMENT_NNI': at_least(0, 'DISP'),
    'LOCK_TYPE': one_of('%(x)s != MPI_LOCK_SHARED && %(x)s != MPI_LOCK_EXCLUSIVE',
                        'MPI_LOCK_SHARED or MPI_LOCK_EXCLUSIVE', 'LOCKTYPE', '77'),
    'ASSERT': check_assert,
    'ALLOC_MEM_NUM_BYTES': at_least(0, 'ARG'),
    'ARRAY_LENGTH': at_least(0, 'ARG'),
    'ARRAY_LENGTH_NNI': at_least(0, 'ARG'),
    'ARRAY_LENGTH_PI': at_least(1, 'ARG'),
    'NUM_DIMS': at_least(0, 'DIMS'),
    'DEGREE': at_least(0, 'ARG'),
    'INFO_VALUE_LENGTH': at_least(0, 'ARG'),
    'COLOR': one_of('%(x)s < 0 && %(x)s != MPI_UNDEFINED', 'at least 0, or MPI_UNDEFINED', 'ARG', '-77'),
    'ORDER': one_of('%(x)s != MPI_ORDER_C && %(x)s != MPI_ORDER_FORTRAN', 'MPI_ORDER_C or MPI_ORDER_FORTRAN', 'ARG',
                    '77'),
    # These may be NULL, or hold what only the implementing function can check.
    'ARGUMENT_COUNT': lambda procedure, p: [], 'ARGUMENT_LIST': lambda procedure, p: [],
    'WEIGHT': lambda procedure, p: [], 'VARARGS': lambda procedure, p: [],
    'EXTRA_STATE': lambda procedure, p: [], 'EXTRA_STATE2': lambda procedure, p: [],
    'STRING_2DARRAY': lambda procedure, p: [],
}


def check_alias(procedure, p):
    """Refuses one buffer in the place of two, where both are described by a count and a datatype."""
    buffers = [q for q in procedure.of_kind('BUFFER') if q.name in ('sendbuf', 'recvbuf')]
    if procedure.rules != 'coll' or len(buffers) != 2 or not all(triple(procedure, q) for q in buffers) \
            or p is not buffers[1]:
        return []
    described = ', '.join('%s, %s, %s' % (q.name, count.name, private_name(datatype))
                          for q in buffers for count, datatype in [triple(procedure, q)])
    has_both = 'root >= 0 && tern_entry_at_root(%s, root) && ' % private_name(handler(procedure))
    return [Check(p, has_both * rooted(procedure) + 'tern_entry_same_buffer(%s)' % described,
                  'alias("%s")' % next(q.name for q in buffers if 'in-place' in q.flags), 'BUFFER',
                  'buffer' * ('not-first' not in p.flags))]


def checks(procedure, p):
    if 'large-only' in p.flags:
        return []
    if p.kind in kinds.HANDLES:
        return check_handle(procedure, p)
    check = CHECKS.get('%s:%s' % (p.kind, p.name)) or CHECKS.get(p.kind, any_value)
    return check(procedure, p) + (check_alias(procedure, p) if p.kind == 'BUFFER' else [])
