/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 2 3 4 5 8; long-args: 20000 */
/* Unexpected messages are found by tag in any order, whatever stands before them. */
#include "check.h"

int main(int argc, char **argv)
{
    start_pairs(&argc, &argv);
    int messages = argument(argc, argv, 2000);
    if (rank == 0) {
        for (int i = 0; i < messages; i++)
            CHECK_OK(MPI_Send(&i, 1, MPI_INT, 1, i, pair));
        CHECK_OK(MPI_Ssend(NULL, 0, MPI_INT, 1, messages, pair));
    } else {
        MPI_Status status;
        int got = -1;
        CHECK_OK(MPI_Recv(NULL, 0, MPI_INT, 0, messages, pair, MPI_STATUS_IGNORE));
        for (int i = messages - 1; i >= 0; i -= 2) {
            CHECK_OK(MPI_Recv(&got, 1, MPI_INT, 0, i, pair, &status));
            CHECK_INT(got, i);
        }
        /* What is left comes to a wildcard in the order it was sent. */
        for (int i = messages % 2; i < messages; i += 2) {
            CHECK_OK(MPI_Recv(&got, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, pair,
                              &status));
            CHECK_INT(got, i);
            CHECK_INT(status.MPI_TAG, i);
        }
    }
    return end();
}
