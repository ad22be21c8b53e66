# SPDX-License-Identifier: BSD-3-Clause
"""Tells what check_level full needs to know of a procedure besides its arguments
(lib/mpi/check/check.h). Chooses for each procedure which arguments ranks must agree on, and
which memory it reads and writes."""

import kinds
from checks import guards, handler, private_name, rooted
from table import COLLECTIVE

# Procedures of these chapters read and write buffers without communication: MPI_Reduce_local,
# MPI_Pack ...
LOCAL = ('op', 'datatype')

# For each operation: (pattern of its data, buffers that have a block for each rank).
OPERATIONS = {
    'barrier': ('NO_DATA', ''),
    'bcast': ('ONE_BLOCK', ''),
    'gather': ('ONE_BLOCK', 'recv'), 'scatter': ('ONE_BLOCK', 'send'),
    'allgather': ('ONE_BLOCK', 'recv'), 'alltoall': ('ONE_BLOCK', 'send recv'),
    'gatherv': ('BLOCKS', 'recv'), 'scatterv': ('BLOCKS', 'send'), 'allgatherv': ('BLOCKS', 'recv'),
    'alltoallv': ('PAIRS', 'send recv'), 'alltoallw': ('PAIRS', 'send recv'),
    'reduce': ('OPERANDS', ''), 'allreduce': ('OPERANDS', ''), 'scan': ('OPERANDS', ''), 'exscan': ('OPERANDS', ''),
    'reduce_scatter_block': ('COUNTS', 'send'), 'reduce_scatter': ('COUNTS', 'send'),
    'neighbor_allgather': ('NEIGHBORS', 'recv'), 'neighbor_allgatherv': ('NEIGHBORS', 'recv'),
    'neighbor_alltoall': ('NEIGHBORS', 'send recv'), 'neighbor_alltoallv': ('NEIGHBORS', 'send recv'),
    'neighbor_alltoallw': ('NEIGHBORS', 'send recv'),
}


def communicator(procedure):
    """Returns the communicator whose ranks all make the call, or None."""
    name = procedure.words.get('collective')
    if name:
        return procedure.parameter(name)
    return handler(procedure) if procedure.operation else None


def way(procedure):
    if procedure.name == 'MPI_Comm_free':
        # stays local: programs free communicators that only some ranks could make
        return 'DETACHED'
    if procedure.form:
        return procedure.form[len('TERN_'):]
    return 'DETACHED' if procedure.parameters[-1].kind == 'REQUEST' else 'BLOCKING'


def descriptions(procedure):
    """Returns [(buffer, counts, displacements, types)] of a procedure that communicates."""
    out, buffers, described = [], [], []
    for p in procedure.parameters:
        if p.kind == 'BUFFER':
            if described:
                buffers, described = [], []
            buffers.append(p)
        elif buffers and p.kind == 'DATATYPE':
            counts = next((q for q in described if 'NUM_ELEM' in q.kind), None)
            displs = next((q for q in described if 'DISP' in q.kind), None)
            out += [(b, counts, displs, p) for b in buffers]
            buffers, described = [], []
        elif buffers and p.kind == 'OPERATION':
            buffers = []
        elif buffers:
            described.append(p)
    return [d for d in out if d[1]][:2]


def ints(p):
    return '{%s, sizeof *%s}' % (p.name, p.name) if p.poly else '{%s, sizeof(MPI_Aint)}' % p.name


def part(procedure, description, comm):
    """Returns the initialiser of a struct tern_check_part."""
    buffer, counts, displs, types = description
    name = procedure.operation
    per_rank = name and (buffer.name[:4] in OPERATIONS[name][1].split())
    fields = ['"%s"' % buffer.name]
    peer = next((p.name for p in procedure.parameters if p.name == ('source' if buffer.direction == 'out' else 'dest')), '')
    if procedure.rules == 'pt2pt' and peer:
        fields = ['%s != MPI_PROC_NULL ? "%s" : NULL' % (peer, buffer.name)]
    if name == 'reduce':    # its one datatype does not tell which of the two buffers is significant
        where = 'at_root' if 'root-only' in buffer.flags else 'off_root'
        fields = ['tern_entry_%s(%s, root) ? "%s" : NULL' % (where, private_name(comm), buffer.name)]
    fields += ['"%s"' % counts.name, buffer.name]
    if not per_rank:
        fields.append('1')
    elif name.startswith('reduce_scatter'):
        fields.append('%s->group->size' % private_name(comm))
    elif name.startswith('neighbor'):
        fields.append('tern_check_neighbors(%s, %s)' % (private_name(comm), 'true' if buffer.name[:4] == 'recv' else 'false'))
    else:
        fields.append('tern_check_ranks(%s)' % private_name(comm))
    if counts.lengths and not per_rank:     # result of reduce_scatter: this rank's block
        own = 'tern_ints_at((struct tern_ints)%s, %s->group->rank)' % (ints(counts), private_name(comm))
        fields += [own, '{0}']
    elif counts.lengths:
        fields += ['0', ints(counts)]
    else:
        fields += [counts.name, '{0}']
    fields.append(ints(displs) if displs else '{0}')
    fields += ['NULL', types.name] if types.lengths else [private_name(types), 'NULL']
    output = 'true' if buffer.direction != 'in' else 'false'
    if name == 'bcast':
        output = '!tern_entry_at_root(%s, root)' % private_name(comm)
    return '{%s, %s}' % (', '.join(fields), output)


def same(procedure, p):
    """Returns the initialiser of a struct tern_check_same for a parameter that must be equal on all
    ranks."""
    if p.lengths:
        return '{"%s", %s, %s, sizeof *%s}' % (p.name, p.name, p.lengths[0], p.name)
    if p.kind == 'LOGICAL':
        return '{"%s", &(int){%s != 0}, 1, sizeof(int)}' % (p.name, p.name)
    if p.name == 'split_type':      # each rank may keep out; this is the last that is compared
        return '{%s == MPI_UNDEFINED ? NULL : "%s", &%s, 1, sizeof %s}' % (p.name, p.name, p.name, p.name)
    return '{"%s", &%s, 1, sizeof %s}' % (p.name, p.name, p.name)


def moves(procedure):
    """Returns the descriptions of the memory that MPI reads or writes in this procedure."""
    if procedure.rules not in COLLECTIVE + LOCAL + ('pt2pt',) or procedure.of_kind('PARTITION'):
        return []
    return descriptions(procedure)


def parts(procedure):
    """Returns the initialisers of the struct tern_check_part of a procedure that is no collective. A
    packed buffer has no datatype: the other buffer tells how many bytes of it are used."""
    moved = [part(procedure, d, None) for d in moves(procedure)]
    position = [p for p in procedure.parameters if p.name == 'position']
    if position:
        (_, counts, _, types), = moves(procedure)
        packed, = [p for p in procedure.parameters if p.kind == 'BUFFER' and p is not moves(procedure)[0][0]]
        moved.append('tern_check_packed("%s", %s, *position, %s, %s, %s, %s)' % (
            packed.name, packed.name, private_name(types), counts.name, 'true' if 'external' in procedure.name else 'false',
            'true' if packed.direction != 'in' else 'false'))
    return moved


def call(procedure):
    """Returns the initialiser of a struct tern_check_call, as lines."""
    comm = communicator(procedure)
    name = procedure.operation
    fields = ['.way = TERN_CHECK_%s' % way(procedure),
              '.pattern = TERN_CHECK_%s' % (OPERATIONS[name][0] if name else 'NO_DATA')]
    if name and rooted(procedure) or name and any(p.name == 'root' for p in procedure.parameters):
        fields += ['.rooted = true', '.root = root']
    if name and procedure.of_kind('OPERATION'):
        fields.append('.op = %s' % private_name(procedure.of_kind('OPERATION')[0]))
    parts = [part(procedure, d, comm) for d in moves(procedure)] if name else []
    if parts:
        fields.append('.parts = {%s}' % ', '.join(parts))
    alike = [same(procedure, p) for p in procedure.parameters if 'same' in p.flags]
    if alike:
        fields.append('.same = {%s}' % ', '.join(alike))
    return fields
