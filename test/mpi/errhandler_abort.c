/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 2; exit: 6; output: MPI_Send: dest is .*MPI_ERR_RANK */
/* MPI_ERRORS_ABORT, set on a communicator of some processes or only this one, ends the job with the error. */
#include "check.h"

int main(int argc, char **argv)
{
    int x = 0;
    start(&argc, &argv);
    MPI_Comm comm = size > 1 ? MPI_COMM_SELF : MPI_COMM_WORLD;
    CHECK_OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    CHECK_OK(MPI_Comm_set_errhandler(comm, MPI_ERRORS_ABORT));
    if (rank == size - 1)
        MPI_Send(&x, 1, MPI_INT, size + 5, 0, comm);
    else
        MPI_Recv(&x, 1, MPI_INT, size - 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    _exit(0);
}
