! SPDX-License-Identifier: BSD-3-Clause
! mpif.h: the callbacks of a generalized request get the caller's variable. It lies in a common block, because no interface
! says to the compiler that MPI keeps its address.
subroutine query(extra, status, ierror)
  implicit none
  include 'mpif.h'
  integer(MPI_ADDRESS_KIND) :: extra
  integer :: status(MPI_STATUS_SIZE), ierror
  status(MPI_SOURCE) = MPI_UNDEFINED
  status(MPI_TAG) = int(extra)
  call MPI_Status_set_cancelled(status, .false., ierror)
  call MPI_Status_set_elements(status, MPI_BYTE, 0, ierror)
  extra = extra + 1
  ierror = MPI_SUCCESS
end subroutine

subroutine release(extra, ierror)
  implicit none
  include 'mpif.h'
  integer(MPI_ADDRESS_KIND) :: extra
  integer :: ierror
  extra = extra + 100
  ierror = MPI_SUCCESS
end subroutine

subroutine cancel(extra, complete, ierror)
  implicit none
  include 'mpif.h'
  integer(MPI_ADDRESS_KIND) :: extra
  logical :: complete
  integer :: ierror
  if (.not. complete) extra = extra + 10000
  ierror = MPI_SUCCESS
end subroutine

program state_mpif_h
  implicit none
  include 'mpif.h'
  external :: query, release, cancel
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
