/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 2 */
/* A request freed while open completes: its message arrives, also during MPI_Finalize. */
#include "check.h"

int main(int argc, char **argv)
{
    static const int sizes[] = { 4, 3000, 200000, 2000000 };
    start(&argc, &argv);
    unsigned char *buffers[4];
    for (int i = 0; i < 4; i++) {
        MPI_Request request;
        buffers[i] = allocate((size_t) sizes[i]);
        if (rank == 0) {
            fill(buffers[i], sizes[i], i);
            CHECK_OK(MPI_Isend(buffers[i], sizes[i], MPI_BYTE, 1, i, MPI_COMM_WORLD, &request));
            CHECK_OK(MPI_Request_free(&request));
            CHECK(request == MPI_REQUEST_NULL);
        }
    }
    if (rank == 1) {
        MPI_Request request;
        /* The last receive is freed as well; a later message says that it must have completed. */
        usleep(50000);
        for (int i = 0; i < 3; i++) {
            CHECK_OK(MPI_Recv(buffers[i], sizes[i], MPI_BYTE, 0, i, MPI_COMM_WORLD,
                              MPI_STATUS_IGNORE));
            CHECK_FILLED(buffers[i], (size_t) sizes[i], i);
        }
        CHECK_OK(MPI_Irecv(buffers[3], sizes[3], MPI_BYTE, 0, 3, MPI_COMM_WORLD, &request));
        CHECK_OK(MPI_Request_free(&request));
    }
    CHECK_OK(MPI_Finalize());
    if (rank == 1)
        CHECK_FILLED(buffers[3], (size_t) sizes[3], 3);
    for (int i = 0; i < 4; i++)
        free(buffers[i]);
    return 0;
}
