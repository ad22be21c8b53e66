/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 2 4; exit: 137 */
/* A rank killed by a signal ends the job; the launcher returns 128 + the signal's number. */
#include "check.h"
#include <signal.h>

int main(int argc, char **argv)
{
    start(&argc, &argv);
    int x = 0;
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
    if (rank == size - 1)
        raise(SIGKILL);
    MPI_Recv(&x, 1, MPI_INT, size - 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return 0;
}
