# SPDX-License-Identifier: BSD-3-Clause
"""Makes a test: Fortran programs of the three kinds that call each procedure with good arguments on
two ranks, and check what the call has done. fortran_results.txt has the calls; those of the
collectives follow from the table."""

import os
import re

import fortran
import fortran_modules
import table

PATH = os.path.join(table.HERE, 'fortran_results.txt')

# The program itself calls these, and ends with them.
BY_PROGRAM = {'MPI_Init', 'MPI_Init_thread', 'MPI_Finalize', 'MPI_Abort'}

DECLARED = '''  integer :: e, k, k2, k3, k4, me, ks(4), js(4), is(4), ls(4), ranges(3, 1)
  integer, target :: a(16), b(16), room(1024)
  integer, pointer :: memory(:)
  integer(MPI_ADDRESS_KIND) :: d_a, d2_a, ds_a(4)
  integer(MPI_OFFSET_KIND) :: off
  integer(MPI_COUNT_KIND) :: k_c, k2_c, k3_c, d_c, d2_c, ks_c(4), js_c(4), is_c(4), ds_c(4)
  logical :: f, f2, fs(4)
  character(len=MPI_MAX_OBJECT_NAME) :: name
  character(len=MPI_MAX_INFO_KEY) :: key
  character(len=MPI_MAX_ERROR_STRING) :: text
  character(len=MPI_MAX_LIBRARY_VERSION_STRING) :: version
  character(len=MPI_MAX_PORT_NAME) :: port, ports(2)
  character(len=16) :: sa(2), sas(2, 2)
  character(len=16) :: how, path
  type(c_ptr) :: cp
  integer :: provided = MPI_THREAD_SINGLE'''

HANDLES = {'MPI_Comm': 'c, c2, c3, cart, ring', 'MPI_Request': 'q, q2, qs(2)', 'MPI_Datatype': 't, ts(2)',
           'MPI_Op': 'o', 'MPI_Group': 'g, g2, g3, g4', 'MPI_Info': 'i, i2, is_info(2)', 'MPI_Errhandler': 'eh, eh2',
           'MPI_Session': 'ses, ses2', 'MPI_Message': 'm', 'MPI_Win': 'w', 'MPI_File': 'fh'}

CALLBACKS = '''module callbacks
  {use}
  implicit none
  {include}
  integer :: seen
contains
  subroutine query(extra_state, status, ierror)
    integer(MPI_ADDRESS_KIND) :: extra_state
    {status} :: status{shape}
    integer :: ierror
    call MPI_Status_set_elements(status, MPI_INTEGER, 0, ierror)
    call MPI_Status_set_cancelled(status, .false., ierror)
    {field TAG} = int(extra_state)
    {field SOURCE} = 0
    ierror = MPI_SUCCESS
  end subroutine
  subroutine release(extra_state, ierror)
    integer(MPI_ADDRESS_KIND) :: extra_state
    integer :: ierror
    seen = int(extra_state)
    ierror = MPI_SUCCESS
  end subroutine
  subroutine cancel(extra_state, complete, ierror)
    integer(MPI_ADDRESS_KIND) :: extra_state
    logical :: complete
    integer :: ierror
    if (.not. complete) seen = -int(extra_state)
    ierror = MPI_SUCCESS
  end subroutine
  subroutine comm_deleted(comm, keyval, value, extra_state, ierror)
    {MPI_Comm} :: comm
    integer :: keyval, ierror
    integer(MPI_ADDRESS_KIND) :: value, extra_state
    seen = int(value + extra_state)
    ierror = merge(MPI_SUCCESS, MPI_ERR_KEYVAL, keyval /= MPI_KEYVAL_INVALID .and. comm /= MPI_COMM_NULL)
  end subroutine
  subroutine type_deleted(datatype, keyval, value, extra_state, ierror)
    {MPI_Datatype} :: datatype
    integer :: keyval, ierror
    integer(MPI_ADDRESS_KIND) :: value, extra_state
    seen = int(value + extra_state)
    ierror = merge(MPI_SUCCESS, MPI_ERR_KEYVAL, keyval /= MPI_KEYVAL_INVALID .and. datatype /= MPI_DATATYPE_NULL)
  end subroutine
  subroutine win_deleted(win, keyval, value, extra_state, ierror)
    {MPI_Win} :: win
    integer :: keyval, ierror
    integer(MPI_ADDRESS_KIND) :: value, extra_state
    seen = int(value + extra_state)
    ierror = merge(MPI_SUCCESS, MPI_ERR_KEYVAL, keyval /= MPI_KEYVAL_INVALID .and. win /= MPI_WIN_NULL)
  end subroutine
  subroutine win_failed(win, code)
    {MPI_Win} :: win
    integer :: code
    if (win /= MPI_WIN_NULL) seen = code
  end subroutine
  subroutine file_failed(file, code)
    {MPI_File} :: file
    integer :: code
    if (file /= MPI_FILE_NULL) seen = code
  end subroutine
  subroutine file_extent(datatype, extent, extra_state, ierror)
    {MPI_Datatype} :: datatype
    integer(MPI_ADDRESS_KIND) :: extent, extra_state
    integer :: ierror
    extent = merge(4, 8, datatype == MPI_INTEGER)
    ierror = merge(MPI_SUCCESS, MPI_ERR_OTHER, extra_state == 5)
  end subroutine
  subroutine old_deleted(comm, keyval, value, extra_state, ierror)
    {MPI_Comm} :: comm
    integer :: keyval, value, extra_state, ierror
    seen = value + extra_state
    ierror = merge(MPI_SUCCESS, MPI_ERR_KEYVAL, keyval /= MPI_KEYVAL_INVALID .and. comm /= MPI_COMM_NULL)
  end subroutine
  subroutine comm_failed(comm, code)
    {MPI_Comm} :: comm
    integer :: code
    if (comm /= MPI_COMM_NULL) seen = code
  end subroutine
  subroutine session_failed(session, code)
    {MPI_Session} :: session
    integer :: code
    if (session /= MPI_SESSION_NULL) seen = code
  end subroutine
'''

LARGEST_OLD = '''  subroutine largest(given, result, count, datatype)
    integer :: count, datatype, given(count), result(count)
    if (datatype == MPI_INTEGER) result = max(given, result)
  end subroutine
  subroutine from_file(user, datatype, count, file, position, extra_state, ierror)
    integer :: datatype, count, ierror, user(*), file(*)
    integer(MPI_OFFSET_KIND) :: position
    integer(MPI_ADDRESS_KIND) :: extra_state
    user(position + 1:position + count) = file(1:count) - int(extra_state)
    ierror = merge(MPI_SUCCESS, MPI_ERR_OTHER, datatype == MPI_INTEGER)
  end subroutine
  subroutine to_file(user, datatype, count, file, position, extra_state, ierror)
    integer :: datatype, count, ierror, user(*), file(*)
    integer(MPI_OFFSET_KIND) :: position
    integer(MPI_ADDRESS_KIND) :: extra_state
    file(1:count) = user(position + 1:position + count) + int(extra_state)
    ierror = merge(MPI_SUCCESS, MPI_ERR_OTHER, datatype == MPI_INTEGER)
  end subroutine
end module
'''
LARGEST_F08 = '''  subroutine largest(given, result, count, datatype)
    use iso_c_binding, only: c_ptr, c_f_pointer
    type(c_ptr), value :: given, result
    integer :: count
    type(MPI_Datatype) :: datatype
    integer, pointer :: from(:), to(:)
    call c_f_pointer(given, from, [count])
    call c_f_pointer(result, to, [count])
    if (datatype == MPI_INTEGER) to = max(from, to)
  end subroutine
  subroutine from_file(user, datatype, count, file, position, extra_state, ierror)
    use iso_c_binding, only: c_ptr, c_f_pointer
    type(c_ptr), value :: user, file
    type(MPI_Datatype) :: datatype
    integer :: count, ierror
    integer(MPI_OFFSET_KIND) :: position
    integer(MPI_ADDRESS_KIND) :: extra_state
    integer, pointer :: from(:), to(:)
    call c_f_pointer(file, from, [count])
    call c_f_pointer(user, to, [position + count])
    to(position + 1:) = from - int(extra_state)
    ierror = merge(MPI_SUCCESS, MPI_ERR_OTHER, datatype == MPI_INTEGER)
  end subroutine
  subroutine to_file(user, datatype, count, file, position, extra_state, ierror)
    use iso_c_binding, only: c_ptr, c_f_pointer
    type(c_ptr), value :: user, file
    type(MPI_Datatype) :: datatype
    integer :: count, ierror
    integer(MPI_OFFSET_KIND) :: position
    integer(MPI_ADDRESS_KIND) :: extra_state
    integer, pointer :: from(:), to(:)
    call c_f_pointer(user, from, [position + count])
    call c_f_pointer(file, to, [count])
    to = from(position + 1:) + int(extra_state)
    ierror = merge(MPI_SUCCESS, MPI_ERR_OTHER, datatype == MPI_INTEGER)
  end subroutine
end module
'''

BEGIN = '''  call get_command_argument(1, how)
  if (how == 'thread') then
    call MPI_Init_thread(MPI_THREAD_MULTIPLE, provided, e)
    call check(e == MPI_SUCCESS .and. provided == MPI_THREAD_MULTIPLE, 'MPI_Init_thread')
  else
    call MPI_Init(e)
    call check(e == MPI_SUCCESS, 'MPI_Init')
  end if
  if (how == 'child') then ! of MPI_Comm_spawn
    call MPI_Comm_get_parent(c, e)
    call MPI_Comm_disconnect(c, e)
    call MPI_Finalize(e)
    stop
  end if
  if (how == 'abort') call MPI_Abort(MPI_COMM_SELF, 7, e)
  call MPI_Comm_rank(MPI_COMM_WORLD, me, e)
  call MPI_Comm_dup(MPI_COMM_SELF, c, e)
  call MPI_Comm_group(c, g, e)
  call MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, ses, e)
  write (path, '(a, i0)') 'file.', me
  ks(1) = 1
  fs(1) = .true.
  call MPI_Cart_create(c, 1, ks, fs, .false., cart, e)
  ks(1) = 2
  call MPI_Cart_create(MPI_COMM_WORLD, 1, ks, fs, .false., ring, e)
'''

END = '''  call MPI_Group_free(g, e)
  call MPI_Comm_free(c, e)
  call MPI_Comm_free(cart, e)
  call MPI_Comm_free(ring, e)
  call MPI_Session_finalize(ses, e)
  call MPI_Finalize(e)
  call check(e == MPI_SUCCESS, 'MPI_Finalize')
  call ieee_get_flag(ieee_invalid, f) ! the program would report it when it stops
  call check(.not. f, 'the library leaves IEEE_INVALID raised')
  print *, procedures, 'procedures called'
  if (wrong) stop 1
contains
  subroutine reset
    integer :: n
    a = [(n, n = 1, 16)]
    b = 0
    off = -1; k = -1; k2 = -1; k3 = -1; k4 = -1; k_c = -1; d_a = -1; d2_a = -1; d_c = -1; d2_c = -1; seen = -1
    ks = -1; js = -1; is = -1; ls = -1
    f = .false.; f2 = .false.; fs = .false.
    name = ' '; key = ' '; text = ' '; version = ' '
  end subroutine
  subroutine check(holds, what)
    logical :: holds
    character(len=*) :: what
    if (holds) return
    print *, 'FAILED: ', what
    wrong = .true.
  end subroutine
  subroutine called(what)
    character(len=*) :: what
    procedures = procedures + 1
    call check(e == MPI_SUCCESS, what // ' returned an error')
  end subroutine
  subroutine open_file ! of 16 integers: what a has
    call MPI_File_open(c, path, MPI_MODE_CREATE + MPI_MODE_RDWR + MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, fh, e)
    call MPI_File_set_view(fh, 0_MPI_OFFSET_KIND, MPI_INTEGER, MPI_INTEGER, 'native', MPI_INFO_NULL, e)
    call MPI_File_write_at(fh, 0_MPI_OFFSET_KIND, a, 16, MPI_INTEGER, MPI_STATUS_IGNORE, e)
    call MPI_File_seek(fh, 2_MPI_OFFSET_KIND, MPI_SEEK_SET, e)
    call MPI_File_seek_shared(fh, 4_MPI_OFFSET_KIND, MPI_SEEK_SET, e)
  end subroutine
  subroutine file_has(place, value) ! closes the file
    integer :: place, value, found(1), complete
    found = -1
    call MPI_File_read_at(fh, int(place, MPI_OFFSET_KIND), found, 1, MPI_INTEGER, st, e)
    call MPI_Get_count(st, MPI_INTEGER, complete, e)
    call check(complete == 1 .and. found(1) == value, 'what is in the file')
    call MPI_File_close(fh, e)
  end subroutine
  subroutine extent_is(datatype, extent, size)
    {MPI_Datatype} :: datatype
    integer :: extent, size, has_size
    integer(MPI_ADDRESS_KIND) :: lower, has_extent
    call MPI_Type_get_extent(datatype, lower, has_extent, e)
    call MPI_Type_size(datatype, has_size, e)
    call check(has_extent == extent .and. has_size == size, 'extent or size of a datatype')
    call MPI_Type_free(datatype, e)
  end subroutine
  subroutine group_has(size)
    integer :: size, has_size
    call MPI_Group_size(g2, has_size, e)
    call check(has_size == size, 'size of a group')
    if (size > 0) call MPI_Group_free(g2, e)
  end subroutine
  subroutine comm_has(size)
    integer :: size, has_size
    call MPI_Comm_size(c2, has_size, e)
    call check(has_size == size, 'size of a communicator')
    call MPI_Comm_free(c2, e)
  end subroutine
  {same_place}
end program
'''

SAME_PLACE = '''logical function same_place(place)
    type(c_ptr) :: place
    same_place = c_associated(place, c_loc(room))
  end function'''

# For each collective on two ranks, where rank `me` has 1 to 16 and 100 * me more: the values of arguments, and what must hold.
GATHERED, APART = '[1, 2, 101, 102]', 'all(b(1:2) == {0}) .and. all(b(4:5) == {1})'
SUMS = '[102, 104, 106, 108]'
OTHER = ' + 100 * (1 - me)'
COLLECTIVES = {
    'barrier': '.true.',
    'bcast': 'all(a(1:4) == [1, 2, 3, 4])',
    'gather': 'me == 1 .or. all(b(1:4) == %s)' % GATHERED,
    'gatherv': 'me == 1 .or. ' + APART.format('[1, 2]', '[101, 102]'),
    'scatter': 'all(b(1:2) == [1, 2] + 2 * me)',
    'scatterv': 'all(b(1:2) == [1, 2] + 3 * me)',
    'allgather': 'all(b(1:4) == %s)' % GATHERED,
    'allgatherv': APART.format('[1, 2]', '[101, 102]'),
    'alltoall': 'all(b(1:4) == %s + 2 * me)' % GATHERED,
    'alltoallv': APART.format('[1, 2] + 3 * me', '[101, 102] + 3 * me'),
    'alltoallw': APART.format('[1, 2] + 3 * me', '[101, 102] + 3 * me'),
    'reduce': 'me == 1 .or. all(b(1:4) == %s)' % SUMS,
    'allreduce': 'all(b(1:4) == %s)' % SUMS,
    'reduce_scatter': 'all(b(1:2) == [102, 104] + 4 * me)',
    'reduce_scatter_block': 'all(b(1:2) == [102, 104] + 4 * me)',
    'scan': 'all(b(1:4) == merge(%s, [1, 2, 3, 4], me == 1))' % SUMS,
    'exscan': 'me == 0 .or. all(b(1:4) == [1, 2, 3, 4])',
    'neighbor_allgather': 'all(b(1:4) == [1, 2, 1, 2]%s)' % OTHER,
    'neighbor_allgatherv': APART.format('[1, 2]' + OTHER, '[1, 2]' + OTHER),
    'neighbor_alltoall': 'all(b(1:4) == [3, 4, 1, 2]%s)' % OTHER,
    'neighbor_alltoallv': APART.format('[4, 5]' + OTHER, '[1, 2]' + OTHER),
    'neighbor_alltoallw': APART.format('[4, 5]' + OTHER, '[1, 2]' + OTHER),
}
ARGUMENTS = {'sendbuf': 'a', 'recvbuf': 'b', 'buffer': 'a', 'sendtype': 'MPI_INTEGER', 'recvtype': 'MPI_INTEGER',
             'datatype': 'MPI_INTEGER', 'sendtypes': 'ts', 'recvtypes': 'ts', 'op': 'MPI_SUM', 'root': '0', 'count': '#4',
             'sendcount': '#2', 'recvcount': '#2', 'sendcounts': '#ks', 'recvcounts': '#ks', 'displs': '{d}', 'sdispls': '{d}',
             'rdispls': '{d}', 'info': 'MPI_INFO_NULL', 'request': 'q'}


def collective(procedure):
    """Returns the lines for a collective procedure, or None for another one."""
    plain = re.sub(r'^MPIX?_I?|_init$', '', procedure.name).lower()
    if plain not in COLLECTIVES or procedure.rules not in ('coll', 'neighbor'):
        return None
    bytewise = plain.endswith('w')
    # Displacements are addresses in neighbor_alltoallw, and with large counts.
    displacements = 'ds_a' if plain == 'neighbor_alltoallw' else '{w}'
    lines = ['a = a + 100 * me', 'ts = MPI_INTEGER', '#ks = [2, 2]',
             'js(1:2) = [0, %d]' % (12 if bytewise else 3), 'ds_a(1:2) = js(1:2)']
    arguments = []
    for p in procedure.parameters:
        value = ARGUMENTS.get(p.name, '')
        if p.name == 'comm':
            value = 'ring' if procedure.rules == 'neighbor' else 'MPI_COMM_WORLD'
        arguments.append(displacements if value == '{d}' else value)
    lines.append('call %s(%s)' % (procedure.name, ', '.join(arguments + ['e'])))
    if procedure.name.endswith('_init'):
        lines += ['call MPI_Start(q, e)', 'call MPI_Wait(q, MPI_STATUS_IGNORE, e)', 'call MPI_Request_free(q, e)']
    elif procedure.of_kind('REQUEST'):
        lines.append('call MPI_Wait(q, MPI_STATUS_IGNORE, e)')
    return lines + ['check ' + COLLECTIVES[plain]]


def read_entries():
    """Returns [(names, lines)] of fortran_results.txt."""
    entries = []
    for number, line in enumerate(open(PATH, encoding='utf-8'), 1):
        line = line.strip()
        if line.startswith('= '):
            entries.append((line[2:].split(), []))
        elif line and not line.startswith('#') or line.startswith('#') and not line.startswith(('# ', '#\n')) and len(line) > 1:
            if not entries:
                table.fail(PATH, number, 'a line before the first "= NAME"')
            entries[-1][1].append(line)
    return entries


def translate(line, f08, large):
    """Returns the line in Fortran."""
    def field(match):
        name, member = match.groups()
        array = re.match(r'(sts)(\d)$', name)
        if array:
            return 'sts(%s)%%MPI_%s' % (array.group(2), member) if f08 else 'sts(MPI_%s, %s)' % (member, array.group(2))
        return '%s%%MPI_%s' % (name, member) if f08 else '%s(MPI_%s)' % (name, member)
    line = re.sub(r'\{(\w+) (\w+)\}', field, line)
    line = line.replace('{w}', 'ds_a' if large else 'js')
    line = re.sub(r'##(\d+)', r'\1_MPI_COUNT_KIND' if large else r'\1_MPI_ADDRESS_KIND', line)
    line = re.sub(r'##(\w+)', r'\1_c' if large else r'\1_a', line)
    line = re.sub(r'#(\d+)', r'\1_MPI_COUNT_KIND' if large else r'\1', line)
    line = re.sub(r'#(\w+)', r'\1_c' if large else r'\1', line)
    match = re.match(r'(\w+) = \[(.*)\]$', line)
    if match:
        line = '%s(1:%d) = [%s]' % (match.group(1), match.group(2).count(',') + 1, match.group(2))
    return line


def body(names, lines, how, large):
    """Returns the lines of one entry in Fortran."""
    f08 = how == 'mpi_f08'
    detached = 'cp' if f08 else 'room'
    out = ['  call reset']
    for line in lines:
        form = re.match(r'([78]): ', line)
        if form and (form.group(1) == '8') != f08:
            continue
        line = translate(line[3:] if form else line, f08, large).replace('{detached}', detached)
        if line.startswith('check '):
            line = "call check(%s, '%s')" % (line[6:], names[0] + (' with large counts' if large else ''))
        out.append(fortran_modules.wrap('  ' + line))
        call = re.match(r'call (MPI\w+)\(', line)
        if call and call.group(1) in names:
            out.append("  call called('%s')" % call.group(1))
    return out


def has(procedure, how):
    """Returns true if programs of this kind have the procedure."""
    return not fortran.is_old(procedure) if how == 'mpi_f08' else not procedure.of_kind('F08_STATUS')


def program(procedures, how):
    f08 = how == 'mpi_f08'
    wanted = {p.name: p for p in fortran_modules.declared(procedures) if has(p, how)}
    entries = [([name], [line.replace('{}', name) for line in lines]) if '{}' in ' '.join(lines) else (names, lines)
               for names, lines in read_entries() for name in (names if '{}' in ' '.join(lines) else names[:1])]
    entries += [([p.name], collective(p)) for p in wanted.values() if collective(p)]
    types = {name: 'type(%s)' % name if f08 else 'integer' for name in HANDLES}

    def fill(text):
        text = text.replace('{use}', 'use ' + how if how != 'mpif.h' else '')
        text = text.replace('{include}', "include 'mpif.h'" if how == 'mpif.h' else '')
        text = text.replace('{status}', 'type(MPI_Status)' if f08 else 'integer')
        text = text.replace('{shape}', '' if f08 else '(MPI_STATUS_SIZE)')
        text = re.sub(r'\{field (\w+)\}', r'status%MPI_\1' if f08 else r'status(MPI_\1)', text)
        text = text.replace('{same_place}', SAME_PLACE if f08 else '')
        return re.sub(r'\{(MPI_\w+)\}', lambda match: types[match.group(1)], text)

    out = ['! SPDX-License-Identifier: BSD-3-Clause', '! Made by api/fortran_results.py; do not edit.',
           fill(CALLBACKS + (LARGEST_F08 if f08 else LARGEST_OLD)), 'program results', '  use callbacks',
           '  use iso_c_binding, only: c_ptr, c_f_pointer, c_associated, c_loc',
           '  use, intrinsic :: ieee_exceptions, only: ieee_get_flag, ieee_invalid', '  implicit none', DECLARED]
    out += ['  %s :: %s' % (types[name], variables) for name, variables in HANDLES.items()]
    out += ['  type(MPI_Status) :: st, sts(4)', '  integer :: old_status(MPI_STATUS_SIZE)'] if f08 else [
        '  integer :: st(MPI_STATUS_SIZE), sts(MPI_STATUS_SIZE, 4)']
    out += ['  integer :: procedures = 0', '  logical :: wrong = .false.', BEGIN]
    covered = set(BY_PROGRAM)
    for names, lines in entries:
        if not all(name in wanted for name in names):
            continue
        large = f08 and any('#' in line for line in lines) and any(wanted[name].has_twin for name in names)
        for of_large in (False, True) if large else (False,):
            text = body(names, lines, how, of_large)
            covered.update(name for name in names if any('call %s(' % name in line for line in text))
            out += text
    for name in sorted(set(wanted) - covered):
        out.append("  call check(.false., '%s has no call in api/fortran_results.txt')" % name)
    return '\n'.join(out) + '\n' + fill(END)


def make(how):
    return lambda chapters, procedures, objects: program(procedures, how)
