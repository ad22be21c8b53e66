/* SPDX-License-Identifier: BSD-3-Clause */
/* All ranks send each other 1 MiB in runs of 4 bytes at the same time, again and again, and compare all bytes. Such messages go as
 * packets, so that each rank gets many packets of several ranks at once. */
#include "../mpi/check.h"

enum { BYTES = 1 << 20, RUN = 4, SPAN = 2 * BYTES, ROUNDS = 8, RANKS_MOST = 8 };

static char *received[RANKS_MOST];

/* Returns true if the runs have the sender's bytes, and the gaps what was there before. */
static int is_right(const char *bytes, char sent)
{
    for (int i = 0; i < SPAN - RUN; i++)
        if (bytes[i] != (i % (2 * RUN) < RUN ? sent : 99))
            return 0;
    return 1;
}

int main(int argc, char **argv)
{
    MPI_Datatype runs;
    start(&argc, &argv);
    CHECK(size <= RANKS_MOST);
    char *sent = allocate(SPAN);
    for (int other = 0; other < size; other++)
        received[other] = allocate(SPAN);
    CHECK_OK(MPI_Type_vector(BYTES / RUN, RUN, 2 * RUN, MPI_BYTE, &runs));
    CHECK_OK(MPI_Type_commit(&runs));
    for (int round = 0; round < ROUNDS; round++) {
        MPI_Request requests[2 * RANKS_MOST];
        int count = 0;
        memset(sent, rank + round, SPAN);
        for (int other = 0; other < size; other++) {
            if (other == rank)
                continue;
            memset(received[other], 99, SPAN);
            CHECK_OK(MPI_Irecv(received[other], 1, runs, other, 0, MPI_COMM_WORLD, &requests[count++]));
            CHECK_OK(MPI_Isend(sent, 1, runs, other, 0, MPI_COMM_WORLD, &requests[count++]));
        }
        CHECK_OK(MPI_Waitall(count, requests, MPI_STATUSES_IGNORE));
        for (int other = 0; other < size; other++)
            CHECK(other == rank || is_right(received[other], (char)(other + round)));
    }
    CHECK_OK(MPI_Type_free(&runs));
    for (int other = 0; other < size; other++)
        free(received[other]);
    free(sent);
    return end();
}
