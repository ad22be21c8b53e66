/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 2; long-args: 9 */
/* Every size around the limits of eager, ring and single-copy protocols, contiguous and strided on
 * either side, expected and unexpected. args: more than 1 for all of the neighbourhoods. */
#include "check.h"

enum { MOST = (8 << 20) + 64 };
static unsigned char *out, *in;

/* Bytes in pairs: a strided sender or receiver takes two of every three bytes. */
static void transfer(int bytes, int kind, int unexpected)
{
    MPI_Datatype strided;
    MPI_Request request;
    int send_strided = kind & 1, receive_strided = kind & 2, pairs = bytes / 2;
    bytes = kind ? pairs * 2 : bytes;
    CHECK_OK(MPI_Type_vector(pairs, 2, 3, MPI_BYTE, &strided));
    CHECK_OK(MPI_Type_commit(&strided));
    if (rank == 0) {
        if (!unexpected)
            CHECK_OK(MPI_Recv(NULL, 0, MPI_INT, 1, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        CHECK_OK(MPI_Isend(out, send_strided ? 1 : bytes, send_strided ? strided : MPI_BYTE, 1, 1,
                           MPI_COMM_WORLD, &request));
        if (unexpected)
            CHECK_OK(MPI_Send(NULL, 0, MPI_INT, 1, 2, MPI_COMM_WORLD));
        CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    } else {
        int count;
        MPI_Status status;
        size_t span = (size_t) bytes * 3 / 2 + 2;
        memset(in, 0, span);
        if (unexpected)
            CHECK_OK(MPI_Recv(NULL, 0, MPI_INT, 0, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        CHECK_OK(MPI_Irecv(in, receive_strided ? 1 : bytes, receive_strided ? strided : MPI_BYTE, 0,
                           1, MPI_COMM_WORLD, &request));
        if (!unexpected)
            CHECK_OK(MPI_Send(NULL, 0, MPI_INT, 0, 2, MPI_COMM_WORLD));
        CHECK_OK(MPI_Wait(&request, &status));
        CHECK_OK(MPI_Get_count(&status, MPI_BYTE, &count));
        CHECK_INT(count, bytes);
        for (int i = 0; i < bytes; i++) {
            unsigned char expected = out[send_strided ? i / 2 * 3 + i % 2 : i];
            unsigned char got = in[receive_strided ? i / 2 * 3 + i % 2 : i];
            if (got != expected)
                FAIL("%d bytes, kind %d, unexpected %d: byte %d: got 0x%02x, expected 0x%02x",
                     bytes, kind, unexpected, i, got, expected);
        }
        for (int i = 2; receive_strided && i < bytes / 2 * 3 - 1; i += 3)
            if (in[i] != 0)
                FAIL("%d bytes, kind %d: the gap at byte %d was written", bytes, kind, i);
    }
    CHECK_OK(MPI_Type_free(&strided));
}

int main(int argc, char **argv)
{
    start(&argc, &argv);
    int thorough = argument(argc, argv, 1);
    out = allocate((size_t) MOST * 3 / 2);
    in = allocate((size_t) MOST * 3 / 2);
    fill(out, (size_t) MOST * 3 / 2, 5);
    for (int kind = 0; kind < 4; kind++) {
        for (int bytes = 0; bytes < (thorough > 1 ? 2500 : 140); bytes++)
            transfer(bytes, kind, bytes % 2);
        for (int log = 7; log <= 23; log++) {
            /* Headers of up to 64 bytes move the limits a little below powers of two. */
            static const int around[] = { -65, -64, -63, -49, -48, -33, -32, -17, -16, -9, -8, -1,
                                          0, 1, 2, 8, 63 };
            int n = thorough > 1 || log < 14 ? 17 : 0;
            if (n == 0) {
                transfer((1 << log) - 1, kind, log % 2);
                transfer(1 << log, kind, (log + kind / 2) % 2);
                transfer((1 << log) + 1, kind, 1 - log % 2);
            }
            for (int i = 0; i < n; i++)
                for (int unexpected = 0; unexpected < 2; unexpected++)
                    transfer((1 << log) + around[i], kind, unexpected);
        }
    }
    free(out);
    free(in);
    return end();
}
