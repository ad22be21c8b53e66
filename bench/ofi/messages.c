/* SPDX-License-Identifier: BSD-3-Clause */
/* What bare.c does, with MPI messages between two ranks: half the round trip of 8 bytes, messages
 * per second of 8 bytes in windows of 64, half the round trip of 1 and 4 MiB, and MB/s of those in
 * windows of 8. Each window is answered by a message. */
#include "../bench.h"

enum { WINDOW = 64, LONGS = 8, SHORT = 8, MOST = 4 << 20 };

struct windows { char *buffer; int bytes, count; };

static double windows(int repetitions, void *state)
{
    struct windows *w = state;
    MPI_Request requests[WINDOW];
    char answer[SHORT] = "";
    double begin = MPI_Wtime();
    for (int i = 0; i < repetitions; i++) {
        for (int k = 0; k < w->count; k++)
            if (rank == 0)
                MPI_Isend(w->buffer, w->bytes, MPI_BYTE, 1, 1, MPI_COMM_WORLD, &requests[k]);
            else
                MPI_Irecv(w->buffer, w->bytes, MPI_BYTE, 0, 1, MPI_COMM_WORLD, &requests[k]);
        MPI_Waitall(w->count, requests, MPI_STATUSES_IGNORE);
        if (rank == 0)
            MPI_Recv(answer, SHORT, MPI_BYTE, 1, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        else
            MPI_Send(answer, SHORT, MPI_BYTE, 0, 2, MPI_COMM_WORLD);
    }
    return MPI_Wtime() - begin;
}

int main(int argc, char **argv)
{
    static const int sizes[] = { 1 << 20, MOST };
    struct bench b = bench_start(&argc, &argv, MOST);
    bench_need_ranks(2);
    struct bench_pair pair = { bench_buffer(MOST), SHORT, MPI_BYTE };
    struct windows w = { pair.buffer, SHORT, WINDOW };
    bench_print("latency", SHORT, bench_median(&b, bench_ping_pong, &pair) / 2 * 1e6, "us");
    bench_print("rate", SHORT, WINDOW / bench_median(&b, windows, &w), "msg/s");
    w.count = LONGS;
    for (int i = 0; i < 2; i++) {
        pair.count = w.bytes = sizes[i];
        bench_print("long", sizes[i], bench_median(&b, bench_ping_pong, &pair) / 2 * 1e6, "us");
        bench_print("stream", sizes[i],
                    LONGS * (double) sizes[i] / bench_median(&b, windows, &w) / 1e6, "MB/s");
    }
    free(pair.buffer);
    MPI_Finalize();
    return 0;
}
