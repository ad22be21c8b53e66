/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 2 3 4 5 8 */
/* Messages without data are messages: matched, ordered, counted; NULL buffers are fine. */
#include "check.h"

int main(int argc, char **argv)
{
    start_pairs(&argc, &argv);
    MPI_Datatype empty;
    MPI_Status status;
    CHECK_OK(MPI_Type_contiguous(0, MPI_INT, &empty));
    CHECK_OK(MPI_Type_commit(&empty));
    for (int i = 0; i < 100; i++) {
        int count = -1, x = 77;
        if (rank == 0) {
            CHECK_OK(MPI_Send(NULL, 0, MPI_DOUBLE, 1, 1, pair));
            CHECK_OK(MPI_Ssend(&x, 0, MPI_INT, 1, 1, pair));
            CHECK_OK(MPI_Send(NULL, 5, empty, 1, 2, pair));
            CHECK_OK(MPI_Send(&i, 1, MPI_INT, 1, 1, pair));
        } else {
            CHECK_OK(MPI_Recv(NULL, 0, MPI_DOUBLE, 0, 1, pair, &status));
            CHECK_OK(MPI_Get_count(&status, MPI_DOUBLE, &count));
            CHECK_INT(count, 0);
            CHECK_OK(MPI_Recv(&x, 1, MPI_INT, MPI_ANY_SOURCE, 1, pair, &status));
            CHECK_INT(x, 77);
            CHECK_OK(MPI_Get_count(&status, MPI_INT, &count));
            CHECK_INT(count, 0);
            CHECK_OK(MPI_Recv(NULL, 3, empty, 0, MPI_ANY_TAG, pair, &status));
            CHECK_INT(status.MPI_TAG, 2);
            CHECK_OK(MPI_Get_count(&status, empty, &count));
            CHECK_INT(count, 0);
            CHECK_OK(MPI_Recv(&x, 1, MPI_INT, 0, 1, pair, &status));
            CHECK_INT(x, i);
        }
    }
    CHECK_OK(MPI_Type_free(&empty));
    return end();
}
