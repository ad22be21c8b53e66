/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 2 3 4 5 8 */
/* A posted receive can be cancelled; the message it would have got goes to the next receive. */
#include "check.h"

int main(int argc, char **argv)
{
    start(&argc, &argv);
    MPI_Request cancelled, other;
    MPI_Status status;
    int flag = 0, a = 0, b = 0, to = (rank + 1) % size, from = (rank + size - 1) % size, value = 42;
    CHECK_OK(MPI_Irecv(&a, 1, MPI_INT, from, 1, MPI_COMM_WORLD, &cancelled));
    CHECK_OK(MPI_Cancel(&cancelled));
    CHECK_OK(MPI_Wait(&cancelled, &status));
    CHECK(cancelled == MPI_REQUEST_NULL);
    CHECK_OK(MPI_Test_cancelled(&status, &flag));
    CHECK_INT(flag, 1);
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));

    CHECK_OK(MPI_Irecv(&b, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &other));
    CHECK_OK(MPI_Send(&value, 1, MPI_INT, to, 1, MPI_COMM_WORLD));
    CHECK_OK(MPI_Wait(&other, &status));
    CHECK_OK(MPI_Test_cancelled(&status, &flag));
    CHECK_INT(flag, 0);
    CHECK_INT(a, 0);
    CHECK_INT(b, 42);

    /* A receive that has its message already is not cancelled by MPI_Cancel. */
    b = 0;
    CHECK_OK(MPI_Irecv(&b, 1, MPI_INT, from, 2, MPI_COMM_WORLD, &other));
    CHECK_OK(MPI_Send(&value, 1, MPI_INT, to, 2, MPI_COMM_WORLD));
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
    do
        CHECK_OK(MPI_Request_get_status(other, &flag, MPI_STATUS_IGNORE));
    while (!flag);
    CHECK_OK(MPI_Cancel(&other));
    CHECK_OK(MPI_Wait(&other, &status));
    CHECK_OK(MPI_Test_cancelled(&status, &flag));
    CHECK_INT(flag, 0);
    CHECK_INT(b, 42);

    /* Of many posted receives, cancelling every second leaves the others in order. */
    MPI_Request requests[100];
    int got[100];
    for (int i = 0; i < 100; i++)
        CHECK_OK(MPI_Irecv(&got[i], 1, MPI_INT, from, 3, MPI_COMM_WORLD, &requests[i]));
    for (int i = 0; i < 100; i += 2) {
        CHECK_OK(MPI_Cancel(&requests[i]));
        CHECK_OK(MPI_Wait(&requests[i], &status));
        CHECK_OK(MPI_Test_cancelled(&status, &flag));
        CHECK_INT(flag, 1);
    }
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
    for (int i = 1; i < 100; i += 2)
        CHECK_OK(MPI_Send(&i, 1, MPI_INT, to, 3, MPI_COMM_WORLD));
    for (int i = 1; i < 100; i += 2) {
        CHECK_OK(MPI_Wait(&requests[i], MPI_STATUS_IGNORE));
        CHECK_INT(got[i], i);
    }
    return end();
}
