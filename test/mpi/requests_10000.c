/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 2 3 4 5 8; args: 10000; long-args: 100000 */
/* Ten thousand receives and as many sends may be open at the same time; each message finds its own,
 * whatever the order in which receives are posted, and every call that completes many gives each
 * once. */
#include "check.h"

static int n, to, from;

/* Receives before sends or after them; the i-th receive has tag (stride * i) % n. */
static void round_trip(int stride, int receives_first, int way)
{
    MPI_Request *requests = allocate((size_t)(2 * n) * sizeof *requests);
    MPI_Status *statuses = allocate((size_t)(2 * n) * sizeof *statuses);
    int *in = allocate((size_t)n * sizeof *in), *out = allocate((size_t)n * sizeof *out);
    int *indices = allocate((size_t)(2 * n) * sizeof *indices),
        *seen = allocate((size_t)(2 * n) * sizeof *seen);
    for (int part = 0; part < 2; part++) {
        for (int i = 0; i < n; i++) {
            int tag = (int)((long long)stride * i % n);
            out[i] = rank * 7 + i;
            if ((part == 0) == receives_first)
                CHECK_OK(MPI_Irecv(&in[tag], 1, MPI_INT, i % 3 ? from : MPI_ANY_SOURCE, tag,
                                   MPI_COMM_WORLD, &requests[tag]));
        }
        for (int i = 0; i < n && (part == 0) != receives_first; i++)
            CHECK_OK(MPI_Isend(&out[i], 1, MPI_INT, to, i, MPI_COMM_WORLD, &requests[n + i]));
        CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
    }
    if (way == 0) {
        CHECK_OK(MPI_Waitall(2 * n, requests, statuses));
    } else {
        for (int left = 2 * n, count; left; left -= count) {
            CHECK_OK(MPI_Waitsome(2 * n, requests, &count, indices, MPI_STATUSES_IGNORE));
            CHECK(count > 0 && count <= left);
            for (int k = 0; k < count; k++)
                CHECK_INT(seen[indices[k]]++, 0);
        }
    }
    for (int i = 0; i < n; i++) {
        CHECK_INT(in[i], from * 7 + i);
        CHECK(requests[i] == MPI_REQUEST_NULL && requests[n + i] == MPI_REQUEST_NULL);
        if (way == 0) {
            CHECK_INT(statuses[i].MPI_SOURCE, from);
            CHECK_INT(statuses[i].MPI_TAG, i);
        }
    }
    free(requests);
    free(statuses);
    free(in);
    free(out);
    free(indices);
    free(seen);
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
}

int main(int argc, char **argv)
{
    start(&argc, &argv);
    n = argument(argc, argv, 10000);
    to = (rank + 1) % size;
    from = (rank + size - 1) % size;
    round_trip(1, 1, 0);
    round_trip(n - 1, 0, 1);
    round_trip(7, 1, 1);
    return end();
}
