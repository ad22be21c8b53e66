/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages per second of 8 and 64 bytes. The lower half of the ranks sends windows to the upper
 * half, all pairs at once; the value is the sum over pairs. */
#include "bench.h"

enum { WINDOW = 256 };

struct flood { char *buffer; int bytes; };

static double flood(int repetitions, void *state)
{
    struct flood *f = state;
    MPI_Request requests[WINDOW];
    int half = size / 2;
    if (rank >= 2 * half)
        return 0;
    double begin = MPI_Wtime();
    for (int i = 0; i < repetitions; i++) {
        for (int k = 0; k < WINDOW; k++) {
            char *at = f->buffer + k * f->bytes;
            if (rank < half)
                MPI_Isend(at, f->bytes, MPI_BYTE, rank + half, 1, MPI_COMM_WORLD, &requests[k]);
            else
                MPI_Irecv(at, f->bytes, MPI_BYTE, rank - half, 1, MPI_COMM_WORLD, &requests[k]);
        }
        MPI_Waitall(WINDOW, requests, MPI_STATUSES_IGNORE);
        if (rank < half)
            MPI_Recv(NULL, 0, MPI_BYTE, rank + half, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        else
            MPI_Send(NULL, 0, MPI_BYTE, rank - half, 2, MPI_COMM_WORLD);
    }
    return MPI_Wtime() - begin;
}

int main(int argc, char **argv)
{
    struct bench b = bench_start(&argc, &argv, 64);
    bench_need_ranks(2);
    struct flood f = { bench_buffer(WINDOW * 64), 0 };
    for (f.bytes = 8; f.bytes <= 64; f.bytes *= 8)
        bench_print("rate", f.bytes, WINDOW * (size / 2) / bench_median(&b, flood, &f), "msg/s");
    free(f.buffer);
    MPI_Finalize();
    return 0;
}
