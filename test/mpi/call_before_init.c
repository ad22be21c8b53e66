/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1; exit: nonzero; output: (?i)mpi_init|initiali[sz]|abort */
/* Communicating before MPI_Init ends the program with a message, not with a crash or a hang. */
#include "check.h"

int main(void)
{
    int x = 0;
    MPI_Send(&x, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
    _exit(0);
}
