/* SPDX-License-Identifier: BSD-3-Clause */
/* The cost of waiting. "ring": one hop of a message that goes round all ranks. "idle": the share of
 * a core that a rank takes while it is blocked in MPI_Recv, after the first 10 ms. "answer": the
 * time of a ping-pong of ranks 0 and 1 that block in MPI_Recv, divided by that of one in which they
 * spin with MPI_Test. The size is the number of ranks. */
#include "bench.h"

#include <time.h>

static double ring(int repetitions, void *state)
{
    int64_t x = 0;
    int right = (rank + 1) % size, left = (rank + size - 1) % size;
    (void) state;
    double begin = MPI_Wtime();
    for (int i = 0; i < repetitions; i++) {
        if (rank == 0)
            MPI_Send(&x, 8, MPI_BYTE, right, 1, MPI_COMM_WORLD);
        MPI_Recv(&x, 8, MPI_BYTE, left, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (rank != 0)
            MPI_Send(&x, 8, MPI_BYTE, right, 1, MPI_COMM_WORLD);
    }
    return MPI_Wtime() - begin;
}

static void receive(int64_t *x, int from, int spin)
{
    MPI_Request request;
    int done = 0;
    if (!spin) {
        MPI_Recv(x, 8, MPI_BYTE, from, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        return;
    }
    MPI_Irecv(x, 8, MPI_BYTE, from, 1, MPI_COMM_WORLD, &request);
    while (!done)
        MPI_Test(&request, &done, MPI_STATUS_IGNORE);
}

static double ping_pong(int repetitions, void *state)
{
    int spin = *(int *) state;
    int64_t x = 0;
    if (rank > 1)
        return 0;
    double begin = MPI_Wtime();
    for (int i = 0; i < repetitions; i++) {
        if (rank == 0)
            MPI_Send(&x, 8, MPI_BYTE, 1, 1, MPI_COMM_WORLD);
        receive(&x, 1 - rank, spin);
        if (rank == 1)
            MPI_Send(&x, 8, MPI_BYTE, 0, 1, MPI_COMM_WORLD);
    }
    return MPI_Wtime() - begin;
}

static double processor_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double) t.tv_sec + 1e-9 * (double) t.tv_nsec;
}

/* Returns the processor seconds of ranks 1 ... together, while each blocks in MPI_Recv for `ms`
 * milliseconds. */
static double blocked_seconds(long ms)
{
    int64_t x = 0;
    double used = 0, sum = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
        nanosleep(&(struct timespec) { 0, ms * 1000000 }, NULL);
        for (int i = 1; i < size; i++)
            MPI_Send(&x, 8, MPI_BYTE, i, 1, MPI_COMM_WORLD);
    } else {
        used = -processor_seconds();
        MPI_Recv(&x, 8, MPI_BYTE, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        used += processor_seconds();
    }
    MPI_Reduce(&used, &sum, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    return sum;
}

int main(int argc, char **argv)
{
    struct bench b = bench_start(&argc, &argv, 8);
    int spin = 0;
    bench_need_ranks(2);
    bench_print("ring", size, bench_median(&b, ring, NULL) / size * 1e6, "us");
    /* A rank may spin for the first 10 ms, so subtract them. */
    double first = blocked_seconds(10), more = blocked_seconds(510);
    bench_print("idle", size, 100 * (more - first) / 0.5 / (size - 1), "%");
    if (size == 2) {
        double blocked = bench_median(&b, ping_pong, &spin);
        spin = 1;
        bench_print("answer", size, blocked / bench_median(&b, ping_pong, &spin), "x");
    }
    MPI_Finalize();
    return 0;
}
