! SPDX-License-Identifier: BSD-3-Clause
! `use mpi_f08`: derived types, callbacks, statuses, array sections, large counts, handles as class(*).
module callbacks
  use mpi_f08
  use iso_c_binding
  implicit none
  integer :: called = 0, freed = 0
contains
  subroutine larger(a, b, n, t)
    type(c_ptr), value :: a, b
    integer :: n
    type(MPI_Datatype) :: t
    integer, pointer :: x(:), y(:)
    call c_f_pointer(a, x, [n])
    call c_f_pointer(b, y, [n])
    if (t == MPI_INTEGER) y = max(x, y)
  end subroutine
  subroutine on_error(comm, code)
    type(MPI_Comm) :: comm
    integer :: code
    if (comm /= MPI_COMM_WORLD) called = called + 1
  end subroutine
  subroutine copy(old, keyval, extra, value, value_out, flag, ierror)
    type(MPI_Comm) :: old
    integer :: keyval, ierror
    integer(MPI_ADDRESS_KIND) :: extra, value, value_out
    logical :: flag
    value_out = value * extra
    flag = .true.
    ierror = MPI_SUCCESS
  end subroutine
  subroutine delete(comm, keyval, value, extra, ierror)
    type(MPI_Comm) :: comm
    integer :: keyval, ierror
    integer(MPI_ADDRESS_KIND) :: value, extra
    freed = freed + int(value)
    ierror = MPI_SUCCESS
  end subroutine
  subroutine query(extra, status, ierror)
    integer(MPI_ADDRESS_KIND) :: extra
    type(MPI_Status) :: status
    integer :: ierror
    status%MPI_TAG = int(extra)
    status%MPI_SOURCE = 3
    call MPI_Status_set_elements(status, MPI_INTEGER, 5)
    ierror = MPI_SUCCESS
  end subroutine
  subroutine release(extra, ierror)
    integer(MPI_ADDRESS_KIND) :: extra
    integer :: ierror
    freed = freed + 1000
    ierror = MPI_SUCCESS
  end subroutine
  subroutine cancel(extra, complete, ierror)
    integer(MPI_ADDRESS_KIND) :: extra
    logical :: complete
    integer :: ierror
    ierror = MPI_SUCCESS
  end subroutine
  subroutine check(good, number)
    logical, intent(in) :: good
    integer, intent(in) :: number
    if (good) return
    print *, 'FAILED check', number
    call MPI_Abort(MPI_COMM_WORLD, 1)
  end subroutine
  logical function same(x, y)
    class(*), intent(in) :: x, y
    same = same_type_as(x, y)
  end function
end module

program use_mpi_f08
  use callbacks
  implicit none
  type(MPI_Comm) :: w, c
  type(MPI_Status) :: st, sts(2)
  type(MPI_Request) :: q(2), g
  type(MPI_Datatype) :: t
  type(MPI_Op) :: op
  type(MPI_Errhandler) :: h
  type(MPI_Message) :: m
  type(MPI_Group) :: group
  integer :: r, n, a(10), b(10), k, up, dn, e, l, i, j, kv, flat(30)
  integer(MPI_COUNT_KIND) :: big
  integer(MPI_ADDRESS_KIND) :: value
  integer, asynchronous :: table(20, 3), other(20, 3)
  logical :: flag
  character(len=MPI_MAX_LIBRARY_VERSION_STRING) :: version

  call MPI_Init()
  w = MPI_COMM_WORLD
  call MPI_Comm_rank(w, r)
  call MPI_Comm_size(w, n)
  up = mod(r + 1, n)
  dn = mod(r + n - 1, n)
  a = [(100 * r + k, k = 1, 10)]
  b = 0
  call MPI_Irecv(b, 10, MPI_INTEGER, dn, 1, w, q(1))
  call MPI_Isend(a, 10, MPI_INTEGER, up, 1, w, q(2))
  call MPI_Waitall(2, q, sts)
  call MPI_Get_count(sts(1), MPI_INTEGER, k)
  call check(b(10) == 100 * dn + 10 .and. sts(1)%MPI_SOURCE == dn .and. sts(1)%MPI_TAG == 1 .and. k == 10, 1)
  call check(q(1) == MPI_REQUEST_NULL, 2)
  call MPI_Op_create(larger, .true., op)
  k = r * 3
  call MPI_Allreduce(MPI_IN_PLACE, k, 1, MPI_INTEGER, op, w)
  call check(k == 3 * (n - 1), 3)
  call MPI_Op_free(op)
  call MPI_Comm_create_keyval(copy, delete, kv, 5_MPI_ADDRESS_KIND)
  call MPI_Comm_set_attr(w, kv, 6_MPI_ADDRESS_KIND)
  call MPI_Comm_dup(w, c)
  call MPI_Comm_get_attr(c, kv, value, flag)
  call check(flag .and. value == 30, 4)
  call MPI_Comm_delete_attr(c, kv)
  call check(freed == 30, 5)
  call MPI_Comm_create_errhandler(on_error, h)
  call MPI_Comm_set_errhandler(c, h)
  call MPI_Send(a, 1, MPI_INTEGER, n + 9, 0, c, e)
  call check(called == 1 .and. e /= MPI_SUCCESS, 6)
  call check(.not. (c == w) .and. c /= MPI_COMM_NULL, 7)
  call MPI_Isend(a, 2, MPI_INTEGER, up, 7, w, q(1))
  call MPI_Mprobe(dn, 7, w, m, st)
  call MPI_Mrecv(b, 2, MPI_INTEGER, m, st)
  call MPI_Wait(q(1), MPI_STATUS_IGNORE)
  call check(b(2) == 100 * dn + 2, 8)
  call MPI_Grequest_start(query, release, cancel, 77_MPI_ADDRESS_KIND, g)
  call MPI_Grequest_complete(g)
  call MPI_Wait(g, st)
  call MPI_Get_count(st, MPI_INTEGER, k)
  call check(st%MPI_TAG == 77 .and. k == 5 .and. freed == 1030, 9)
  call MPI_Get_library_version(version, l)
  call check(l > 5 .and. version(l + 1:) == '', 10)
  call MPI_Comm_group(w, group)
  call MPI_Group_size(group, k)
  call check(k == n, 11)
  call check(same(w, MPI_COMM_SELF) .and. .not. same(w, MPI_INTEGER) .and. .not. same(w, 3), 12)

  ! sections, blocking and not, backwards, in counts that do not fill a column
  do j = 1, 3
    do i = 1, 20
      table(i, j) = 1000 * r + 100 * j + i
    end do
  end do
  flat = -1
  call MPI_Sendrecv(table(1:20:2, :), 30, MPI_INTEGER, up, 0, flat, 30, MPI_INTEGER, dn, 0, w, MPI_STATUS_IGNORE)
  call check(all(flat == reshape(table(1:20:2, :), [30]) + 1000 * (dn - r)), 13)
  other = 0
  call MPI_Irecv(other(20:1:-3, :), 17_MPI_COUNT_KIND, MPI_INTEGER, dn, 2, w, q(1))
  call MPI_Isend(table(2:20:3, 1:3), 17_MPI_COUNT_KIND, MPI_INTEGER, up, 2, w, q(2))
  call MPI_Waitall(2, q, MPI_STATUSES_IGNORE)
  call check(all(other(20:2:-3, 1:2) == table(2:20:3, 1:2) + 1000 * (dn - r)), 14)
  call check(all(other(20:14:-3, 3) == table(2:8:3, 3) + 1000 * (dn - r)), 15)
  call check(count(other /= 0) == 17, 16)
  other = 0
  call MPI_Iallreduce(table(1:20:4, 2:3), other(2:20:4, 1:3:2), 10, MPI_INTEGER, MPI_SUM, w, q(1))
  call MPI_Wait(q(1), st)
  call check(all(other(2:20:4, 1:3:2) == n * (table(1:20:4, 2:3) - 1000 * r) + 1000 * n * (n - 1) / 2), 17)
  call check(count(other /= 0) == 10, 18)
  call MPI_Type_vector(2_MPI_COUNT_KIND, 1_MPI_COUNT_KIND, 3_MPI_COUNT_KIND, MPI_INTEGER, t)
  call MPI_Type_commit(t)
  call MPI_Type_size(t, big)
  call check(big == 8, 19)
  ! a section with gaps that MPI shall keep: refused
  call MPI_Comm_set_errhandler(w, MPI_ERRORS_RETURN)
  call MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN)
  call MPI_Buffer_attach(table(1:20:2, 1), 40, e)
  call MPI_Error_class(e, k)
  call check(k == MPI_ERR_BUFFER, 20)
  call MPI_Type_free(t)
  call check(MPI_SUBARRAYS_SUPPORTED .and. MPI_ASYNC_PROTECTS_NONBLOCKING, 21)
  call MPI_Finalize()
end program
