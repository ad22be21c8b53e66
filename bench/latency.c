/* SPDX-License-Identifier: BSD-3-Clause */
/* Ping-pong between ranks 0 and 1: half the round trip, 0 bytes to 4 MiB. */
#include "bench.h"

int main(int argc, char **argv)
{
    struct bench b = bench_start(&argc, &argv, 4 << 20);
    bench_need_ranks(2);
    struct bench_pair p = { bench_buffer((size_t) b.most_bytes), 0, MPI_BYTE };
    for (long bytes = 0; bytes <= b.most_bytes; bytes = bytes ? bytes * 2 : 1) {
        p.count = (int) bytes;
        bench_print("latency", bytes, bench_median(&b, bench_ping_pong, &p) / 2 * 1e6, "us");
    }
    free(p.buffer);
    MPI_Finalize();
    return 0;
}
