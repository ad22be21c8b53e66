# SPDX-License-Identifier: BSD-3-Clause
"""Tells what the MPI Forum's kinds are in C: in a binding, and in an implementing function."""

import re
from dataclasses import dataclass


@dataclass
class Handle:
    c: str          # type of the handle
    state: str      # private struct
    magic: str      # the middle of TERN_MAGIC_ of its handles
    null: str
    error: str      # error class of an invalid handle


HANDLES = {
    'COMMUNICATOR': Handle('MPI_Comm', 'tern_comm', 'COMM', 'MPI_COMM_NULL', 'COMM'),
    'DATATYPE': Handle('MPI_Datatype', 'tern_datatype', 'DATATYPE', 'MPI_DATATYPE_NULL', 'TYPE'),
    'OPERATION': Handle('MPI_Op', 'tern_op', 'OP', 'MPI_OP_NULL', 'OP'),
    'GROUP': Handle('MPI_Group', 'tern_group', 'GROUP', 'MPI_GROUP_NULL', 'GROUP'),
    'INFO': Handle('MPI_Info', 'tern_info', 'INFO', 'MPI_INFO_NULL', 'INFO'),
    'ERRHANDLER': Handle('MPI_Errhandler', 'tern_errhandler', 'ERRHANDLER', 'MPI_ERRHANDLER_NULL', 'ERRHANDLER'),
    'REQUEST': Handle('MPI_Request', 'tern_request', 'REQUEST', 'MPI_REQUEST_NULL', 'REQUEST'),
    'MESSAGE': Handle('MPI_Message', 'tern_message', 'MESSAGE', 'MPI_MESSAGE_NULL', 'REQUEST'),
    'WINDOW': Handle('MPI_Win', 'tern_win', 'WIN', 'MPI_WIN_NULL', 'WIN'),
    'FILE': Handle('MPI_File', 'tern_file', 'FILE', 'MPI_FILE_NULL', 'FILE'),
    'SESSION': Handle('MPI_Session', 'tern_session', 'SESSION', 'MPI_SESSION_NULL', 'SESSION'),
}

# Kinds whose objects are given out several times (MPI_Comm_group, MPI_Comm_get_errhandler): the
# object counts how many handles the user holds.
LENT = ('GROUP', 'ERRHANDLER')

# Kinds whose C type depends on the binding: (MPI_Xxx, MPI_Xxx_c).
POLY = {
    'POLYDISPLACEMENT': ('int', 'MPI_Aint'),
    'POLYDISPLACEMENT_COUNT': ('int', 'MPI_Count'),
    'POLYDISPLACEMENT_AINT_COUNT': ('MPI_Aint', 'MPI_Count'),
    'POLYDISPOFFSET': ('MPI_Aint', 'MPI_Count'),
    'POLYDTYPE_NUM_ELEM': ('int', 'MPI_Count'),
    'POLYDTYPE_NUM_ELEM_NNI': ('int', 'MPI_Count'),
    'POLYDTYPE_NUM_ELEM_PI': ('int', 'MPI_Count'),
    'POLYDTYPE_PACK_SIZE': ('MPI_Aint', 'MPI_Count'),
    'POLYDTYPE_STRIDE_BYTES': ('MPI_Aint', 'MPI_Count'),
    'POLYLOCATION': ('MPI_Aint', 'MPI_Count'),
    'POLYNUM_BYTES': ('int', 'MPI_Count'),
    'POLYNUM_BYTES_NNI': ('int', 'MPI_Count'),
    'POLYNUM_PARAM_VALUES': ('int', 'MPI_Count'),
    'POLYRMA_DISPLACEMENT': ('int', 'MPI_Aint'),
    'POLYXFER_NUM_ELEM': ('int', 'MPI_Count'),
    'POLYXFER_NUM_ELEM_NNI': ('int', 'MPI_Count'),
}

# Kinds that are not int.
SCALAR = {
    'ALLOC_MEM_NUM_BYTES': 'MPI_Aint', 'DISPLACEMENT': 'MPI_Aint', 'DISPLACEMENT_NNI': 'MPI_Aint',
    'DISPOFFSET_SMALL': 'MPI_Aint', 'LOCATION_SMALL': 'MPI_Aint', 'RMA_DISPLACEMENT_NNI': 'MPI_Aint',
    'WINDOW_SIZE': 'MPI_Aint', 'WIN_ATTACH_SIZE': 'MPI_Aint',
    'GENERIC_DTYPE_COUNT': 'MPI_Count', 'NUM_BYTES': 'MPI_Count', 'XFER_NUM_ELEM': 'MPI_Count',
    'XFER_NUM_ELEM_NNI': 'MPI_Count', 'TOOLS_TICK_COUNT': 'MPI_Count',
    'OFFSET': 'MPI_Offset',
    'F90_COMM': 'MPI_Fint', 'F90_DATATYPE': 'MPI_Fint', 'F90_ERRHANDLER': 'MPI_Fint', 'F90_FILE': 'MPI_Fint',
    'F90_GROUP': 'MPI_Fint', 'F90_INFO': 'MPI_Fint', 'F90_MESSAGE': 'MPI_Fint', 'F90_OP': 'MPI_Fint',
    'F90_REQUEST': 'MPI_Fint', 'F90_SESSION': 'MPI_Fint', 'F90_STATUS': 'MPI_Fint', 'F90_WIN': 'MPI_Fint',
    'F08_STATUS': 'MPI_F08_status', 'STATUS': 'MPI_Status',
    'TOOLS_ENUM': 'MPI_T_enum', 'CVAR': 'MPI_T_cvar_handle', 'PVAR': 'MPI_T_pvar_handle',
    'PVAR_SESSION': 'MPI_T_pvar_session', 'EVENT_REGISTRATION': 'MPI_T_event_registration',
    'EVENT_INSTANCE': 'MPI_T_event_instance', 'CALLBACK_SAFETY': 'MPI_T_cb_safety',
    'SOURCE_ORDERING': 'MPI_T_source_order', 'OMPI_AFFINITY_FMT': 'ompi_affinity_fmt_t',
    'TICK_RESOLUTION': 'double', 'WALL_TIME': 'double',
}

# Kinds that are a pointer whatever the direction.
POINTER = {
    'BUFFER': 'void *', 'C_BUFFER': 'void *', 'C_BUFFER2': 'void *', 'EXTRA_STATE': 'void *', 'EXTRA_STATE2': 'void *',
    'ATTRIBUTE_VAL': 'void *', 'ATTRIBUTE_VAL_10': 'void *', 'TOOL_MPI_OBJ': 'void *', 'STRING': 'char *',
    'STRING_ARRAY': 'char *[]', 'STRING_2DARRAY': 'char **[]',
}

# Structures that are passed by address even if they are only read.
BY_ADDRESS = {'STATUS', 'F90_STATUS', 'F08_STATUS'}


def scalar(kind, large):
    """Returns the C type of one value of the kind."""
    if kind in HANDLES:
        return HANDLES[kind].c
    if kind in POLY:
        return POLY[kind][large]
    return SCALAR.get(kind, 'int')


def declare(c_type, name):
    return c_type + name if c_type.endswith('*') else c_type + ' ' + name


def binding(p, large=False):
    """Returns the declaration of a parameter in the C binding."""
    const = 'const ' if p.const else ''
    if p.kind == 'VARARGS':
        return '...'
    if p.kind == 'ARGUMENT_COUNT':
        return 'int argc' if 'by-value' in p.flags else 'int *argc'
    if p.kind == 'ARGUMENT_LIST':
        return 'char *argv[]' if 'by-value' in p.flags else 'char ***argv'
    if p.kind in POINTER:
        c_type = POINTER[p.kind]
        if c_type.endswith('[]'):
            return const + declare(c_type[:-2], p.name) + '[]'
        return const + declare(c_type, p.name)
    if p.function:
        if p.kind.startswith('EVENT_'):
            return p.function + ' ' + p.name
        twin = '_c' if p.kind == 'POLYFUNCTION' and large else ''
        return '%s%s *%s' % (p.function, twin, p.name)
    c_type = const + scalar(p.kind, large)
    if len(p.lengths) == 2:
        return '%s %s[][%s]' % (c_type, p.name, p.lengths[1])
    if p.kind == 'WEIGHT':
        # not an array: gcc would warn of MPI_UNWEIGHTED, which is no address
        return '%s *%s' % (c_type, p.name)
    if p.lengths and p.kind not in BY_ADDRESS - {'STATUS'}:
        return '%s %s[]' % (c_type, p.name)
    if p.direction != 'in' or 'by-pointer' in p.flags or p.kind in BY_ADDRESS:
        return '%s *%s' % (c_type, p.name)
    return '%s %s' % (c_type, p.name)


def passed(p, large):
    """Returns true if this binding has the parameter. Some parameters exist only with MPI_Count."""
    return large or 'large-only' not in p.flags


def prototype(procedure, large=False, prefix='', name=None):
    """Returns `int MPI_Xxx(...)` without the semicolon."""
    returned = 'int' if procedure.returns_error else scalar(procedure.returns, large)
    parameters = ', '.join(binding(p, large) for p in procedure.parameters if passed(p, large))
    name = name or prefix + procedure.name + ('_c' if large else '')
    return '%s %s(%s)' % (returned, name, parameters or 'void')


def private(p):
    """Returns the declarations of a parameter in the implementing function, as a list."""
    if p.kind == 'VARARGS':
        return []
    if p.kind == 'POLYFUNCTION':
        return ['%s *%s' % (p.function, p.name), '%s_c *%s_c' % (p.function, p.name)]
    name = 'ret_' + p.name if p.direction == 'out' else p.name
    if p.kind in HANDLES and not p.lengths:
        stars = '*' if p.direction == 'in' else '**'
        return ['struct %s %s%s' % (HANDLES[p.kind].state, stars, name)]
    if p.poly:
        if p.lengths:
            return ['struct tern_ints ' + p.name]
        return ['MPI_Count %s%s' % ('' if p.direction == 'in' else '*', name)]
    return [binding(p)]


def private_prototype(procedure):
    if procedure.plain:
        return prototype(procedure, name=procedure.does)
    parameters = ['bool large'] * procedure.told_binding + ['int fault'] * procedure.told_faults
    parameters += [d for p in procedure.meant for d in private(p)]
    if procedure.form:
        parameters += ['enum tern_form form', 'struct tern_request **ret_request']
    return 'int %s(%s)' % (procedure.does, ', '.join(parameters) or 'void')


def wrap(text, width=110):
    """Breaks a C declaration after commas."""
    lines = ['']
    for part in re.findall(r'[^,]+,? ?', text):
        if len(lines[-1]) + len(part.rstrip()) > width:
            lines.append('    ')
        lines[-1] += part
    return '\n'.join(line.rstrip() for line in lines)
