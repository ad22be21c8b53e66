! SPDX-License-Identifier: BSD-3-Clause
! Strings that MPI takes without the blanks on both sides: commands, arguments, services, ports. Strings that stay as they
! were when no character is asked for. The variable extra_state of a generalized request, which its callbacks get themselves
! (state_mpif_h.f90 has it for mpif.h).
module state_callbacks
  use mpi
  implicit none
contains
  include 'state_query.inc'
  include 'state_callbacks.inc'
end module

module state_callbacks_f08
  use mpi_f08
  implicit none
contains
  subroutine query_f08(extra, status, ierror)
    integer(MPI_ADDRESS_KIND) :: extra
    type(MPI_Status) :: status
    integer :: ierror
    status%MPI_SOURCE = MPI_UNDEFINED
    status%MPI_TAG = int(extra)
    call MPI_Status_set_cancelled(status, .false., ierror)
    call MPI_Status_set_elements(status, MPI_BYTE, 0, ierror)
    extra = extra + 1
    ierror = MPI_SUCCESS
  end subroutine
  include 'state_callbacks.inc'
  subroutine states_f08()
    integer(MPI_ADDRESS_KIND) :: state
    type(MPI_Request) :: request
    type(MPI_Status) :: status
    state = 5
    call MPI_Grequest_start(query_f08, release, cancel, state, request)
    state = 7
    call MPI_Cancel(request)
    call MPI_Grequest_complete(request)
    call MPI_Wait(request, status)
    if (status%MPI_TAG == 10007 .and. state == 10108) return
    print '(a)', 'FAILED strings_and_state: the callbacks of mpi_f08 do not get the variable extra_state'
    call MPI_Abort(MPI_COMM_WORLD, 1)
  end subroutine
end module

program strings_and_state
  use mpi
  use state_callbacks
  use state_callbacks_f08, only: states_f08
  implicit none
  integer :: ierror, rank, ranks, parent
  call MPI_Init(ierror)
  call MPI_Comm_get_parent(parent, ierror)
  if (parent /= MPI_COMM_NULL) then
    call child()
  else
    call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
    call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierror)
    call states()
    call states_f08()
    call lengths()
    if (rank == 0) call children()
    call services()
  end if
  call MPI_Finalize(ierror)
contains
  subroutine check(good, what)
    logical, intent(in) :: good
    character(*), intent(in) :: what
    if (good) return
    print '(2a)', 'FAILED strings_and_state: ', what
    call MPI_Abort(MPI_COMM_WORLD, 1, ierror)
  end subroutine

  subroutine states()
    integer(MPI_ADDRESS_KIND) :: state
    integer :: request, status(MPI_STATUS_SIZE)
    state = 5
    call MPI_Grequest_start(query, release, cancel, state, request, ierror)
    state = 7
    call MPI_Cancel(request, ierror)
    call check(state == 10007, 'cancel does not get the variable extra_state')
    call MPI_Grequest_complete(request, ierror)
    call MPI_Wait(request, status, ierror)
    call check(status(MPI_TAG) == 10007, 'query does not see the variable extra_state')
    call check(state == 10108, 'query and release do not get the variable extra_state')
  end subroutine

  subroutine lengths()
    integer :: info, length, session
    logical :: flag
    character(20) :: text
    call MPI_Info_create(info, ierror)
    call MPI_Info_set(info, '  key ', '  a value ', ierror)
    text = 'untouched'
    length = 0
    call MPI_Info_get_string(info, ' key', length, text, flag, ierror)
    call check(flag .and. length == 7, 'MPI_Info_get_string says another length than 7')
    call check(text == 'untouched', 'MPI_Info_get_string changes the value although buflen is 0')
    call MPI_Info_get_string(info, 'key', length, text, flag, ierror)
    call check(flag .and. text == 'a value', 'MPI_Info_get_string gives another value')
    call MPI_Info_free(info, ierror)
    call MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, session, ierror)
    text = 'untouched'
    length = 0
    call MPI_Session_get_nth_pset(session, MPI_INFO_NULL, 0, length, text, ierror)
    call check(length > 0 .and. text == 'untouched', 'MPI_Session_get_nth_pset changes pset_name although pset_len is 0')
    call MPI_Session_finalize(session, ierror)
  end subroutine

  subroutine child()
    character(40) :: first, second
    integer :: count, to_parent
    count = command_argument_count()
    call get_command_argument(1, first)
    call get_command_argument(2, second)
    call check(count == 2 .and. first == 'one' .and. second == 'two words', &
               'a child gets "' // trim(first) // '", "' // trim(second) // '"')
    call get_command_argument(1, length=count)
    call check(count == 3, 'the blanks behind an argument are passed')
    call MPI_Comm_get_parent(to_parent, ierror)
    call MPI_Comm_disconnect(to_parent, ierror)
  end subroutine

  subroutine children()
    character(400) :: path, commands(2)
    character(14) :: argv(4), argvs(2, 3)
    integer :: child_comm, codes(2)
    call get_command_argument(0, path)
    argv = [character(14) :: '   one', '  two words  ', '     ', 'never passed']
    call MPI_Comm_spawn('  ' // path, argv, 1, MPI_INFO_NULL, 0, MPI_COMM_SELF, child_comm, codes(1:1), ierror)
    call check(ierror == MPI_SUCCESS, 'MPI_Comm_spawn')
    call MPI_Comm_disconnect(child_comm, ierror)
    commands = ['   ' // path, path // '   ']
    argvs(1, :) = argv(1:3)
    argvs(2, :) = argv(1:3)
    call MPI_Comm_spawn_multiple(2, commands, argvs, [1, 1], [MPI_INFO_NULL, MPI_INFO_NULL], 0, MPI_COMM_SELF, &
                                 child_comm, codes, ierror)
    call check(ierror == MPI_SUCCESS, 'MPI_Comm_spawn_multiple')
    call MPI_Comm_disconnect(child_comm, ierror)
  end subroutine

  subroutine services()
    character(MPI_MAX_PORT_NAME) :: port, found
    integer :: other, status(MPI_STATUS_SIZE)
    if (rank == 0) then
      call MPI_Open_port(MPI_INFO_NULL, port, ierror)
      call MPI_Publish_name('  tern strings  ', MPI_INFO_NULL, '  ' // port, ierror)
      call MPI_Lookup_name('tern strings', MPI_INFO_NULL, found, ierror)
      call check(found == port, 'MPI_Lookup_name finds "' // trim(found) // '"')
      if (ranks > 1) call MPI_Send(port, MPI_MAX_PORT_NAME, MPI_CHARACTER, 1, 0, MPI_COMM_WORLD, ierror)
      if (ranks > 1) call MPI_Comm_accept('   ' // port, MPI_INFO_NULL, 0, MPI_COMM_SELF, other, ierror)
    else if (rank == 1) then
      call MPI_Recv(port, MPI_MAX_PORT_NAME, MPI_CHARACTER, 0, 0, MPI_COMM_WORLD, status, ierror)
      call MPI_Comm_connect('  ' // port, MPI_INFO_NULL, 0, MPI_COMM_SELF, other, ierror)
    end if
    if (ranks > 1 .and. rank < 2) call MPI_Comm_disconnect(other, ierror)
    if (rank > 0) return
    call MPI_Unpublish_name(' tern strings', MPI_INFO_NULL, ' ' // port, ierror)
    call MPI_Close_port(' ' // port, ierror)
  end subroutine
end program
