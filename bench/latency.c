/* SPDX-License-Identifier: BSD-3-Clause */
/* Ping-pong between ranks 0 and 1: half the round trip, 0 bytes to 4 MiB. Other ranks wait in a
 * barrier, as they would in a program. */
#include "bench.h"

struct pair { char *buffer; int bytes; };

static double ping_pong(int repetitions, void *state)
{
    struct pair *p = state;
    if (rank > 1)
        return 0;
    double begin = MPI_Wtime();
    for (int i = 0; i < repetitions; i++) {
        if (rank == 0) {
            MPI_Send(p->buffer, p->bytes, MPI_BYTE, 1, 1, MPI_COMM_WORLD);
            MPI_Recv(p->buffer, p->bytes, MPI_BYTE, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        } else {
            MPI_Recv(p->buffer, p->bytes, MPI_BYTE, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            MPI_Send(p->buffer, p->bytes, MPI_BYTE, 0, 1, MPI_COMM_WORLD);
        }
    }
    return MPI_Wtime() - begin;
}

int main(int argc, char **argv)
{
    struct bench b = bench_start(&argc, &argv, 4 << 20);
    bench_need_ranks(2);
    struct pair p = { bench_buffer((size_t) b.most_bytes), 0 };
    for (long bytes = 0; bytes <= b.most_bytes; bytes = bytes ? bytes * 2 : 1) {
        p.bytes = (int) bytes;
        bench_print("latency", bytes, bench_median(&b, ping_pong, &p) / 2 * 1e6, "us");
    }
    free(p.buffer);
    MPI_Finalize();
    return 0;
}
