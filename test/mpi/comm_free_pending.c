/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 2 */
/* A communicator freed with open messages lets them finish. */
#include "check.h"

int main(int argc, char **argv)
{
    start(&argc, &argv);
    for (int round = 0; round < 20; round++) {
        MPI_Comm comm;
        MPI_Request requests[2];
        int n = round % 2 ? 100000 : 10;
        int *out = allocate((size_t) n * sizeof(int)), *in = allocate((size_t) n * sizeof(int));
        CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
        for (int i = 0; i < n; i++)
            out[i] = i + rank + round;
        CHECK_OK(MPI_Irecv(in, n, MPI_INT, 1 - rank, 1, comm, &requests[0]));
        CHECK_OK(MPI_Isend(out, n, MPI_INT, 1 - rank, 1, comm, &requests[1]));
        CHECK_OK(MPI_Comm_free(&comm));
        CHECK(comm == MPI_COMM_NULL);
        CHECK_OK(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
        for (int i = 0; i < n; i++)
            CHECK_INT(in[i], i + 1 - rank + round);
        free(out);
        free(in);
    }
    return end();
}
