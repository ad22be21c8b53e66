! SPDX-License-Identifier: BSD-3-Clause
! The sum of all ranks, from rank 0.
program rank_sum
  use mpi_f08
  implicit none
  integer :: rank, total
  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Reduce(rank, total, 1, MPI_INTEGER, MPI_SUM, 0, MPI_COMM_WORLD)
  if (rank == 0) print '(a,i0)', 'sum of ranks: ', total
  call MPI_Finalize()
end program
