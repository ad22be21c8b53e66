/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 2 4; exit: nonzero */
/* A rank that leaves with 0 but without MPI_Finalize is a failure, and the others do not hang. */
#include "check.h"

int main(int argc, char **argv)
{
    start(&argc, &argv);
    int x = 0;
    if (rank == 1)
        _exit(0);
    MPI_Recv(&x, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return 0;
}
