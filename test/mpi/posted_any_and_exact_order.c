/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 2 3 4 5 8 */
/* Of several posted receives that fit a message, the one posted first gets it: all four kinds. */
#include "check.h"

enum { RECEIVES = 240 };

int main(int argc, char **argv)
{
    start_pairs(&argc, &argv);
    int got[RECEIVES];
    MPI_Request requests[RECEIVES];
    if (rank == 0) {
        for (int i = 0; i < RECEIVES; i++) {
            /* Kinds by turns in a changing order: exact, any tag, any source, both. */
            int kind = (i + i / 4) % 4;
            got[i] = -1;
            CHECK_OK(MPI_Irecv(&got[i], 1, MPI_INT, kind & 2 ? MPI_ANY_SOURCE : 1,
                               kind & 1 ? MPI_ANY_TAG : 5, pair, &requests[i]));
        }
        CHECK_OK(MPI_Send(NULL, 0, MPI_INT, 1, 0, pair));
        CHECK_OK(MPI_Waitall(RECEIVES, requests, MPI_STATUSES_IGNORE));
        for (int i = 0; i < RECEIVES; i++)
            CHECK_INT(got[i], i);
    } else if (rank == 1) {
        CHECK_OK(MPI_Recv(NULL, 0, MPI_INT, 0, 0, pair, MPI_STATUS_IGNORE));
        for (int i = 0; i < RECEIVES; i++)
            CHECK_OK(MPI_Send(&i, 1, MPI_INT, 0, 5, pair));
    }
    /* A message that does not fit the first posted receive goes to the next that it fits. */
    if (rank == 0) {
        int a = 0, b = 0, c = 0;
        MPI_Request r[3];
        CHECK_OK(MPI_Irecv(&a, 1, MPI_INT, 1, 1, pair, &r[0]));
        CHECK_OK(MPI_Irecv(&b, 1, MPI_INT, MPI_ANY_SOURCE, 2, pair, &r[1]));
        CHECK_OK(MPI_Irecv(&c, 1, MPI_INT, 1, MPI_ANY_TAG, pair, &r[2]));
        CHECK_OK(MPI_Send(NULL, 0, MPI_INT, 1, 0, pair));
        CHECK_OK(MPI_Waitall(3, r, MPI_STATUSES_IGNORE));
        CHECK_INT(c, 33);
        CHECK_INT(b, 22);
        CHECK_INT(a, 11);
    } else if (rank == 1) {
        int values[3] = { 33, 22, 11 };
        CHECK_OK(MPI_Recv(NULL, 0, MPI_INT, 0, 0, pair, MPI_STATUS_IGNORE));
        for (int i = 0; i < 3; i++)
            CHECK_OK(MPI_Send(&values[i], 1, MPI_INT, 0, 3 - i, pair));
    }
    return end();
}
