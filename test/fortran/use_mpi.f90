! SPDX-License-Identifier: BSD-3-Clause
! `use mpi`: collectives with counts per rank, nonblocking ones, IN_PLACE, info, persistent requests, C pointers, sections.
program use_mpi
  use mpi
  use iso_c_binding
  implicit none
  integer :: e, r, n, level, i, req(3), info, idx, sub, outcount, where(2), length, s
  integer :: st(MPI_STATUS_SIZE), sts(MPI_STATUS_SIZE, 3)
  integer, allocatable :: counts(:), displs(:), all(:)
  integer :: a(6, 4), b(3, 4)
  integer, pointer :: p(:)
  integer(MPI_ADDRESS_KIND) :: address
  type(c_ptr) :: base
  character(len=40) :: text
  logical :: flag
  complex(8) :: z(2)

  call MPI_Init_thread(MPI_THREAD_FUNNELED, level, e)
  call MPI_Comm_rank(MPI_COMM_WORLD, r, e)
  call MPI_Comm_size(MPI_COMM_WORLD, n, e)
  allocate (counts(n), displs(n), all(n * (n + 1) / 2))
  counts = [(i, i = 1, n)]
  displs = [(i * (i - 1) / 2, i = 1, n)]
  call MPI_Allgatherv([(r, i = 0, r)], r + 1, MPI_INTEGER, all, counts, displs, MPI_INTEGER, MPI_COMM_WORLD, e)
  call check(all(size(all)) == n - 1 .and. all(1) == 0, 1)
  z = cmplx(r, -r, 8)
  call MPI_Allreduce(MPI_IN_PLACE, z, 2, MPI_DOUBLE_COMPLEX, MPI_SUM, MPI_COMM_WORLD, e)
  call check(abs(z(2) - cmplx(n * (n - 1) / 2, -n * (n - 1) / 2, 8)) < 1e-12, 2)
  call MPI_Iallreduce(r, i, 1, MPI_INTEGER, MPI_MAX, MPI_COMM_WORLD, req(1), e)
  call MPI_Ibarrier(MPI_COMM_WORLD, req(2), e)
  req(3) = MPI_REQUEST_NULL
  call MPI_Waitall(3, req, sts, e)
  call check(i == n - 1, 3)
  ! a section is copied by the compiler
  a = reshape([(i, i = 1, 24)], [6, 4])
  b = 0
  call MPI_Sendrecv(a(1:6:2, :), 12, MPI_INTEGER, mod(r + 1, n), 0, b, 12, MPI_INTEGER, mod(r + n - 1, n), 0, &
                    MPI_COMM_WORLD, MPI_STATUS_IGNORE, e)
  call check(all_equal(b, a(1:6:2, :)), 4)
  call MPI_Info_create(info, e)
  call MPI_Info_set(info, ' key ', ' some value ', e)
  call MPI_Info_get(info, 'key', 40, text, flag, e)
  call check(flag .and. text == 'some value', 5)
  text = 'stays'
  call MPI_Info_get(info, 'other', 40, text, flag, e)
  call check(.not. flag .and. text == 'stays', 6)
  length = 4
  call MPI_Info_get_string(info, 'key', length, text, flag, e)
  call check(flag .and. length == 10 .and. text == 'some', 7)
  call MPI_Info_free(info, e)
  call MPI_Comm_split(MPI_COMM_WORLD, merge(MPI_UNDEFINED, 0, r == n - 1), r, sub, e)
  call check((sub == MPI_COMM_NULL) .eqv. (r == n - 1), 8)
  call MPI_Send_init(r, 1, MPI_INTEGER, mod(r + 1, n), 3, MPI_COMM_WORLD, req(1), e)
  call MPI_Recv_init(i, 1, MPI_INTEGER, mod(r + n - 1, n), 3, MPI_COMM_WORLD, req(2), e)
  call MPI_Startall(2, req, e)
  call MPI_Waitall(2, req, MPI_STATUSES_IGNORE, e)
  call check(i == mod(r + n - 1, n), 9)
  call MPI_Request_free(req(1), e)
  call MPI_Request_free(req(2), e)
  ! positions count from 1
  call MPI_Irecv(i, 1, MPI_INTEGER, r, 1, MPI_COMM_WORLD, req(3), e)
  req(1:2) = MPI_REQUEST_NULL
  call MPI_Send(r + 5, 1, MPI_INTEGER, r, 1, MPI_COMM_WORLD, e)
  call MPI_Waitsome(3, req, outcount, where, sts, e)
  call check(outcount == 1 .and. where(1) == 3 .and. i == r + 5, 10)
  call MPI_Testany(3, req, idx, flag, st, e)
  call check(flag .and. idx == MPI_UNDEFINED, 11)
  call MPI_Alloc_mem(40_MPI_ADDRESS_KIND, MPI_INFO_NULL, base, e)
  call c_f_pointer(base, p, [10])
  p = 7
  call MPI_Get_address(p(2), address, e)
  call check(MPI_Aint_diff(address, transfer(base, address)) == 4, 12)
  call MPI_Free_mem(p, e)
  call MPI_Sizeof(z, s, e)
  call check(s == 16, 13)
  deallocate (counts, displs, all) ! the address sanitizer would count them as lost
  call MPI_Finalize(e)
contains
  logical function all_equal(x, y)
    integer, intent(in) :: x(:, :), y(:, :)
    all_equal = .not. any(x /= y)
  end function
  subroutine check(good, number)
    logical, intent(in) :: good
    integer, intent(in) :: number
    integer :: ierror
    if (good) return
    print *, 'FAILED check', number
    call MPI_Abort(MPI_COMM_WORLD, 1, ierror)
  end subroutine
end program
