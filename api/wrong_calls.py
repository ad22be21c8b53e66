# SPDX-License-Identifier: BSD-3-Clause
"""Lists reasons to refuse a call, for the test bad_arguments.c: what checks.py refuses by kind,
wrong handles of all sorts, and what implementing functions refuse (JUDGED, below, by error
class). Arguments are C as text; names of variables are those of bad_arguments.c.in."""

from dataclasses import dataclass, field

import collectives
import kinds
from checks import checks


@dataclass
class Wrong:
    """One reason: the wrong arguments, the error class, and what the message must name."""
    changes: dict       # parameter: C value
    error: str
    names: str
    when: list = field(default_factory=list)    # some of TWO_RANKS, FULL, BASIC, NO_HANDLER
    # Found after each argument was found good by itself: then results that are handles are null.
    judged: bool = False


LOW = object()          # an array of -1

# For each kind of handle: a handle of another kind, and a freed handle ('' if none can be made
# here).
OTHERS = {'DATATYPE': ('MPI_SUM', 'freed_type()'), 'COMMUNICATOR': ('MPI_INT', 'freed_comm()'),
          'OPERATION': ('MPI_INT', 'freed_op()'), 'GROUP': ('MPI_INT', 'freed_group()'),
          'INFO': ('MPI_INT', 'freed_info()'), 'REQUEST': ('MPI_INT', 'freed_request()'),
          'ERRHANDLER': ('MPI_INT', 'freed_errhandler()'), 'MESSAGE': ('MPI_INT', ''), 'SESSION': ('MPI_INT', ''),
          'WINDOW': ('MPI_INT', ''), 'FILE': ('MPI_INT', '')}


def handles(procedure):
    """Yields handles of another kind, pointers to no handle, and freed handles."""
    for p in procedure.parameters:
        if p.kind not in kinds.HANDLES or p.lengths or p.direction == 'out':
            continue
        h = kinds.HANDLES[p.kind]
        other, freed = OTHERS[p.kind]
        for value, when in ((other, []), ('junk', []), (freed, ['FULL'])):
            if value:
                value = '(%s)%s' % (h.c, value)
                indirect = p.direction == 'inout' or 'by-pointer' in p.flags
                yield Wrong({p.name: '&(%s){%s}' % (h.c, value) if indirect else value}, h.error, p.name, when)


def by_kind(procedure):
    for p in procedure.parameters:
        for c in checks(procedure, p):
            if c.bad:
                yield Wrong({p.name: LOW if c.bad == 'low_ints' else c.bad}, c.error, p.name)
        if p.kind == 'BUFFER' and not p.flags & {'in-place', 'not-first'} and any(c.error == 'BUFFER' for c in checks(procedure, p)):
            yield Wrong({p.name: 'MPI_IN_PLACE'}, 'BUFFER', p.name)


def names(procedure):
    return [p.name for p in procedure.parameters]


def topology(procedure):
    if 'comm' in names(procedure):
        yield Wrong({}, 'TOPOLOGY', 'comm')


def rank(procedure):
    for p in procedure.parameters:
        if p.kind in ('RANK', 'RANK_NNI') and p.lengths and p.direction == 'in':
            others = {'sources': 'int_zeros'} if p.name == 'destinations' else {}
            yield Wrong({p.name: LOW, **others}, 'RANK', p.name)
        elif p.name == 'local_leader':
            yield Wrong({p.name: '-77'}, 'RANK', p.name)
        elif p.name == 'remote_leader': # here each rank is its own leader, which check_level full finds first
            yield Wrong({p.name: '-77'}, 'RANK', p.name, ['BASIC'])
    if procedure.name == 'MPI_Cart_rank':
        yield Wrong({'comm': 'line', 'coords': LOW}, 'ARG', 'coords')
    if procedure.name in ('MPI_Cart_coords', 'MPI_Graph_neighbors_count', 'MPI_Graph_neighbors'):
        yield Wrong({'comm': 'line' if 'Cart' in procedure.name else 'ring_graph', 'rank': 'size'}, 'RANK', 'rank')


def dims(procedure):
    if any(p.name == 'dims' and p.direction != 'out' for p in procedure.parameters):
        yield Wrong({'dims': LOW}, 'DIMS', 'dims')
    elif procedure.name == 'MPI_Cart_shift':
        yield Wrong({'comm': 'line', 'direction': '7'}, 'DIMS', 'direction')


def op(procedure):
    """Yields an operation that is not defined on the type, one that is for one-sided communication
    only, and a predefined one to be freed."""
    if procedure.name == 'MPI_Op_free':
        yield Wrong({'op': '&(MPI_Op){MPI_SUM}'}, 'OP', 'MPI_SUM')
    elif procedure.of_kind('OPERATION') and procedure.of_kind('DATATYPE') and procedure.of_kind('BUFFER') \
            and procedure.chapter != 'window':
        root = {'root': '0'} if 'root' in names(procedure) else {}  # equal on all ranks
        yield Wrong({'op': 'MPI_BAND', 'datatype': 'MPI_DOUBLE', **root}, 'OP', 'MPI_BAND')
        yield Wrong({'op': 'MPI_REPLACE', **root}, 'OP', 'MPI_REPLACE')


def comm(procedure):
    """Yields communicators that are predefined, or of the wrong sort (intra or inter)."""
    if procedure.name in ('MPI_Comm_free', 'MPI_Comm_disconnect'):
        for name in ('MPI_COMM_WORLD', 'MPI_COMM_SELF'):
            yield Wrong({'comm': '&(MPI_Comm){%s}' % name}, 'COMM', name)
    elif procedure.name in ('MPI_Comm_remote_size', 'MPI_Comm_remote_group', 'MPI_Intercomm_merge'):
        yield Wrong({}, 'COMM', 'intracommunicator')
    elif 'scan' in procedure.name.lower():
        yield Wrong({'comm': 'inter'}, 'COMM', 'comm', ['TWO_RANKS'])
    elif procedure.name in ('MPI_Cart_create', 'MPI_Graph_create', 'MPI_Dist_graph_create',
                            'MPI_Dist_graph_create_adjacent'):
        yield Wrong({'comm_old': 'inter'}, 'COMM', 'comm', ['TWO_RANKS'])
    elif procedure.chapter == 'window' and procedure.of_kind('COMMUNICATOR'):
        yield Wrong({'comm': 'inter'}, 'COMM', 'comm', ['TWO_RANKS'])


def keyval(procedure):
    """Yields no keyval, a keyval that was never made, one of another kind of object, and a
    predefined one to be changed."""
    own = next((p for p in procedure.parameters if p.kind == 'KEYVAL' and p.direction != 'out'), None)
    if own:
        values = ['MPI_KEYVAL_INVALID', '12345', 'keyval' if procedure.name.startswith('MPI_Type') else 'type_keyval']
        if procedure.name.endswith(('set_attr', 'delete_attr', 'free_keyval', 'put', 'Attr_delete', 'Keyval_free')):
            values.append('MPI_TAG_UB')
        for value in values:
            yield Wrong({own.name: '&(int){%s}' % value if own.direction == 'inout' else value}, 'KEYVAL', 'keyval')


def in_place(procedure):
    """Yields MPI_IN_PLACE on an intercommunicator."""
    name = procedure.operation
    if procedure.rules != 'coll' or not name or 'scan' in name:
        return
    for p in procedure.parameters:
        if 'in-place' not in p.flags:
            continue
        # With root 0 the root is in the other group. Then the buffers of this group that may be
        # MPI_IN_PLACE are significant.
        root = {'root': '0'} if name in ('gather', 'gatherv', 'scatter', 'scatterv', 'reduce') else {}
        # Not at check_level full, which first finds that no rank is root, or that blocks overlap.
        basic = root or any('DISP' in q.kind for q in procedure.parameters)
        when = ['TWO_RANKS', 'BASIC'] if basic else ['TWO_RANKS']
        yield Wrong({'comm': 'inter', p.name: 'MPI_IN_PLACE', **root}, 'BUFFER', p.name, when)


def overlap(procedure):
    """Yields calls with one memory for two buffers, of which one is written, where only check_level
    full finds that."""
    buffers = procedure.of_kind('BUFFER')
    if any(c.refusal.startswith('alias') for p in buffers for c in checks(procedure, p)):
        return
    if procedure.name in ('MPI_Sendrecv', 'MPI_Isendrecv') or procedure.rules in ('coll', 'op'):
        if len(buffers) == 2 and not any('DISP' in p.kind for p in procedure.parameters):
            yield Wrong({buffers[0].name: 'buffer', buffers[1].name: 'buffer'}, 'BUFFER', buffers[1].name,
                        ['FULL'])


def buffer(procedure):
    yield from in_place(procedure)
    yield from overlap(procedure)
    if procedure.name in ('MPI_Bsend', 'MPI_Ibsend', 'MPI_Buffer_detach', 'MPI_Comm_detach_buffer',
                          'MPI_Session_detach_buffer'):
        yield Wrong({}, 'BUFFER', 'buffer')
    elif procedure.name == 'MPI_Buffer_attach':
        yield Wrong({'buffer': 'NULL'}, 'BUFFER', 'buffer')


def neighbors(procedure):
    """Yields wrong arrays whose lengths only the topology knows."""
    if procedure.rules != 'neighbor':
        return
    for p in procedure.parameters:
        if p.lengths and 'NUM_ELEM' in p.kind:
            yield Wrong({'comm': 'ring_graph', p.name: LOW}, 'COUNT', p.name)
        elif p.lengths and p.kind == 'DATATYPE':
            yield Wrong({'comm': 'ring_graph', p.name: 'bad_types'}, 'TYPE', p.name)
        elif p.lengths:
            yield Wrong({'comm': 'ring_graph', p.name: 'NULL'}, 'ARG', p.name)


def sessions(procedure):
    """Yields objects of the World Model and of a session in one call. Calls that only read are
    refused at check_level full only. Calls with leaders are refused at the other levels only,
    because here all ranks name themselves as leader."""
    second = [p for p in procedure.parameters if p.kind in ('COMMUNICATOR', 'GROUP') and p.direction == 'in' and not p.lengths][1:2]
    for p in second:
        reads = procedure.name in ('MPI_Group_translate_ranks', 'MPI_Group_compare', 'MPI_Comm_compare')
        yield Wrong({p.name: 'session_group' if p.kind == 'GROUP' else 'session_comm'}, 'SESSION', p.name,
                    ['FULL'] if reads else ['BASIC'] if 'Intercomm' in procedure.name else [])


# Calls on a window that are good except that no epoch is open.
IN_EPOCHS = {'MPI_Put', 'MPI_Get', 'MPI_Accumulate', 'MPI_Get_accumulate', 'MPI_Fetch_and_op', 'MPI_Compare_and_swap',
             'MPI_Rput', 'MPI_Rget', 'MPI_Raccumulate', 'MPI_Rget_accumulate', 'MPI_Win_complete', 'MPI_Win_unlock',
             'MPI_Win_unlock_all', 'MPI_Win_flush', 'MPI_Win_flush_all', 'MPI_Win_flush_local',
             'MPI_Win_flush_local_all'}


def windows(procedure):
    """Yields calls that need an epoch, or a window of another flavor."""
    if procedure.name in IN_EPOCHS:
        yield Wrong({}, 'RMA_SYNC', 'epoch')
    elif procedure.name in ('MPI_Win_wait', 'MPI_Win_test'):
        yield Wrong({}, 'RMA_SYNC', 'MPI_Win_post')
    elif procedure.name in ('MPI_Win_attach', 'MPI_Win_detach'):
        yield Wrong({}, 'RMA_FLAVOR', 'win')
    elif procedure.name == 'MPI_Win_create':
        yield Wrong({'base': 'NULL'}, 'BASE', 'base')


def files(procedure):
    """Yields wrong offsets, and second halves of split collectives that have not begun."""
    name = procedure.name.replace('MPI_File_', '')
    if name.endswith('_end'):
        yield Wrong({}, 'OTHER', 'split')
    elif 'offset' in names(procedure) and procedure.of_kind('BUFFER') and not name.endswith(('_begin', '_all')) \
            or name in ('read_at_all', 'write_at_all'): # the others are refused when they end, on all ranks
        yield Wrong({'offset': '-1'}, 'ARG', 'offset')
    yield from {
        'open': [Wrong({'amode': '0'}, 'AMODE', 'amode'),
                 Wrong({'amode': '4096 | MPI_MODE_RDWR'}, 'AMODE', 'amode'),
                 Wrong({'amode': 'MPI_MODE_RDONLY | MPI_MODE_CREATE'}, 'AMODE', 'amode'),
                 Wrong({'amode': 'MPI_MODE_RDWR | MPI_MODE_SEQUENTIAL'}, 'AMODE', 'amode'),
                 Wrong({'filename': '"/no/such/file"', 'amode': 'MPI_MODE_RDONLY'}, 'NO_SUCH_FILE', '/no/such/file'),
                 Wrong({'comm': 'inter'}, 'COMM', 'comm', ['TWO_RANKS'])],
        'delete': [Wrong({'filename': '"/no/such/file"'}, 'NO_SUCH_FILE', '/no/such/file')],
        'set_size': [Wrong({'size': '-1'}, 'ARG', 'size')],
        'preallocate': [Wrong({'size': '-1'}, 'ARG', 'size')],
        'set_view': [Wrong({'disp': '-1', 'datarep': '"native"'}, 'ARG', 'disp'),
                     Wrong({'disp': 'MPI_DISPLACEMENT_CURRENT', 'datarep': '"native"'}, 'ARG', 'disp'),
                     Wrong({'filetype': 'MPI_CHAR', 'datarep': '"native"'}, 'ARG', 'filetype'),
                     Wrong({'filetype': 'falling_type', 'etype': 'MPI_BYTE', 'datarep': '"native"'}, 'ARG', 'filetype'),
                     Wrong({'etype': 'uncommitted_type', 'datarep': '"native"'}, 'TYPE', 'etype'),
                     Wrong({'filetype': 'uncommitted_type', 'datarep': '"native"'}, 'TYPE', 'filetype'),
                     Wrong({'datarep': '"nobody"'}, 'UNSUPPORTED_DATAREP', 'datarep')],
        'seek': [Wrong({'whence': '77'}, 'ARG', 'whence'),
                 Wrong({'offset': '-1', 'whence': 'MPI_SEEK_SET'}, 'ARG', 'offset')],
        'seek_shared': [Wrong({'whence': '77'}, 'ARG', 'whence'),
                        Wrong({'offset': '-1', 'whence': 'MPI_SEEK_SET'}, 'ARG', 'offset')],
        'get_byte_offset': [Wrong({'offset': '-1'}, 'ARG', 'offset')],
        'call_errhandler': [Wrong({'errorcode': '-77'}, 'ARG', 'errorcode')],
        'MPI_Register_datarep': [Wrong({'datarep': '"native"'}, 'DUP_DATAREP', 'native'),
                                 Wrong({'datarep': '""'}, 'ARG', 'datarep')],
    }.get(name, [])


def rest(procedure):
    """Yields what only one procedure refuses."""
    yield from {
        'MPI_Type_free': [Wrong({'datatype': '&(MPI_Datatype){MPI_INT}'}, 'TYPE', 'MPI_INT')],
        'MPI_Type_create_subarray': [Wrong({'array_of_starts': LOW}, 'ARG', 'array_of_starts')],
        'MPI_Pack': [Wrong({'datatype': 'MPI_INT', 'outsize': '1', 'position': '(void *)&zero'}, 'TRUNCATE', 'outsize')],
        'MPI_Unpack': [Wrong({'datatype': 'MPI_INT', 'insize': '1', 'position': '(void *)&zero'}, 'TRUNCATE', 'insize')],
        'MPI_Pack_external': [Wrong({'datarep': '"external32"', 'outsize': '1', 'position': '(void *)&zero'}, 'TRUNCATE',
                                    'outsize')],
        'MPI_Unpack_external': [Wrong({'datarep': '"external32"', 'insize': '1', 'position': '(void *)&zero'}, 'TRUNCATE',
                                      'insize')],
        'MPI_Alloc_mem': [Wrong({'size': '(MPI_Aint)(~0ull >> 1)'}, 'NO_MEM', 'memory')],
        'MPI_Info_delete': [Wrong({'key': '"nobody"'}, 'INFO_NOKEY', 'nobody')],
        'MPI_Info_get_nthkey': [Wrong({'n': '77'}, 'ARG', 'n ')],
        'MPI_Start': [Wrong({'request': '&(MPI_Request){MPI_REQUEST_NULL}'}, 'REQUEST', 'request')],
        'MPI_Error_class': [Wrong({'errorcode': '-77'}, 'ARG', 'errorcode')],
        'MPI_Error_string': [Wrong({'errorcode': '-77'}, 'ARG', 'errorcode')],
        'MPI_Add_error_code': [Wrong({'errorclass': '-77'}, 'ARG', 'errorclass')],
        'MPI_Add_error_string': [Wrong({'errorcode': 'MPI_ERR_TAG'}, 'ARG', 'errorcode')],
        'MPI_Remove_error_class': [Wrong({}, 'ARG', 'errorclass')],
        'MPI_Remove_error_code': [Wrong({}, 'ARG', 'errorcode')],
        'MPI_Remove_error_string': [Wrong({}, 'ARG', 'errorcode')],
        'MPI_Comm_call_errhandler': [Wrong({'errorcode': '-77'}, 'ARG', 'errorcode')],
        'MPI_Win_call_errhandler': [Wrong({'errorcode': '-77'}, 'ARG', 'errorcode')],
        'MPI_Session_call_errhandler': [Wrong({'errorcode': '-77'}, 'ARG', 'errorcode')],
    }.get(procedure.name, [])


JUDGED = [topology, rank, dims, op, comm, keyval, buffer, neighbors, sessions, windows, files, rest]


def wrong_calls(procedure):
    """Yields all reasons, each once, without classes that the row does not know. For a procedure
    that is not in this version there is one reason, whatever the arguments are."""
    if not procedure.works:
        yield Wrong({}, 'UNSUPPORTED_OPERATION', 'not in this version of Tern', judged=True)
        return
    seen = set()
    known = {c.error for p in procedure.parameters for c in checks(procedure, p)} | {c for c, _ in procedure.raises}
    for make in [by_kind, handles] + JUDGED:
        for wrong in make(procedure):
            key = (tuple(sorted((n, str(v)) for n, v in wrong.changes.items())), wrong.error)
            if key not in seen and wrong.error in known:
                seen.add(key)
                wrong.judged = make in JUDGED
                yield wrong
