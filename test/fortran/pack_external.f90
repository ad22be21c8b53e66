! SPDX-License-Identifier: BSD-3-Clause
! MPI_Pack_external and MPI_Unpack_external of mpi_f08: a string beside buffers, both sizes of counts, sections of arrays,
! with ierror and without. Before version 12 gfortran has no other way for these than addresses.
program pack_external
  use mpi_f08
  implicit none
  integer :: numbers(4, 5), back(4, 5), i, ierror
  character :: bytes(64)
  integer(MPI_ADDRESS_KIND) :: place, size
  integer(MPI_COUNT_KIND) :: large_place
  call MPI_Init
  numbers = reshape([(i, i = 1, 20)], [4, 5])
  call MPI_Pack_external_size('external32', 5, MPI_INTEGER, size)
  call check(size == 20, 'size')

  place = 0
  bytes = 'x'
  call MPI_Pack_external('external32', numbers(2, :), 5, MPI_INTEGER, bytes, 64_MPI_ADDRESS_KIND, place)
  call check(place == 20, 'packed bytes')
  call check(all(ichar(bytes(1:8)) == [0, 0, 0, 2, 0, 0, 0, 6]), 'big-endian numbers of a section')
  call check(all(bytes(21:) == 'x'), 'nothing behind them')
  place = 0
  back = 0
  call MPI_Unpack_external('external32', bytes, 20_MPI_ADDRESS_KIND, place, back(3, :), 5, MPI_INTEGER, ierror)
  call check(ierror == MPI_SUCCESS .and. place == 20, 'unpacked bytes')
  call check(all(back(3, :) == numbers(2, :)) .and. sum(back) == sum(numbers(2, :)), 'unpacked into a section')

  large_place = 0
  back = 0
  call MPI_Pack_external('external32', numbers, 5_MPI_COUNT_KIND, MPI_INTEGER, bytes, 64_MPI_COUNT_KIND, large_place, ierror)
  call check(ierror == MPI_SUCCESS .and. large_place == 20, 'large counts')
  large_place = 0
  call PMPI_Unpack_external('external32', bytes, 20_MPI_COUNT_KIND, large_place, back(1, 1), 5_MPI_COUNT_KIND, MPI_INTEGER)
  call check(all(reshape(back, [20]) == [1, 2, 3, 4, 5, (0, i = 1, 15)]), 'large counts, from one element on')
  call MPI_Finalize
contains
  subroutine check(good, what)
    logical, intent(in) :: good
    character(len=*), intent(in) :: what
    if (good) return
    print '(2a)', 'FAILED pack_external: ', what
    call MPI_Abort(MPI_COMM_WORLD, 1)
  end subroutine
end program
