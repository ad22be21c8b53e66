! SPDX-License-Identifier: BSD-3-Clause
! mpif.h: the callbacks of a generalized request get the caller's variable. It lies in a common block, because no interface
! says to the compiler that MPI keeps its address.
module callbacks_mpif_h
  implicit none
  include 'mpif.h'
contains
  include 'state_query.inc'
  include 'state_callbacks.inc'
end module

program state_mpif_h
  use callbacks_mpif_h
  implicit none
  integer(MPI_ADDRESS_KIND) :: state
  common /kept/ state
  integer :: request, status(MPI_STATUS_SIZE), ierror
  call MPI_Init(ierror)
  state = 5
  call MPI_Grequest_start(query, release, cancel, state, request, ierror)
  state = 7
  call MPI_Cancel(request, ierror)
  call MPI_Grequest_complete(request, ierror)
  call MPI_Wait(request, status, ierror)
  if (status(MPI_TAG) /= 10007 .or. state /= 10108) then
    print '(a, 2i9)', 'FAILED state_mpif_h: the callbacks do not get the variable: ', status(MPI_TAG), int(state)
    call MPI_Abort(MPI_COMM_WORLD, 1, ierror)
  end if
  call MPI_Finalize(ierror)
end program
