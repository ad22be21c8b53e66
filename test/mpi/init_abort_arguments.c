/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 2; env: OMPI_MCA_mpi_initial_errhandler=mpi_errors_return */
/* Wrong arguments of MPI_Init_thread leave MPI unstarted, those of MPI_Abort leave it running. */
#include "check.h"

int main(int argc, char **argv)
{
    int flag, provided;
    CHECK_CLASS(MPI_Init_thread(&argc, &argv, MPI_THREAD_SINGLE, NULL), MPI_ERR_ARG);
    CHECK_OK(MPI_Initialized(&flag));
    CHECK_INT(flag, 0);
    CHECK_OK(MPI_Init_thread(&argc, &argv, MPI_THREAD_SINGLE, &provided));
    check_ranks();
    return_errors(MPI_COMM_WORLD);
    return_errors(MPI_COMM_SELF);
    CHECK_CLASS(MPI_Abort(MPI_COMM_NULL, 3), MPI_ERR_COMM);
    CHECK_CLASS(MPI_Abort((MPI_Comm)(void *)MPI_INT, 3), MPI_ERR_COMM);
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
    return end();
}
