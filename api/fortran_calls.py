# SPDX-License-Identifier: BSD-3-Clause
"""Makes a test: Fortran programs of the three kinds. They call each procedure that takes a handle,
with the null handle. The compiler compares every call with the interface. The call must return
an error and leave its results unchanged."""

import fortran
import fortran_modules
import kinds

NULLS = {'COMMUNICATOR': 'MPI_COMM_NULL', 'DATATYPE': 'MPI_DATATYPE_NULL', 'OPERATION': 'MPI_OP_NULL',
         'GROUP': 'MPI_GROUP_NULL', 'INFO': 'MPI_INFO_NULL', 'ERRHANDLER': 'MPI_ERRHANDLER_NULL',
         'REQUEST': 'MPI_REQUEST_NULL', 'MESSAGE': 'MPI_MESSAGE_NULL', 'WINDOW': 'MPI_WIN_NULL',
         'FILE': 'MPI_FILE_NULL', 'SESSION': 'MPI_SESSION_NULL'}
REFUSED = {'COMMUNICATOR', 'DATATYPE', 'OPERATION', 'GROUP', 'SESSION', 'ERRHANDLER'}
VARIABLES = {'int': ('k', 'ka'), 'MPI_Fint': ('k', 'ka'), 'MPI_Aint': ('ad', 'aa'), 'MPI_Count': ('co', 'ca'),
             'MPI_Offset': ('of', 'oa')}


def refused(procedure):
    """Returns true if a call with null handles must be an error."""
    return any(p.kind in REFUSED and not p.lengths and p.direction != 'out' and 'null-ok' not in p.flags
               for p in procedure.parameters) and not any(p.function for p in procedure.parameters)


def actual(p, procedure, f08, large):
    array = bool(p.lengths)
    if p.kind == 'BUFFER' or p.kind == 'C_BUFFER2' and not f08:
        return 'buf'
    if p.kind in ('C_BUFFER', 'C_BUFFER2'):
        return 'cp' if f08 else 'ad'
    if p.kind == 'STATUS':
        return 'sts' if array else 'st'
    if p.kind == 'F90_STATUS':
        return 'fst'
    if p.kind == 'F08_STATUS':
        return 'st'
    if p.kind in NULLS:
        name = 'h_' + fortran_modules.TYPES[p.kind][4:].lower()
        return name + ('a' if array else '')
    if p.kind == 'LOGICAL':
        return 'la' if array else 'l'
    if p.kind.startswith('STRING') and p.kind != 'STRING_LENGTH':
        return {'STRING': 's', 'STRING_2DARRAY': 'saa'}.get(p.kind, 'sa')
    if p.kind == 'WEIGHT' or p.kind == 'ERROR_CODE' and array:
        return 'ka'
    if p.kind.startswith(('EXTRA_STATE', 'ATTRIBUTE_VAL')):
        return 'k' if p.kind in ('EXTRA_STATE2', 'ATTRIBUTE_VAL_10') else 'ad'
    if len(p.lengths) == 2:
        return 'ranges'
    c = kinds.scalar(p.kind, large)
    if 'removed' in procedure.words and c == 'MPI_Aint':
        c = 'int'
    return VARIABLES[c][array]


DECLARATIONS = '''  integer :: k, ka(64), ranges(3, 4), buf(64), e, refusals
  integer(MPI_ADDRESS_KIND) :: ad, aa(64)
  integer(MPI_COUNT_KIND) :: co, ca(64)
  integer(MPI_OFFSET_KIND) :: of, oa(64)
  logical :: l, la(64), wrong
  character(len=16) :: s, sa(4), saa(4, 4)
'''


def program(procedures, how):
    f08 = how == 'mpi_f08'
    out = ['! SPDX-License-Identifier: BSD-3-Clause', '! Made by api/fortran_calls.py; do not edit.', 'program refuses']
    out += ['  use ' + how] if how != 'mpif.h' else []
    out += ['  use iso_c_binding, only: c_ptr'] * f08 + ['  implicit none']
    out += ["  include 'mpif.h'"] * (how == 'mpif.h') + [DECLARATIONS.rstrip()]
    out += ['  type(c_ptr) :: cp', '  type(MPI_Status) :: st, sts(4)', '  integer :: fst(MPI_STATUS_SIZE)'] * f08
    out += ['  integer :: st(MPI_STATUS_SIZE), sts(MPI_STATUS_SIZE, 4)'] * (not f08)
    starts = []
    for kind, null in NULLS.items():
        type_name = fortran_modules.TYPES[kind]
        name = 'h_' + type_name[4:].lower()
        out.append('  %s :: %s, %sa(4)' % ('type(%s)' % type_name if f08 else 'integer', name, name))
        starts += ['  %s = %s' % (name, null), '  %sa = %s' % (name, null)]
    out += ['  k = 0; ka = 0; ranges = 0; buf = 7; ad = 0; aa = 0; co = 0; ca = 0; of = 0; oa = 0; refusals = 0',
            '  l = .false.; la = .false.; wrong = .false.', "  s = 'native'; sa = ' '; saa = ' '"] + starts
    out += ['  call MPI_Init(e)', '  call MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN, e)',
            '  call MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN, e)']
    for p in fortran_modules.declared(procedures):
        if not refused(p) or f08 and fortran.is_old(p) or how != 'mpi_f08' and p.of_kind('F08_STATUS'):
            continue
        for large in (False, True) if f08 and p.has_twin else (False,):
            arguments = [actual(q, p, f08, large) for q in p.parameters if kinds.passed(q, large) and q.kind != 'VARARGS']
            out.append(fortran_modules.wrap('  call %s(%s)' % (p.name, ', '.join(arguments + ['e']))))
            out.append("  call check('%s')" % p.name)
    out += ["  if (any(buf /= 7)) print *, 'FAILED: a buffer was written'", "  print *, refusals, 'calls refused'",
            '  call MPI_Finalize(e)', '  if (wrong) stop 1', 'contains', '  subroutine check(name)',
            '    character(len=*) :: name', '    refusals = refusals + 1', '    if (e == MPI_SUCCESS) then',
            "      print *, 'FAILED: ', name, ' takes null handles'", '      wrong = .true.', '    end if',
            '    e = MPI_SUCCESS', '  end subroutine', 'end program', '']
    return '\n'.join(out)


def make(how):
    return lambda chapters, procedures, objects: program(procedures, how)
