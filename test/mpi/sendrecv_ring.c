/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 2 3 4 5 8; long: 16 */
/* MPI_Sendrecv around a ring, to itself and to MPI_PROC_NULL, types and sizes differing. */
#include "check.h"

int main(int argc, char **argv)
{
    start(&argc, &argv);
    int right = (rank + 1) % size, left = (rank + size - 1) % size;
    for (int n = 1; n <= 300000; n = n * 7 + 1) {
        int *out = allocate((size_t) n * sizeof(int));
        char *in = allocate((size_t) n * sizeof(int) + 8);
        MPI_Status status;
        int count;
        /* Every rank sends its own length. */
        int mine = n - rank % 2, theirs = n - left % 2;
        fill(out, (size_t) n * sizeof(int), rank);
        CHECK_OK(MPI_Sendrecv(out, mine, MPI_INT, right, 5, in, n * (int) sizeof(int) + 8, MPI_BYTE,
                              left, 5, MPI_COMM_WORLD, &status));
        CHECK_OK(MPI_Get_count(&status, MPI_BYTE, &count));
        CHECK_INT(count, theirs * (int) sizeof(int));
        CHECK_INT(status.MPI_SOURCE, left);
        CHECK_FILLED(in, (size_t) count, left);
        free(out);
        free(in);
    }
    /* An open chain: the ends talk to nobody. */
    int up = rank + 1 < size ? rank + 1 : MPI_PROC_NULL, down = rank > 0 ? rank - 1 : MPI_PROC_NULL;
    int value = rank, got = -5;
    CHECK_OK(MPI_Sendrecv(&value, 1, MPI_INT, up, 1, &got, 1, MPI_INT, down, MPI_ANY_TAG,
                          MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    CHECK_INT(got, rank > 0 ? rank - 1 : -5);
    return end();
}
