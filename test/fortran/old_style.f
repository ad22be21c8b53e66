! SPDX-License-Identifier: BSD-3-Clause
! Fixed form and mpif.h: messages, MPI_BOTTOM, statuses, attributes of
! both generations, operations, error handlers, strings, topologies.
      program old
      implicit none
      include 'mpif.h'
      integer e, r, n, up, dn, i, op, kv, kv1, dup, cart, typ, len, cls
      integer st(MPI_STATUS_SIZE), sts(MPI_STATUS_SIZE, 2), q(2)
      integer a(12), b(12), blk(2), types(2), cnt, v, idx, req, eh
      integer oaddr(2)
      integer(kind=MPI_ADDRESS_KIND) dsp(2), x, lb, ext
      double precision d
      logical flag, per(1), keep(1)
      character*(MPI_MAX_PROCESSOR_NAME) name
      character*(MPI_MAX_ERROR_STRING) text
      character*20 short
      integer called
      common /seen/ called
      common /blk/ d, i
      external product, copyx, delx, copy1, del1, handler
      called = 0
      call mpi_init(e)
      call mpi_comm_rank(MPI_COMM_WORLD, r, e)
      call mpi_comm_size(MPI_COMM_WORLD, n, e)
      up = mod(r + 1, n)
      dn = mod(r + n - 1, n)
      do i = 1, 12
        a(i) = 100 * r + i
        b(i) = 0
      end do
      call mpi_sendrecv(a, 12, MPI_INTEGER, up, 5, b, 12, MPI_INTEGER,
     &  dn, 5, MPI_COMM_WORLD, st, e)
      call mpi_get_count(st, MPI_INTEGER, cnt, e)
      call check(b(12) .eq. 100 * dn + 12, 1)
      call check(st(MPI_SOURCE) .eq. dn .and. st(MPI_TAG) .eq. 5, 2)
      call check(cnt .eq. 12, 3)
      call mpi_type_vector(3, 1, 4, MPI_INTEGER, typ, e)
      call mpi_type_commit(typ, e)
      call mpi_irecv(b, 3, MPI_INTEGER, dn, 6, MPI_COMM_WORLD, q(1), e)
      call mpi_isend(a, 1, typ, up, 6, MPI_COMM_WORLD, q(2), e)
      call mpi_waitall(2, q, sts, e)
      call check(b(2) .eq. 100 * dn + 5, 4)
      call check(sts(MPI_SOURCE, 1) .eq. dn, 5)
      call check(q(1) .eq. MPI_REQUEST_NULL, 6)
      call mpi_type_free(typ, e)
! a request's position counts from 1
      q(1) = MPI_REQUEST_NULL
      call mpi_irecv(b, 1, MPI_INTEGER, dn, 7, MPI_COMM_WORLD, q(2), e)
      call mpi_send(a, 1, MPI_INTEGER, up, 7, MPI_COMM_WORLD, e)
      call mpi_waitany(2, q, idx, MPI_STATUS_IGNORE, e)
      call check(idx .eq. 2, 7)
      call mpi_waitany(2, q, idx, MPI_STATUS_IGNORE, e)
      call check(idx .eq. MPI_UNDEFINED, 8)
! a structure from MPI_BOTTOM
      d = r + 0.5d0
      i = r
      call mpi_get_address(d, dsp(1), e)
      call mpi_get_address(i, dsp(2), e)
      blk(1) = 1
      blk(2) = 1
      types(1) = MPI_DOUBLE_PRECISION
      types(2) = MPI_INTEGER
      call mpi_type_create_struct(2, blk, dsp, types, typ, e)
      call mpi_type_commit(typ, e)
      call mpi_bcast(MPI_BOTTOM, 1, typ, n - 1, MPI_COMM_WORLD, e)
      call check(d .eq. n - 0.5d0 .and. i .eq. n - 1, 9)
      call mpi_type_free(typ, e)
! MPI-1: addresses are integers
      oaddr(1) = 0
      oaddr(2) = 16
      call mpi_type_struct(2, blk, oaddr, types, typ, e)
      call mpi_type_get_extent(typ, lb, ext, e)
      call check(ext .eq. 24 .or. ext .eq. 20, 10)
      call mpi_type_extent(typ, v, e)
      call check(v .eq. ext, 11)
      call mpi_type_free(typ, e)
      b(1) = r + 2
      call mpi_op_create(product, .true., op, e)
      call mpi_allreduce(MPI_IN_PLACE, b, 1, MPI_INTEGER, op,
     &  MPI_COMM_WORLD, e)
      v = 1
      do i = 2, n + 1
        v = v * i
      end do
      call check(b(1) .eq. v, 12)
      call mpi_op_free(op, e)
! attributes: the copy callback adds its extra state
      call mpi_comm_create_keyval(copyx, delx, kv,
     &  7_MPI_ADDRESS_KIND, e)
      call mpi_keyval_create(copy1, del1, kv1, 3, e)
      call mpi_comm_set_attr(MPI_COMM_WORLD, kv,
     &  -41_MPI_ADDRESS_KIND * 2_MPI_ADDRESS_KIND**33, e)
      call mpi_attr_put(MPI_COMM_WORLD, kv1, -5, e)
      call mpi_comm_get_attr(MPI_COMM_WORLD, kv1, x, flag, e)
      call check(flag .and. x .eq. -5, 13)
      call mpi_comm_dup(MPI_COMM_WORLD, dup, e)
      call mpi_comm_get_attr(dup, kv, x, flag, e)
      call check(flag .and.
     &  x .eq. -41_8 * 2_8**33 + 7, 14)
      call mpi_attr_get(dup, kv1, v, flag, e)
      call check(flag .and. v .eq. -2, 15)
      call mpi_comm_free(dup, e)
      call check(called .eq. 11, 16)
      call mpi_comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, x, flag, e)
      call check(flag .and. x .ge. 32767, 17)
      call mpi_comm_free_keyval(kv, e)
      call check(kv .eq. MPI_KEYVAL_INVALID, 18)
      call mpi_comm_create_keyval(MPI_COMM_DUP_FN,
     &  MPI_COMM_NULL_DELETE_FN, kv, 0_MPI_ADDRESS_KIND, e)
      call mpi_comm_set_attr(MPI_COMM_SELF, kv, 99_8, e)
      call mpi_comm_dup(MPI_COMM_SELF, dup, e)
      call mpi_comm_get_attr(dup, kv, x, flag, e)
      call check(flag .and. x .eq. 99, 19)
      call mpi_comm_free(dup, e)
      per(1) = .true.
      call mpi_cart_create(MPI_COMM_WORLD, 1, n, per, .false., cart, e)
      call mpi_cart_shift(cart, 0, 1, i, v, e)
      call check(i .eq. dn .and. v .eq. up, 20)
      keep(1) = .false.
      call mpi_cart_sub(cart, keep, dup, e)
      call mpi_comm_size(dup, v, e)
      call check(v .eq. 1, 21)
      call mpi_get_processor_name(name, len, e)
      call check(len .ge. 1 .and. name(len+1:len+1) .eq. ' ', 22)
! errors
      call mpi_comm_set_errhandler(cart, MPI_ERRORS_RETURN, e)
      call mpi_send(a, 1, MPI_INTEGER, n + 4, 0, cart, e)
      call mpi_error_class(e, cls, i)
      call check(cls .eq. MPI_ERR_RANK, 23)
      call mpi_error_string(e, text, len, i)
      call check(len .gt. 4 .and. text(len+1:len+1) .eq. ' ', 24)
      call mpi_comm_create_errhandler(handler, eh, e)
      call mpi_comm_set_errhandler(cart, eh, e)
      call mpi_send(a, -1, MPI_INTEGER, 0, 0, cart, e)
      call check(called .eq. 1011, 25)
      call mpi_comm_set_name(cart, '  a name  ', e)
      call mpi_comm_get_name(cart, short, len, e)
      call check(short .eq. '  a name' .and. len .eq. 8, 26)
      call mpi_sizeof(d, v, e)
      call check(v .eq. 8, 27)
      call check(MPI_WTIME() .gt. 0d0, 28)
      call mpi_send_init(a, 1, MPI_INTEGER, MPI_PROC_NULL, 0, cart,
     &  req, e)
      call mpi_start(req, e)
      call mpi_wait(req, st, e)
      call mpi_request_free(req, e)
      call mpi_finalize(e)
      end

      subroutine check(good, number)
      logical good
      integer number, e
      include 'mpif.h'
      if (good) return
      print *, 'FAILED check', number
      call mpi_abort(MPI_COMM_WORLD, 1, e)
      end

      subroutine product(x, y, n, t)
      integer n, t, i, x(n), y(n)
      do i = 1, n
        y(i) = y(i) * x(i)
      end do
      end

      subroutine copyx(c, kv, ex, vin, vout, flag, e)
      include 'mpif.h'
      integer c, kv, e
      integer(kind=MPI_ADDRESS_KIND) ex, vin, vout
      logical flag
      vout = vin + ex
      flag = .true.
      e = MPI_SUCCESS
      end

      subroutine delx(c, kv, v, ex, e)
      include 'mpif.h'
      integer c, kv, e, called
      integer(kind=MPI_ADDRESS_KIND) v, ex
      common /seen/ called
      called = called + 1
      e = MPI_SUCCESS
      end

      subroutine copy1(c, kv, ex, vin, vout, flag, e)
      include 'mpif.h'
      integer c, kv, e, ex, vin, vout
      logical flag
      vout = vin + ex
      flag = .true.
      e = MPI_SUCCESS
      end

      subroutine del1(c, kv, v, ex, e)
      include 'mpif.h'
      integer c, kv, e, v, ex, called
      common /seen/ called
      called = called + 10
      e = MPI_SUCCESS
      end

      subroutine handler(c, code)
      include 'mpif.h'
      integer c, code, called, cls, e
      common /seen/ called
      call mpi_error_class(code, cls, e)
      if (cls .eq. MPI_ERR_COUNT) called = called + 1000
      end
