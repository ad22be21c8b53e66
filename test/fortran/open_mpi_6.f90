! SPDX-License-Identifier: BSD-3-Clause
! The names by which programs call that Open MPI 6's mpi_f08 compiled: mpi_xxx_f08ts_ with gfortran's own descriptors.
program open_mpi_6
  use mpi_f08_types
  use iso_c_binding, only: c_int
  implicit none
  interface
    subroutine mpi_sendrecv_f08ts(sendbuf, sendcount, sendtype, dest, sendtag, recvbuf, recvcount, recvtype, source, &
                                  recvtag, comm, status, ierror)
      import
      type(*), dimension(..), intent(in) :: sendbuf
      type(*), dimension(..) :: recvbuf
      integer, intent(in) :: sendcount, dest, sendtag, recvcount, source, recvtag
      type(MPI_Datatype), intent(in) :: sendtype, recvtype
      type(MPI_Comm), intent(in) :: comm
      type(MPI_Status) :: status
      integer, optional, intent(out) :: ierror
    end subroutine
    ! == and /= of communicators, from its module mpi_types
    integer(c_int) function equal(x, y) bind(C, name="__mpi_types_MOD_ompi_comm_op_eq")
      import
      type(MPI_Comm), intent(in) :: x, y
    end function
    integer(c_int) function differ(x, y) bind(C, name="__mpi_types_MOD_ompi_comm_op_ne")
      import
      type(MPI_Comm), intent(in) :: x, y
    end function
    subroutine mpi_init_f08(ierror)
      integer, optional, intent(out) :: ierror
    end subroutine
    subroutine mpi_finalize_f08(ierror)
      integer, optional, intent(out) :: ierror
    end subroutine
    subroutine mpi_pack_external_f08ts(datarep, inbuf, incount, datatype, outbuf, outsize, position, ierror)
      import
      character(len=*), intent(in) :: datarep
      type(*), dimension(..), intent(in) :: inbuf
      integer, intent(in) :: incount
      type(MPI_Datatype), intent(in) :: datatype
      type(*), dimension(..) :: outbuf
      integer(MPI_ADDRESS_KIND), intent(in) :: outsize
      integer(MPI_ADDRESS_KIND), intent(inout) :: position
      integer, optional, intent(out) :: ierror
    end subroutine
  end interface
  integer :: a(20, 3), b(12, 5), i, wrong, scalar
  integer(MPI_ADDRESS_KIND) :: position
  character :: bytes(200)
  a = reshape([(i, i = 1, 60)], [20, 3])
  b = 0
  call mpi_init_f08()
  call mpi_sendrecv_f08ts(a(19:1:-2, :), 30, MPI_INTEGER, 0, 0, b(2:12:2, :), 30, MPI_INTEGER, 0, 0, MPI_COMM_SELF, &
                          MPI_STATUS_IGNORE)
  wrong = count(reshape(b(2:12:2, :), [30]) /= reshape(a(19:1:-2, :), [30])) + count(b(1:11:2, :) /= 0)
  call mpi_sendrecv_f08ts(a(7, 2), 1, MPI_INTEGER, 0, 0, scalar, 1, MPI_INTEGER, 0, 0, MPI_COMM_SELF, MPI_STATUS_IGNORE)
  if (scalar /= a(7, 2)) wrong = wrong + 1
  position = 0
  call mpi_pack_external_f08ts('external32', a(1:20:4, 1), 5, MPI_INTEGER, bytes, 200_MPI_ADDRESS_KIND, position)
  if (position /= 20 .or. ichar(bytes(8)) /= 5) wrong = wrong + 1
  if (equal(MPI_COMM_SELF, MPI_COMM_SELF) /= 1 .or. equal(MPI_COMM_SELF, MPI_COMM_WORLD) /= 0) wrong = wrong + 1
  if (differ(MPI_COMM_SELF, MPI_COMM_SELF) /= 0 .or. differ(MPI_COMM_SELF, MPI_COMM_WORLD) /= 1) wrong = wrong + 1
  if (wrong /= 0) then
    print *, 'FAILED', wrong
    stop 1
  end if
  call mpi_finalize_f08()
end program
