/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 2 3 4 5 8; long-args: 20000 */
/* Messages with one tag arrive in the order sent, whatever their sizes and send modes. */
#include "check.h"

enum { MOST_INTS = 60000 };

/* Small, around usual eager limits, and large by turns. */
static int ints_of(int i)
{
    static const int sizes[] = { 1, 1000, 2, 40000, 1024, 16, 16383, 1, 60000, 2048, 4096, 3 };
    return sizes[i % 12];
}

int main(int argc, char **argv)
{
    start_pairs(&argc, &argv);
    int messages = argument(argc, argv, 600);
    int *buffer = allocate(MOST_INTS * sizeof(int));
    MPI_Request request[8];
    int *slots[8];
    for (int i = 0; i < 8; i++) {
        slots[i] = allocate(MOST_INTS * sizeof(int));
        request[i] = MPI_REQUEST_NULL;
    }
    for (int i = 0; i < messages; i++) {
        int s = i % 8, n = ints_of(i);
        CHECK_OK(MPI_Wait(&request[s], MPI_STATUS_IGNORE));
        if (rank == 0) {
            slots[s][0] = slots[s][n - 1] = i;
            if (i % 5 == 3)
                CHECK_OK(MPI_Issend(slots[s], n, MPI_INT, 1, 7, pair, &request[s]));
            else
                CHECK_OK(MPI_Isend(slots[s], n, MPI_INT, 1, 7, pair, &request[s]));
        } else {
            MPI_Status status;
            int count;
            CHECK_OK(MPI_Recv(buffer, MOST_INTS, MPI_INT, i % 3 ? 0 : MPI_ANY_SOURCE,
                              i % 2 ? 7 : MPI_ANY_TAG, pair, &status));
            CHECK_OK(MPI_Get_count(&status, MPI_INT, &count));
            CHECK_INT(count, n);
            CHECK_INT(buffer[0], i);
            CHECK_INT(buffer[n - 1], i);
        }
    }
    CHECK_OK(MPI_Waitall(8, request, MPI_STATUSES_IGNORE));
    for (int i = 0; i < 8; i++)
        free(slots[i]);
    free(buffer);
    return end();
}
