/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 2 4 */
/* Messages on a duplicate never meet those on the original, whatever the wildcards. */
#include "check.h"

int main(int argc, char **argv)
{
    start(&argc, &argv);
    enum { COMMS = 10 };
    MPI_Comm comms[COMMS];
    MPI_Request requests[COMMS];
    int got[COMMS], right = (rank + 1) % size, left = (rank + size - 1) % size;
    comms[0] = MPI_COMM_WORLD;
    for (int i = 1; i < COMMS; i++)
        CHECK_OK(MPI_Comm_dup(comms[i / 2], &comms[i]));
    for (int i = 0; i < COMMS; i++)
        CHECK_OK(MPI_Irecv(&got[i], 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, comms[i],
                           &requests[i]));
    for (int k = 0; k < COMMS; k++) {
        int i = k * 7 % COMMS, value = rank * 100 + i;
        CHECK_OK(MPI_Send(&value, 1, MPI_INT, right, 5, comms[i]));
    }
    CHECK_OK(MPI_Waitall(COMMS, requests, MPI_STATUSES_IGNORE));
    for (int i = 0; i < COMMS; i++)
        CHECK_INT(got[i], left * 100 + i);
    /* Unexpected ones too: received in another order than sent. */
    int values[COMMS];
    for (int i = 0; i < COMMS; i++) {
        values[i] = i;
        CHECK_OK(MPI_Isend(&values[i], 1, MPI_INT, right, 5, comms[i], &requests[i]));
    }
    for (int i = COMMS - 1; i >= 0; i--) {
        CHECK_OK(MPI_Recv(&got[0], 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, comms[i],
                          MPI_STATUS_IGNORE));
        CHECK_INT(got[0], i);
    }
    CHECK_OK(MPI_Waitall(COMMS, requests, MPI_STATUSES_IGNORE));
    for (int i = 1; i < COMMS; i++) {
        CHECK_OK(MPI_Comm_free(&comms[i]));
        CHECK(comms[i] == MPI_COMM_NULL);
    }
    return end();
}
