/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 2 3; args: 24; long-args: 512 */
/* Far more unexpected bytes than any ring holds reach a receiver that comes late. args: MiB. */
#include "check.h"

enum { BYTES = 4000 };

int main(int argc, char **argv)
{
    start(&argc, &argv);
    int messages = argument(argc, argv, 24) * (1 << 20) / BYTES;
    unsigned char buffer[BYTES];
    int dummy = 0;
    if (rank != 0) {
        MPI_Request *requests = allocate((size_t) messages * sizeof(MPI_Request));
        unsigned char *out = allocate((size_t) messages * BYTES);
        for (int i = 0; i < messages; i++) {
            fill(out + (size_t) i * BYTES, BYTES, rank + i);
            CHECK_OK(MPI_Isend(out + (size_t) i * BYTES, BYTES, MPI_BYTE, 0, 1, MPI_COMM_WORLD,
                               &requests[i]));
        }
        CHECK_OK(MPI_Send(&dummy, 1, MPI_INT, 0, 2, MPI_COMM_WORLD));
        CHECK_OK(MPI_Waitall(messages, requests, MPI_STATUSES_IGNORE));
        free(out);
        free(requests);
    } else {
        for (int from = 1; from < size; from++)
            CHECK_OK(MPI_Recv(&dummy, 1, MPI_INT, from, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        for (int i = 0; i < messages; i++) {
            for (int from = 1; from < size; from++) {
                CHECK_OK(MPI_Recv(buffer, BYTES, MPI_BYTE, from, 1, MPI_COMM_WORLD,
                                  MPI_STATUS_IGNORE));
                CHECK_FILLED(buffer, BYTES, from + i);
            }
        }
    }
    return end();
}
