/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 2 3 4 5 8; long-args: 50000 */
/* MPI_Isend never blocks: thousands may be open in both directions before the first receive. */
#include "check.h"

int main(int argc, char **argv)
{
    start(&argc, &argv);
    int messages = argument(argc, argv, 10000);
    int right = (rank + 1) % size, left = (rank + size - 1) % size;
    int *out = allocate((size_t) messages * 64 * sizeof(int));
    int in[64];
    MPI_Request *requests = allocate((size_t) messages * sizeof(MPI_Request));
    for (int i = 0; i < messages; i++) {
        for (int k = 0; k < 64; k++)
            out[i * 64 + k] = rank * 1000003 + i * 64 + k;
        CHECK_OK(MPI_Isend(out + i * 64, 64, MPI_INT, right, i % 3, MPI_COMM_WORLD, &requests[i]));
    }
    for (int tag = 0; tag < 3; tag++) {
        for (int i = tag; i < messages; i += 3) {
            CHECK_OK(MPI_Recv(in, 64, MPI_INT, left, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
            for (int k = 0; k < 64; k++)
                CHECK_INT(in[k], left * 1000003 + i * 64 + k);
        }
    }
    CHECK_OK(MPI_Waitall(messages, requests, MPI_STATUSES_IGNORE));
    for (int i = 0; i < messages; i++)
        CHECK(requests[i] == MPI_REQUEST_NULL);
    free(requests);
    free(out);
    return end();
}
