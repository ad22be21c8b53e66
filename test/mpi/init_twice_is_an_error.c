/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 2 */
/* MPI_Init a second time is an error, which the error handler hears of; the first one goes on working. */
#include "check.h"

int main(int argc, char **argv)
{
    int flag, provided, sum = 0, one = 1;

    CHECK_OK(MPI_Initialized(&flag));
    CHECK_INT(flag, 0);
    start(&argc, &argv);
    CHECK_OK(MPI_Initialized(&flag));
    CHECK_INT(flag, 1);
    return_errors(MPI_COMM_WORLD);
    CHECK_CLASS(MPI_Init(&argc, &argv), MPI_ERR_OTHER);
    CHECK_CLASS(MPI_Init_thread(&argc, &argv, MPI_THREAD_SINGLE, &provided), MPI_ERR_OTHER);
    CHECK_OK(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
    CHECK_INT(sum, size);
    CHECK_OK(MPI_Finalized(&flag));
    CHECK_INT(flag, 0);
    CHECK_OK(MPI_Finalize());
    CHECK_OK(MPI_Finalized(&flag));
    CHECK_INT(flag, 1);
    CHECK_OK(MPI_Initialized(&flag));
    CHECK_INT(flag, 1);
    return 0;
}
