/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 2; exit: nonzero; output: MPI_COMM_WORLD.*MPI_Init; needs: MPI_Session_init */
/* MPI_COMM_WORLD does not come with a session: using it is an error that says so, not a crash. */
#include "check.h"

int main(void)
{
    MPI_Session session;
    int n;
    CHECK_OK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session));
    MPI_Comm_size(MPI_COMM_WORLD, &n);
    CHECK_OK(MPI_Session_finalize(&session));
    _exit(0);
}
