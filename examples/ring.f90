! SPDX-License-Identifier: BSD-3-Clause
!
! As ring.c: a token goes once around, and each rank adds its number.
program ring
    use mpi_f08
    implicit none
    integer :: rank, ranks, next, previous, token, total
    type(MPI_Request) :: request

    call MPI_Init()
    call MPI_Comm_rank(MPI_COMM_WORLD, rank)
    call MPI_Comm_size(MPI_COMM_WORLD, ranks)
    next = modulo(rank + 1, ranks)
    previous = modulo(rank - 1, ranks)
    token = 0

    if (rank == 0) then
        call MPI_Irecv(total, 1, MPI_INTEGER, previous, 0, MPI_COMM_WORLD, request)
        call MPI_Send(token, 1, MPI_INTEGER, next, 0, MPI_COMM_WORLD)
        call MPI_Wait(request, MPI_STATUS_IGNORE)
        print '(a, i0, a, i0)', 'The token passed ', ranks, ' ranks and returned with ', total
        if (total /= ranks * (ranks - 1) / 2) call MPI_Abort(MPI_COMM_WORLD, 1)
    else
        call MPI_Recv(token, 1, MPI_INTEGER, previous, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE)
        token = token + rank
        call MPI_Send(token, 1, MPI_INTEGER, next, 0, MPI_COMM_WORLD)
    end if
    call MPI_Finalize()
end program ring
