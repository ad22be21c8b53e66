! SPDX-License-Identifier: BSD-3-Clause
! Rank 1 crashes: with an automatic array that has no room on the stack, or with a wrong address. For crash.sh.
program full_stack
    use mpi
    implicit none
    integer :: ierror, rank
    character(len=16) :: how
    call MPI_Init(ierror)
    call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
    call get_command_argument(1, how)
    if (rank == 1 .and. how == 'stack') call work(4000000)
    if (rank == 1 .and. how == 'pointer') call wrong()
    call MPI_Barrier(MPI_COMM_WORLD, ierror)
    call MPI_Finalize(ierror)
contains
    subroutine work(n)
        integer, intent(in) :: n
        real(8) :: field(n)
        field(1:n:512) = 1d0
        print *, sum(field(1:n:512))
    end subroutine work
    subroutine wrong()
        use iso_c_binding
        integer, pointer :: nowhere
        call c_f_pointer(transfer(16_c_intptr_t, c_null_ptr), nowhere)
        nowhere = 1
    end subroutine wrong
end program full_stack
