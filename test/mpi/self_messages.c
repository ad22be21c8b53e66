/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 2 3 4 5 8 */
/* A rank can send to itself: expected, unexpected, synchronous, large, in any order. */
#include "check.h"

static void exchange(MPI_Comm comm, int me)
{
    static const int sizes[] = { 0, 1, 4096, 70000, 4000000 };
    for (int s = 0; s < 5; s++) {
        int n = sizes[s], flag = 0;
        char *a = allocate((size_t) n), *b = allocate((size_t) n);
        char *c = allocate((size_t) n), *d = allocate((size_t) n);
        MPI_Request r[4];
        fill(a, (size_t) n, 1);
        fill(b, (size_t) n, 2);
        CHECK_OK(MPI_Irecv(c, n, MPI_BYTE, me, 1, comm, &r[0]));
        CHECK_OK(MPI_Isend(a, n, MPI_BYTE, me, 1, comm, &r[1]));
        CHECK_OK(MPI_Issend(b, n, MPI_BYTE, me, 2, comm, &r[2]));
        CHECK_OK(MPI_Test(&r[2], &flag, MPI_STATUS_IGNORE));
        CHECK_INT(flag, 0);
        CHECK_OK(MPI_Irecv(d, n, MPI_BYTE, MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &r[3]));
        CHECK_OK(MPI_Waitall(4, r, MPI_STATUSES_IGNORE));
        CHECK_FILLED(c, (size_t) n, 1);
        CHECK_FILLED(d, (size_t) n, 2);
        memset(c, 0, (size_t) n);
        CHECK_OK(MPI_Sendrecv(b, n, MPI_BYTE, me, 9, c, n, MPI_BYTE, me, 9, comm,
                              MPI_STATUS_IGNORE));
        CHECK_FILLED(c, (size_t) n, 2);
        free(a);
        free(b);
        free(c);
        free(d);
    }
    int values[50];
    MPI_Request sends[50];
    for (int i = 0; i < 50; i++) {
        values[i] = i;
        CHECK_OK(MPI_Isend(&values[i], 1, MPI_INT, me, i, comm, &sends[i]));
    }
    for (int i = 49; i >= 0; i--) {
        int got = -1;
        CHECK_OK(MPI_Recv(&got, 1, MPI_INT, me, i, comm, MPI_STATUS_IGNORE));
        CHECK_INT(got, i);
    }
    CHECK_OK(MPI_Waitall(50, sends, MPI_STATUSES_IGNORE));
}

int main(int argc, char **argv)
{
    start(&argc, &argv);
    exchange(MPI_COMM_WORLD, rank);
    exchange(MPI_COMM_SELF, 0);
    return end();
}
