/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 2; env: OMPI_MCA_mpi_initial_errhandler=mpi_errors_return; needs: MPI_Session_init */
/* What belongs to the World Model is refused while only sessions go on: MPI_Query_thread, MPI_Is_thread_main, MPI_Finalize. */
#include "check.h"

int main(void)
{
    MPI_Session session;
    int n;
    CHECK_OK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session));
    CHECK_CLASS(MPI_Query_thread(&n), MPI_ERR_OTHER);
    CHECK_CLASS(MPI_Is_thread_main(&n), MPI_ERR_OTHER);
    CHECK_CLASS(MPI_Finalize(), MPI_ERR_OTHER);
    CHECK_OK(MPI_Session_finalize(&session));
    return 0;
}
