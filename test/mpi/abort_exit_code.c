/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 2 4; exit: 7 */
/* MPI_Abort by one rank ends all of them, whatever they wait for, with the given exit code. */
#include "check.h"

int main(int argc, char **argv)
{
    start(&argc, &argv);
    int x = 0;
    if (rank == size - 1)
        MPI_Abort(MPI_COMM_WORLD, 7);
    if (rank % 2)
        MPI_Barrier(MPI_COMM_WORLD);
    else
        MPI_Recv(&x, 1, MPI_INT, size - 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    _exit(0);
}
