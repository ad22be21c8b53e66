/* SPDX-License-Identifier: BSD-3-Clause */

/* What a project of one file needs MPI for. Valid C and C++. */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    int rank, sum;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0) {
        printf("sum of ranks: %d\n", sum);
    }
    MPI_Finalize();
    return 0;
}
