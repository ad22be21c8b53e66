/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 2; exit: nonzero; output: (?i)mpi_err_rank|invalid rank */
/* Without a handler of its own a program ends at its first error, and the message says which. */
#include "check.h"

int main(int argc, char **argv)
{
    int x = 0;
    start(&argc, &argv);
    if (rank == size - 1)
        MPI_Send(&x, 1, MPI_INT, size + 5, 0, MPI_COMM_WORLD);
    else
        MPI_Recv(&x, 1, MPI_INT, size - 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    /* Only reached if the error was not fatal: then the exit status is what the test is not for. */
    _exit(0);
}
