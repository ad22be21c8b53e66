/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 2 3; exit: nonzero; output: without calling .*MPI_Session_finalize; needs: MPI_Session_init */
/* A program that has ended one session and not another one has not ended properly, and the launcher says so. */
#include "check.h"

int main(void)
{
    static MPI_Session first, second;
    CHECK_OK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &first));
    CHECK_OK(MPI_Session_finalize(&first));
    CHECK_OK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &first));
    CHECK_OK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &second));
    CHECK_OK(MPI_Session_finalize(&first));
    return 0;
}
