# SPDX-License-Identifier: BSD-3-Clause
"""Makes what Fortran programs compile with: mpif.h, and the sources of the modules mpi and mpi_f08.
The modules hold declarations only; all code is in the C libraries. So a module needs no object
file."""

import re

import constants
import fortran
import kinds

TYPES = {'COMMUNICATOR': 'MPI_Comm', 'DATATYPE': 'MPI_Datatype', 'OPERATION': 'MPI_Op', 'GROUP': 'MPI_Group',
         'INFO': 'MPI_Info', 'ERRHANDLER': 'MPI_Errhandler', 'REQUEST': 'MPI_Request', 'MESSAGE': 'MPI_Message',
         'WINDOW': 'MPI_Win', 'FILE': 'MPI_File', 'SESSION': 'MPI_Session'}
KINDS = {'int': 'integer', 'MPI_Aint': 'integer(kind=MPI_ADDRESS_KIND)', 'MPI_Count': 'integer(kind=MPI_COUNT_KIND)',
         'MPI_Offset': 'integer(kind=MPI_OFFSET_KIND)', 'MPI_Fint': 'integer', 'double': 'double precision'}

HANDLE_TYPES = {'comm': 'MPI_Comm', 'datatype': 'MPI_Datatype', 'op': 'MPI_Op', 'group': 'MPI_Group',
                'info': 'MPI_Info', 'errhandler': 'MPI_Errhandler', 'request': 'MPI_Request',
                'message': 'MPI_Message', 'win': 'MPI_Win', 'file': 'MPI_File', 'session': 'MPI_Session'}


def handles(objects):
    """Returns [(name, type of mpi_f08, index)] of the predefined handles."""
    out = []
    for o in objects:
        names = o.names or ['MPI_' + o.symbol.replace('ompi_mpi_', '').upper()] * o.symbol.startswith('ompi_mpi_')
        out += [(name, HANDLE_TYPES[o.kind], o.fortran) for name in names if o.fortran >= 0]
    return out


BANNER = '! SPDX-License-Identifier: BSD-3-Clause\n! Made by api/fortran_modules.py; do not edit.\n'


# ---- mpif.h ----

FUNCTIONS = [('double precision', ('MPI_WTIME', 'MPI_WTICK', 'PMPI_WTIME', 'PMPI_WTICK')),
             ('integer*8', ('MPI_AINT_ADD', 'MPI_AINT_DIFF', 'PMPI_AINT_ADD', 'PMPI_AINT_DIFF'))]


def fixed(text):
    """Returns a line that both source forms accept: in columns 7 to 72."""
    if len(text) > 66:
        raise SystemExit('mpif.h: too long for a line: ' + text)
    return '      ' + text


def make_mpif_h(chapters, procedures, objects):
    """Makes lines that are legal in both source forms, because old programs of either form include
    them."""
    out = BANNER.rstrip().split('\n')
    out += ['! For fixed and free source form. Array sections are copied by the compiler.', '']
    for name, kind, value in constants.numbers() + [(name, '', index) for name, _, index in handles(objects)]:
        type_name = 'integer*8' if kind == 'offset' else 'integer'
        out += [fixed('%s %s' % (type_name, name)), fixed('parameter (%s=%d)' % (name, value))]
    for name, value in constants.logicals('mpif.h'):
        out += [fixed('logical ' + name), fixed('parameter (%s=%s)' % (name, value))]
    commons = constants.commons()
    for block, name, type_name, shape in commons:
        out += [fixed('%s %s%s' % (type_name, name, shape)), fixed('common /%s/ %s' % (block, name))]
    for block, _, _, _ in commons:
        out.append(fixed('save /%s/' % block))
    for name in constants.callbacks():
        out.append(fixed('external ' + name))
    for type_name, names in FUNCTIONS:
        for name in names:
            out += [fixed('%s %s' % (type_name, name)), fixed('external ' + name)]
    for prefix in ('', 'P'):
        out += [fixed('interface %sMPI_SIZEOF' % prefix)] + [fixed(line) for line in sizeof_bodies(prefix)]
        out.append(fixed('end interface'))
    return '\n'.join(out) + '\n'


SIZEOF_TYPES = {'character': 'character', 'logical': 'logical', 'int8': 'integer(kind=1)', 'int16': 'integer(kind=2)',
                'int32': 'integer(kind=4)', 'int64': 'integer(kind=8)', 'real32': 'real(kind=4)',
                'real64': 'real(kind=8)', 'real128': 'real(kind=16)', 'complex32': 'complex(kind=4)',
                'complex64': 'complex(kind=8)', 'complex128': 'complex(kind=16)'}


def sizeof_bodies(prefix):
    for type_name, declared in SIZEOF_TYPES.items():
        for rank, rank_name in enumerate(fortran.RANKS):
            name = '%sMPI_SIZEOF_%s_%s' % (prefix, type_name, rank_name)
            shape = '(%s)' % ','.join(':' * rank) if rank else ''
            yield from ('subroutine %s(x, size, ierror)' % name, '%s x%s' % (declared, shape), 'integer size',
                        'integer, optional :: ierror' if prefix == 'f08' else 'integer ierror', 'end subroutine')


# ---- interfaces ----

class Interface:
    """The interface body of one specific procedure. `f08`: of mpi_f08. `sections`: buffers are
    passed as descriptors (None: in mpi_f08 only)."""

    def __init__(self, procedure, name, f08, large=False, binding='', pointer=False, sections=None):
        self.procedure, self.name, self.f08, self.large = procedure, name, f08, large
        self.sections = f08 if sections is None else sections
        self.binding, self.pointer = binding, pointer
        self.lines, self.dummies = [], []
        self.directives = []
        for p in procedure.parameters:
            if kinds.passed(p, large) and p.kind not in ('ARGUMENT_COUNT', 'ARGUMENT_LIST', 'VARARGS'):
                self.dummies.append(p.name)
                self.lines += self.declare(p)

    def intent(self, p):
        """Returns the intent. Special arguments may stand for ignored results, so only arguments
        that are read have an intent everywhere."""
        if p.direction == 'in':
            return ', intent(in)'
        if not self.f08 or p.lengths or p.kind in ('STATUS', 'F90_STATUS', 'F08_STATUS'):
            return ''
        return ', intent(%s)' % p.direction

    def shape(self, p):
        if len(p.lengths) == 2:
            return '(%s,*)' % p.lengths[1]
        return '(*)' if p.lengths else ''

    def declare(self, p):
        kind, name = p.kind, p.name
        if kind in ('BUFFER',) or (kind == 'C_BUFFER2' and not self.f08):
            if self.sections:
                asynchronous = ', asynchronous' if self.keeps(p) else ''
                intent = ', intent(in)' if p.direction == 'in' and p.const else ''
                return ['type(*), dimension(..)%s%s :: %s' % (intent, asynchronous, name)]
            self.directives += ['!GCC$ ATTRIBUTES NO_ARG_CHECK :: ' + name, '!DIR$ IGNORE_TKR(tkrdm) ' + name]
            return ['TERN_CHOICE :: ' + name]
        if kind in ('C_BUFFER', 'C_BUFFER2'):
            if self.f08 or self.pointer:
                return ['type(c_ptr), intent(out) :: ' + name]
            return ['integer(kind=MPI_ADDRESS_KIND) :: ' + name]
        if p.function:
            if self.f08:
                return ['procedure(%s) :: %s' % (p.function + ('_c' if kind == 'POLYFUNCTION' and self.large else ''), name)]
            return ['external :: ' + name]
        if kind == 'STATUS':
            if self.f08:
                return ['type(MPI_Status)%s :: %s%s' % (self.intent(p), name, self.shape(p))]
            return ['integer%s :: %s(MPI_STATUS_SIZE%s)' % (self.intent(p), name, ',*' if p.lengths else '')]
        if kind == 'F08_STATUS':
            return ['type(MPI_Status) :: ' + name]
        if kind == 'F90_STATUS':
            return ['integer :: %s(MPI_STATUS_SIZE)' % name]
        if kind in TYPES:
            type_name = 'type(%s)' % TYPES[kind] if self.f08 else 'integer'
            return ['%s%s :: %s%s' % (type_name, self.intent(p), name, self.shape(p))]
        if kind == 'LOGICAL':
            return ['logical%s :: %s%s' % (self.intent(p), name, self.shape(p))]
        if kind in ('STRING', 'STRING_ARRAY', 'STRING_2DARRAY'):
            shape = {'STRING': '', 'STRING_ARRAY': '(*)', 'STRING_2DARRAY': '(%s,*)' % ''.join(p.lengths)}[kind]
            intent = ', intent(%s)' % p.direction if kind == 'STRING' and self.f08 else ''
            return ['character(len=*)%s :: %s%s' % (intent, name, shape)]
        if kind == 'WEIGHT' or kind == 'ERROR_CODE' and p.lengths:
            return ['integer :: %s(*)' % name]
        if kind.startswith(('EXTRA_STATE', 'ATTRIBUTE_VAL')):
            type_name = 'integer' if kind in ('EXTRA_STATE2', 'ATTRIBUTE_VAL_10') else KINDS['MPI_Aint']
            # without TARGET gfortran -O2 removes what the caller stores for the callbacks after this call
            kept = ', target' if self.procedure.name in fortran.KEEPS_STATE else ''
            return ['%s%s%s :: %s' % (type_name, self.intent(p), kept, name)]
        type_name = KINDS[kinds.scalar(kind, self.large)]
        if 'removed' in self.procedure.words and type_name == KINDS['MPI_Aint']:
            type_name = 'integer'
        return ['%s%s :: %s%s' % (type_name, self.intent(p), name, self.shape(p))]

    def keeps(self, p):
        """Returns true if the buffer is used after the procedure has returned."""
        name = self.procedure.name
        return bool(self.procedure.of_kind('REQUEST')) or name in fortran.WHOLE_ARRAYS or 'begin' in name or \
            self.procedure.chapter == 'window' or name in ('MPI_F_sync_reg', 'MPI_Get_address')

    def signature(self):
        """Returns what distinguishes specific procedures of one generic name."""
        types = [re.sub(r', (intent\(\w+\)|asynchronous)', '', line).split(' ::')[0] for line in self.lines]
        return [re.sub(r'MPI_\w+_KIND', '8', t) for t in types]

    def text(self, modules):
        optional = ', optional' if self.f08 else ''
        intent = ', intent(out)' if self.f08 else ''
        head = 'subroutine %s(%s)%s' % (self.name, ', '.join(self.dummies + ['ierror']), self.binding)
        lines = [head] + ['  use ' + m for m in modules] + ['  implicit none']
        lines += ['  ' + line for line in self.lines] + ['  integer%s%s :: ierror' % (optional, intent)]
        # directives begin in column 1
        return '\n'.join([wrap('    ' + line) for line in lines] + self.directives + ['    end subroutine'])


def wrap(line):
    """Breaks a line of free form after commas."""
    out, rest = [], line
    while len(rest) > 120:
        at = rest.rindex(',', 0, 118) + 1
        out.append(rest[:at] + ' &')
        rest = '      & ' + rest[at:]
    return '\n'.join(out + [rest])


def specifics_of_mpi(procedure, prefix):
    """Yields the specific procedures of module mpi, by the linker's names mpi_xxx_."""
    yield Interface(procedure, prefix + procedure.name, False)
    for other in fortran.OTHER_NAMES.get(procedure.name, []):
        yield Interface(procedure, prefix + other, False, pointer=True)


def declared(procedures):
    """Returns the procedures to declare. As in mpi.h, procedures that this version does not have
    are not declared."""
    return [p for p in fortran.present(procedures) if p.declared]


def in_module(procedure):
    return 'F08_STATUS' not in [p.kind for p in procedure.parameters]


HAND_MPI = '''
  interface
    double precision function {P}MPI_Wtime()
    end function
    double precision function {P}MPI_Wtick()
    end function
    function {P}MPI_Aint_add(base, disp)
      import :: MPI_ADDRESS_KIND
      integer(kind=MPI_ADDRESS_KIND), intent(in) :: base, disp
      integer(kind=MPI_ADDRESS_KIND) :: {P}MPI_Aint_add
    end function
    function {P}MPI_Aint_diff(addr1, addr2)
      import :: MPI_ADDRESS_KIND
      integer(kind=MPI_ADDRESS_KIND), intent(in) :: addr1, addr2
      integer(kind=MPI_ADDRESS_KIND) :: {P}MPI_Aint_diff
    end function
    subroutine {P}MPI_Pcontrol(level)
      integer, intent(in) :: level
    end subroutine
    subroutine {P}MPI_F_sync_reg(buf)
      TERN_CHOICE :: buf
!GCC$ ATTRIBUTES NO_ARG_CHECK :: buf
!DIR$ IGNORE_TKR(tkrdm) buf
    end subroutine
  end interface
'''

CHOICE = '''
! A dummy argument that takes any actual argument. gfortran packs a section of an array for it. Other compilers get the
! descriptor: for an assumed-size argument they refuse an element of an array, for a scalar they do not pack.
#ifdef __GFORTRAN__
#define TERN_CHOICE type(*), dimension(*)
#else
#define TERN_CHOICE integer
#endif
'''


def parameters(module):
    """Returns the declarations of the numbers and truth values."""
    out = []
    for name, kind, value in constants.numbers():
        of_kind = '(kind=MPI_OFFSET_KIND)' if kind == 'offset' else ''
        out.append('  integer%s, parameter :: %s = %d' % (of_kind, name, value))
    return out + ['  logical, parameter :: %s = %s' % pair for pair in constants.logicals(module)]


def make_mpi(chapters, procedures, objects):
    names = declared(procedures)
    out = [BANNER + CHOICE, 'module mpi_constants', '  implicit none'] + parameters('mpi')
    out += ['  integer, parameter :: %s = %d' % (name, index) for name, _, index in handles(objects)]
    for block, name, type_name, shape in constants.commons():
        out += ['  %s :: %s%s' % (type_name.replace('*1', ''), name, shape), '  common /%s/ %s' % (block, name)]
    callbacks = constants.callbacks()
    out += ['  external :: ' + ', '.join(callbacks[i:i + 4]) for i in range(0, len(callbacks), 4)]
    out += ['end module', '', 'module mpi', '  use mpi_constants', '  implicit none']
    for prefix in ('', 'P'):
        out.append(HAND_MPI.format(P=prefix))
        for p in names:
            if not in_module(p):
                continue
            specifics = list(specifics_of_mpi(p, prefix))
            body = ['  interface%s' % (' ' + prefix + p.name if len(specifics) > 1 else '')]
            body += [s.text(['mpi_constants'] + ['iso_c_binding, only: c_ptr'] * s.pointer) for s in specifics]
            if p.of_kind('BUFFER') and not fortran.is_old(p):
                name = fortran.section_names(p.name)[prefix == 'P']
                described = Interface(p, name, False, binding=' bind(C, name="%s")' % name, sections=True)
                body = ['#ifdef __GFORTRAN__'] + body + ['  end interface', '#else', '  interface ' + prefix + p.name,
                                                         described.text(['mpi_constants']), '  end interface', '#endif']
            else:
                body.append('  end interface')
            out += body
        out.append('  interface %sMPI_Sizeof' % prefix)
        out += ['    ' + line for line in sizeof_bodies(prefix)] + ['  end interface']
    return '\n'.join(out + ['end module', ''])


# ---- mpi_f08 ----

def f08_types(objects):
    out = ['module mpi_f08_types', '  use iso_c_binding, only: c_int, c_size_t', '  implicit none']
    out += parameters('mpi_f08')
    for type_name in HANDLE_TYPES.values():
        out += ['  type, bind(C) :: ' + type_name, '    integer :: MPI_VAL', '  end type']
    out += ['  type, bind(C) :: MPI_Status', '    integer :: MPI_SOURCE, MPI_TAG, MPI_ERROR',
            '    integer(c_int), private :: cancelled', '    integer(c_size_t), private :: bytes', '  end type']
    out += ['  type(%s), parameter :: %s = %s(%d)' % (t, name, t, index) for name, t, index in handles(objects)]
    for block, name, type_name, shape in constants.commons():
        declared = type_name.replace('*1', '(kind=c_char)')
        if 'STATUS' in name:
            declared, shape = 'type(MPI_Status)', '(1)' if 'STATUSES' in name else ''
        out.append('  %s, bind(C, name="%s_"), target :: %s%s' % (declared, block, name, shape))
    out[1] = '  use iso_c_binding, only: c_char, c_int, c_size_t'
    for operator, ending in (('==', 'eq'), ('/=', 'ne')):
        out.append('  interface operator(%s)' % operator)
        out += ['    module procedure ompi_%s_op_%s' % (kind, ending) for kind in HANDLE_TYPES] + ['  end interface']
    out += ['  private :: c_char, c_int, c_size_t', 'contains']
    for kind, type_name in HANDLE_TYPES.items():
        for operator, ending in (('==', 'eq'), ('/=', 'ne')):
            out += ['  logical function ompi_%s_op_%s(a, b)' % (kind, ending),
                    '    type(%s), intent(in) :: a, b' % type_name,
                    '    ompi_%s_op_%s = a%%MPI_VAL %s b%%MPI_VAL' % (kind, ending, operator), '  end function']
    return '\n'.join(out + ['end module', ''])


def callback(name, arguments, declarations):
    lines = ['    subroutine %s(%s)' % (name, arguments), '      use mpi_f08_types',
             '      use iso_c_binding, only: c_ptr', '      implicit none']
    return '\n'.join(lines + ['      ' + d for d in declarations] + ['    end subroutine'])


ADDRESS = 'integer(kind=MPI_ADDRESS_KIND)'


def conversion(name, length):
    """Returns the interface of a function that converts data of a file; `length` is the type of its
    count."""
    return callback(name, 'userbuf, datatype, count, filebuf, position, extra_state, ierror', [
        'type(c_ptr), value :: userbuf, filebuf', 'type(MPI_Datatype) :: datatype', length + ' :: count',
        'integer(kind=MPI_OFFSET_KIND) :: position', ADDRESS + ' :: extra_state', 'integer :: ierror'])


def f08_callbacks():
    out = ['module mpi_f08_interfaces_callbacks', '  implicit none', '  abstract interface']
    for large in ('', '_c'):
        length = 'integer(kind=MPI_COUNT_KIND)' if large else 'integer'
        out.append(callback('MPI_User_function' + large, 'invec, inoutvec, len, datatype', [
            'type(c_ptr), value :: invec, inoutvec', length + ' :: len', 'type(MPI_Datatype) :: datatype']))
        out.append(conversion('MPI_Datarep_conversion_function' + large, length))
    for kind, type_name in (('Comm', 'MPI_Comm'), ('Type', 'MPI_Datatype'), ('Win', 'MPI_Win')):
        out.append(callback('MPI_%s_copy_attr_function' % kind,
                            'old, keyval, extra_state, attribute_val_in, attribute_val_out, flag, ierror', [
                                'type(%s) :: old' % type_name, 'integer :: keyval, ierror',
                                ADDRESS + ' :: extra_state, attribute_val_in, attribute_val_out', 'logical :: flag']))
        out.append(callback('MPI_%s_delete_attr_function' % kind, 'object, keyval, attribute_val, extra_state, ierror', [
            'type(%s) :: object' % type_name, 'integer :: keyval, ierror', ADDRESS + ' :: attribute_val, extra_state']))
    for kind, type_name in (('Comm', 'MPI_Comm'), ('Win', 'MPI_Win'), ('File', 'MPI_File'), ('Session', 'MPI_Session')):
        out.append(callback('MPI_%s_errhandler_function' % kind, 'object, error_code', [
            'type(%s) :: object' % type_name, 'integer :: error_code']))
    out.append(callback('MPI_Grequest_query_function', 'extra_state, status, ierror', [
        ADDRESS + ' :: extra_state', 'type(MPI_Status) :: status', 'integer :: ierror']))
    out.append(callback('MPI_Grequest_free_function', 'extra_state, ierror', [
        ADDRESS + ' :: extra_state', 'integer :: ierror']))
    out.append(callback('MPI_Grequest_cancel_function', 'extra_state, complete, ierror', [
        ADDRESS + ' :: extra_state', 'logical :: complete', 'integer :: ierror']))
    out.append(callback('MPI_Datarep_extent_function', 'datatype, extent, extra_state, ierror', [
        'type(MPI_Datatype) :: datatype', ADDRESS + ' :: extent, extra_state', 'integer :: ierror']))
    out += ['  end interface', 'end module', '']
    predefined = ['module mpi_f08_callbacks', '  implicit none', '  interface']
    for kind, type_name in (('COMM', 'MPI_Comm'), ('TYPE', 'MPI_Datatype'), ('WIN', 'MPI_Win')):
        for what in ('NULL_COPY', 'DUP'):
            predefined.append(callback('MPI_%s_%s_FN' % (kind, what),
                                       'old, keyval, extra_state, attribute_val_in, attribute_val_out, flag, ierror', [
                                           'type(%s) :: old' % type_name, 'integer :: keyval, ierror',
                                           ADDRESS + ' :: extra_state, attribute_val_in, attribute_val_out',
                                           'logical :: flag']))
        predefined.append(callback('MPI_%s_NULL_DELETE_FN' % kind,
                                   'object, keyval, attribute_val, extra_state, ierror', [
                                       'type(%s) :: object' % type_name, 'integer :: keyval, ierror',
                                       ADDRESS + ' :: attribute_val, extra_state']))
    predefined.append(conversion('MPI_CONVERSION_FN_NULL', 'integer'))
    predefined.append(conversion('MPI_CONVERSION_FN_NULL_C', 'integer(kind=MPI_COUNT_KIND)'))
    return '\n'.join(out + predefined + ['  end interface', 'end module', ''])


HAND_F08 = '''
  interface
    double precision function {P}MPI_Wtime() bind(C, name="{P}MPI_Wtime")
    end function
    double precision function {P}MPI_Wtick() bind(C, name="{P}MPI_Wtick")
    end function
  end interface
  interface {P}MPI_Aint_add
    function {p}mpi_aint_add_f08(base, disp)
      import :: MPI_ADDRESS_KIND
      integer(kind=MPI_ADDRESS_KIND), intent(in) :: base, disp
      integer(kind=MPI_ADDRESS_KIND) :: {p}mpi_aint_add_f08
    end function
  end interface
  interface {P}MPI_Aint_diff
    function {p}mpi_aint_diff_f08(addr1, addr2)
      import :: MPI_ADDRESS_KIND
      integer(kind=MPI_ADDRESS_KIND), intent(in) :: addr1, addr2
      integer(kind=MPI_ADDRESS_KIND) :: {p}mpi_aint_diff_f08
    end function
  end interface
  interface {P}MPI_Pcontrol
    subroutine {p}mpi_pcontrol_f08(level)
      integer, intent(in) :: level
    end subroutine
  end interface
  interface {P}MPI_F_sync_reg
    subroutine {p}mpi_f_sync_reg_f08ts(buf) bind(C, name="{p}mpi_f_sync_reg_f08ts")
      type(*), dimension(..), asynchronous :: buf
    end subroutine
  end interface
'''


def generics_of_f08(procedure, prefix):
    """Returns [(generic name, specific procedures)]. Counts of both sizes have one name if a
    compiler can distinguish the procedures."""
    buffers = bool(procedure.of_kind('BUFFER'))
    out = []
    for large in (False, True) if procedure.has_twin else (False,):
        name = (prefix + procedure.name + ('_c' if large else '')).lower() + ('_f08ts' if buffers else '_f08')
        binding = ' bind(C, name="%s")' % name if buffers else ''
        specific = Interface(procedure, name, True, large, binding)
        # procedures as arguments distinguish nothing
        if large and procedure.of_kind('POLYFUNCTION'):
            out.append((prefix + procedure.name + '_c', [specific]))
        elif not large:
            out.append((prefix + procedure.name, [specific]))
        elif specific.signature() != out[0][1][0].signature():
            out[0][1].append(specific)
    return out


def specific_of_f08(specific, modules):
    """Returns the interface body. BIND(C) is what makes descriptors of buffers, but gfortran before
    12 refuses a string of any length beside it: gfortran passes both by address, and copies sections."""
    text = specific.text(modules)
    if not fortran.has_string_beside_buffer(specific.procedure):
        return text
    plain = Interface(specific.procedure, specific.name[:-len('ts')], True, specific.large, sections=False)
    return '\n'.join(['#ifdef __GFORTRAN__', plain.text(modules), '#else', text, '#endif'])


def make_mpi_f08(chapters, procedures, objects):
    modules = ['mpi_f08_types', 'mpi_f08_interfaces_callbacks', 'iso_c_binding, only: c_ptr']
    out = [BANNER + CHOICE, f08_types(objects), f08_callbacks(), 'module mpi_f08', '  use mpi_f08_types',
           '  use mpi_f08_interfaces_callbacks', '  use mpi_f08_callbacks', '  implicit none']
    for prefix in ('', 'P'):
        out.append(HAND_F08.format(P=prefix, p=prefix.lower()))
        for p in declared(procedures):
            if fortran.is_old(p):
                continue
            for name, specifics in generics_of_f08(p, prefix):
                out += ['  interface ' + name] + [specific_of_f08(s, modules) for s in specifics] + ['  end interface']
        out.append('  interface %sMPI_Sizeof' % prefix)
        out += ['    ' + line.replace('integer ierror', 'integer, optional :: ierror') for line in sizeof_bodies(prefix)]
        out.append('  end interface')
    return '\n'.join(out + ['end module', ''])
