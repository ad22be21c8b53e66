/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 2 */
/* A message longer than its receive is MPI_ERR_TRUNCATE there, and nothing else suffers. */
#include "check.h"

static void attempt(int sent, int room, int late)
{
    MPI_Request request;
    unsigned char *out = allocate((size_t) sent), *in = allocate((size_t) room + 16);
    int from = size - 1, token = 17;
    if (rank == from) {
        MPI_Request sends[2];
        if (!late && size > 1)
            CHECK_OK(MPI_Recv(NULL, 0, MPI_INT, 0, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        fill(out, sent, 3);
        CHECK_OK(MPI_Isend(out, sent, MPI_BYTE, 0, 1, MPI_COMM_WORLD, &sends[0]));
        CHECK_OK(MPI_Isend(&token, 1, MPI_INT, 0, 2, MPI_COMM_WORLD, &sends[1]));
        if (size > 1)
            CHECK_OK(MPI_Waitall(2, sends, MPI_STATUSES_IGNORE));
        else
            CHECK(sends[0] != MPI_REQUEST_NULL);
        if (size == 1) {
            CHECK_CLASS(MPI_Recv(in, room, MPI_BYTE, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE),
                        MPI_ERR_TRUNCATE);
            int got = 0;
            CHECK_OK(MPI_Recv(&got, 1, MPI_INT, 0, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
            CHECK_INT(got, 17);
            MPI_Waitall(2, sends, MPI_STATUSES_IGNORE);
        }
    }
    if (rank == 0 && size > 1) {
        memset(in, 0xee, (size_t) room + 16);
        int status = MPI_SUCCESS;
        if (late) {
            CHECK_OK(MPI_Probe(1, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
            status = MPI_Recv(in, room, MPI_BYTE, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        } else {
            CHECK_OK(MPI_Irecv(in, room, MPI_BYTE, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, &request));
            CHECK_OK(MPI_Send(NULL, 0, MPI_INT, 1, 9, MPI_COMM_WORLD));
            status = MPI_Wait(&request, MPI_STATUS_IGNORE);
        }
        CHECK_CLASS(status, MPI_ERR_TRUNCATE);
        for (int i = 0; i < 16; i++)
            if (in[room + i] != 0xee)
                FAIL("%d bytes sent, room for %d: byte %d was written", sent, room, room + i);
        token = 0;
        CHECK_OK(MPI_Recv(&token, 1, MPI_INT, 1, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        CHECK_INT(token, 17);
    }
    free(out);
    free(in);
}

int main(int argc, char **argv)
{
    start(&argc, &argv);
    return_errors(MPI_COMM_WORLD);
    for (int late = 0; late < 2; late++) {
        attempt(1, 0, late);
        attempt(100, 99, late);
        attempt(4000, 10, late);
        attempt(100000, 99999, late);
        attempt(3000000, 64, late);
    }
    return end();
}
