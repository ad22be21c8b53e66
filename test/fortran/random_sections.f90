! SPDX-License-Identifier: BSD-3-Clause
! 10,000 random sections of arrays of rank 1 to 4, with strides of any sign and counts that end within a column, as send and
! as receive buffers of mpi_f08, against a copy made element by element. The first argument is the seed.
program random_sections
  use mpi_f08
  implicit none
  integer, parameter :: rounds = 10000, most = 600
  integer, asynchronous :: a1(60), a2(15, 12), a3(7, 6, 9), a4(5, 4, 6, 5), flat(most), got(most + 1)
  integer :: b1(60), b2(15, 12), b3(7, 6, 9), b4(5, 4, 6, 5)
  integer(8) :: state
  integer :: round, l(4), h(4), s(4), wrong = 0
  character(len=20) :: word
  call MPI_Init()
  state = 1
  call get_command_argument(1, word)
  if (word /= ' ') read (word, *) state
  print *, 'seed', state
  do round = 1, rounds
    select case (below(4))
    case (0)
      call bounds(shape(a1))
      call fill(a1, size(a1))
      b1 = a1
      call rank1(a1(l(1):h(1):s(1)))
      b1(l(1):h(1):s(1)) = &
        a1(l(1):h(1):s(1))
      if (any(a1 /= b1)) call note('elements beside the section have changed')
    case (1)
      call bounds(shape(a2))
      call fill(a2, size(a2))
      b2 = a2
      call rank2(a2(l(1):h(1):s(1), l(2):h(2):s(2)))
      b2(l(1):h(1):s(1), l(2):h(2):s(2)) = &
        a2(l(1):h(1):s(1), l(2):h(2):s(2))
      if (any(a2 /= b2)) call note('elements beside the section have changed')
    case (2)
      call bounds(shape(a3))
      call fill(a3, size(a3))
      b3 = a3
      call rank3(a3(l(1):h(1):s(1), l(2):h(2):s(2), l(3):h(3):s(3)))
      b3(l(1):h(1):s(1), l(2):h(2):s(2), l(3):h(3):s(3)) = &
        a3(l(1):h(1):s(1), l(2):h(2):s(2), l(3):h(3):s(3))
      if (any(a3 /= b3)) call note('elements beside the section have changed')
    case (3)
      call bounds(shape(a4))
      call fill(a4, size(a4))
      b4 = a4
      call rank4(a4(l(1):h(1):s(1), l(2):h(2):s(2), l(3):h(3):s(3), l(4):h(4):s(4)))
      b4(l(1):h(1):s(1), l(2):h(2):s(2), l(3):h(3):s(3), l(4):h(4):s(4)) = &
        a4(l(1):h(1):s(1), l(2):h(2):s(2), l(3):h(3):s(3), l(4):h(4):s(4))
      if (any(a4 /= b4)) call note('elements beside the section have changed')
    end select
  end do
  print *, rounds, 'sections', wrong, 'wrong'
  call MPI_Finalize()
  if (wrong > 0) stop 1
contains
  integer function below(limit)
    integer, intent(in) :: limit
    state = iand(state * 1103515245_8 + 12345_8, 2147483647_8)
    below = int(mod(state / 65536_8, int(limit, 8)))
  end function
  subroutine note(what)
    character(len=*), intent(in) :: what
    wrong = wrong + 1
    if (wrong < 20) print *, 'FAILED: round', round, what
  end subroutine
  subroutine bounds(extents)
    integer, intent(in) :: extents(:)
    integer :: d
    do d = 1, size(extents)
      l(d) = 1 + below(extents(d))
      h(d) = 1 + below(extents(d))
      s(d) = 1 + below(3)
      if (h(d) < l(d)) s(d) = -s(d)
    end do
  end subroutine
  subroutine fill(a, n)
    integer, intent(in) :: n
    integer, intent(out) :: a(n)
    integer :: i
    do i = 1, n
      a(i) = below(1000000)
    end do
  end subroutine
  ! `flat` has the n elements of the section. What arrived in `got` must be the first m, and no more.
  subroutine compare(m)
    integer, intent(in) :: m
    if (any(got(1:m) /= flat(1:m)) .or. got(m + 1) /= -1) call note('wrong elements were sent')
  end subroutine
  subroutine rank1(a)
    integer, asynchronous, intent(inout) :: a(:)
    type(MPI_Request) :: q(2)
    integer :: i, n, count
    n = 0
    do i = 1, size(a, 1)
      n = n + 1
      flat(n) = a(i)
    end do
    count = below(n + 1)
    got = -1
    call MPI_Irecv(got, most, MPI_INTEGER, 0, 1, MPI_COMM_SELF, q(1))
    call MPI_Isend(a, count, MPI_INTEGER, 0, 1, MPI_COMM_SELF, q(2))
    call MPI_Waitall(2, q, MPI_STATUSES_IGNORE)
    call compare(count)
    call fill(flat, count)
    call MPI_Irecv(a, n, MPI_INTEGER, 0, 2, MPI_COMM_SELF, q(1))
    call MPI_Send(flat, count, MPI_INTEGER, 0, 2, MPI_COMM_SELF)
    call MPI_Wait(q(1), MPI_STATUS_IGNORE)
    n = 0
    do i = 1, size(a, 1)
      n = n + 1
      if (a(i) /= flat(n)) then
        call note('wrong elements were received')
        return
      end if
    end do
    got = -1
    call MPI_Allreduce(a, got, n, MPI_INTEGER, MPI_SUM, MPI_COMM_SELF)
    call compare(n)
  end subroutine
  subroutine rank2(a)
    integer, asynchronous, intent(inout) :: a(:, :)
    type(MPI_Request) :: q(2)
    integer :: i, j, n, count
    n = 0
    do j = 1, size(a, 2)
      do i = 1, size(a, 1)
        n = n + 1
        flat(n) = a(i, j)
      end do
    end do
    count = below(n + 1)
    got = -1
    call MPI_Irecv(got, most, MPI_INTEGER, 0, 1, MPI_COMM_SELF, q(1))
    call MPI_Isend(a, count, MPI_INTEGER, 0, 1, MPI_COMM_SELF, q(2))
    call MPI_Waitall(2, q, MPI_STATUSES_IGNORE)
    call compare(count)
    call fill(flat, count)
    call MPI_Irecv(a, n, MPI_INTEGER, 0, 2, MPI_COMM_SELF, q(1))
    call MPI_Send(flat, count, MPI_INTEGER, 0, 2, MPI_COMM_SELF)
    call MPI_Wait(q(1), MPI_STATUS_IGNORE)
    n = 0
    do j = 1, size(a, 2)
      do i = 1, size(a, 1)
        n = n + 1
        if (a(i, j) /= flat(n)) then
          call note('wrong elements were received')
          return
        end if
      end do
    end do
    got = -1
    call MPI_Allreduce(a, got, n, MPI_INTEGER, MPI_SUM, MPI_COMM_SELF)
    call compare(n)
  end subroutine
  subroutine rank3(a)
    integer, asynchronous, intent(inout) :: a(:, :, :)
    type(MPI_Request) :: q(2)
    integer :: i, j, k, n, count
    n = 0
    do k = 1, size(a, 3)
      do j = 1, size(a, 2)
        do i = 1, size(a, 1)
          n = n + 1
          flat(n) = a(i, j, k)
        end do
      end do
    end do
    count = below(n + 1)
    got = -1
    call MPI_Irecv(got, most, MPI_INTEGER, 0, 1, MPI_COMM_SELF, q(1))
    call MPI_Isend(a, count, MPI_INTEGER, 0, 1, MPI_COMM_SELF, q(2))
    call MPI_Waitall(2, q, MPI_STATUSES_IGNORE)
    call compare(count)
    call fill(flat, count)
    call MPI_Irecv(a, n, MPI_INTEGER, 0, 2, MPI_COMM_SELF, q(1))
    call MPI_Send(flat, count, MPI_INTEGER, 0, 2, MPI_COMM_SELF)
    call MPI_Wait(q(1), MPI_STATUS_IGNORE)
    n = 0
    do k = 1, size(a, 3)
      do j = 1, size(a, 2)
        do i = 1, size(a, 1)
          n = n + 1
          if (a(i, j, k) /= flat(n)) then
            call note('wrong elements were received')
            return
          end if
        end do
      end do
    end do
    got = -1
    call MPI_Allreduce(a, got, n, MPI_INTEGER, MPI_SUM, MPI_COMM_SELF)
    call compare(n)
  end subroutine
  subroutine rank4(a)
    integer, asynchronous, intent(inout) :: a(:, :, :, :)
    type(MPI_Request) :: q(2)
    integer :: i, j, k, m, n, count
    n = 0
    do m = 1, size(a, 4)
      do k = 1, size(a, 3)
        do j = 1, size(a, 2)
          do i = 1, size(a, 1)
            n = n + 1
            flat(n) = a(i, j, k, m)
          end do
        end do
      end do
    end do
    count = below(n + 1)
    got = -1
    call MPI_Irecv(got, most, MPI_INTEGER, 0, 1, MPI_COMM_SELF, q(1))
    call MPI_Isend(a, count, MPI_INTEGER, 0, 1, MPI_COMM_SELF, q(2))
    call MPI_Waitall(2, q, MPI_STATUSES_IGNORE)
    call compare(count)
    call fill(flat, count)
    call MPI_Irecv(a, n, MPI_INTEGER, 0, 2, MPI_COMM_SELF, q(1))
    call MPI_Send(flat, count, MPI_INTEGER, 0, 2, MPI_COMM_SELF)
    call MPI_Wait(q(1), MPI_STATUS_IGNORE)
    n = 0
    do m = 1, size(a, 4)
      do k = 1, size(a, 3)
        do j = 1, size(a, 2)
          do i = 1, size(a, 1)
            n = n + 1
            if (a(i, j, k, m) /= flat(n)) then
              call note('wrong elements were received')
              return
            end if
          end do
        end do
      end do
    end do
    got = -1
    call MPI_Allreduce(a, got, n, MPI_INTEGER, MPI_SUM, MPI_COMM_SELF)
    call compare(n)
  end subroutine
end program
