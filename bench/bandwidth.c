/* SPDX-License-Identifier: BSD-3-Clause */
/* Sends windows of 64 messages from rank 0 to rank 1, then both ways at once. Each window is
 * answered by an empty message. All messages of a window use the same buffer per direction. */
#include "bench.h"

enum { WINDOW = 64 };

struct stream { char *out, *in; int bytes, both_ways; };

static double stream(int repetitions, void *state)
{
    struct stream *s = state;
    MPI_Request requests[2 * WINDOW];
    if (rank > 1)
        return 0;
    int peer = 1 - rank, sends = rank == 0 || s->both_ways, receives = rank == 1 || s->both_ways;
    double begin = MPI_Wtime();
    for (int i = 0; i < repetitions; i++) {
        int n = 0;
        for (int k = 0; receives && k < WINDOW; k++)
            MPI_Irecv(s->in, s->bytes, MPI_BYTE, peer, 1, MPI_COMM_WORLD, &requests[n++]);
        for (int k = 0; sends && k < WINDOW; k++)
            MPI_Isend(s->out, s->bytes, MPI_BYTE, peer, 1, MPI_COMM_WORLD, &requests[n++]);
        MPI_Waitall(n, requests, MPI_STATUSES_IGNORE);
        if (rank == 0)
            MPI_Recv(NULL, 0, MPI_BYTE, 1, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        else
            MPI_Send(NULL, 0, MPI_BYTE, 0, 2, MPI_COMM_WORLD);
    }
    return MPI_Wtime() - begin;
}

int main(int argc, char **argv)
{
    struct bench b = bench_start(&argc, &argv, 4 << 20);
    bench_need_ranks(2);
    struct stream s = { bench_buffer((size_t) b.most_bytes), bench_buffer((size_t) b.most_bytes),
                        0, 0 };
    for (int both = 0; both < 2; both++) {
        static const long sizes[] = { 8, 64, 512, 4096, 16384, 32768, 65536, 262144, 1 << 20, 2 << 20, 4 << 20 };
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes && sizes[i] <= b.most_bytes; i++) {
            s.bytes = (int) sizes[i];
            s.both_ways = both;
            double seconds = bench_median(&b, stream, &s);
            bench_print(both ? "bandwidth-both-ways" : "bandwidth", sizes[i],
                        (double) sizes[i] * WINDOW * (both + 1) / seconds / 1e6, "MB/s");
        }
    }
    free(s.out);
    free(s.in);
    MPI_Finalize();
    return 0;
}
