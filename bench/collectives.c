/* SPDX-License-Identifier: BSD-3-Clause */
/* Blocking collectives on all ranks: per call, the slowest rank's time, median over batches. Sizes
 * are bytes per rank and peer (alltoall, allgather, gather, scatter) or of the whole vector. */
#include "bench.h"

struct call { int kind, n, turn; char *a, *b; };

enum { BARRIER, BCAST, REDUCE, ALLREDUCE, ALLGATHER, ALLTOALL, GATHER, SCATTER, KINDS };

static const char *const names[KINDS] = {
    "barrier", "bcast", "reduce", "allreduce", "allgather", "alltoall", "gather", "scatter",
};

static const long sizes[] = {8, 1024, 16384, 262144, 1048576};

static double collect(int repetitions, void *state)
{
    struct call *c = state;
    MPI_Comm comm = MPI_COMM_WORLD;
    double begin = MPI_Wtime();
    for (int i = 0; i < repetitions; i++) {
        /* The root changes, so that no rank runs ahead of the others through many calls. */
        int root = i % size;
        switch (c->kind) {
        case BARRIER:
            MPI_Barrier(comm);
            break;
        case BCAST:
            MPI_Bcast(c->a, c->n, MPI_BYTE, root, comm);
            break;
        case REDUCE:
            MPI_Reduce(c->a, c->b, c->n / 8, MPI_DOUBLE, MPI_SUM, root, comm);
            break;
        case ALLREDUCE:
            MPI_Allreduce(c->a, c->b, c->n / 8, MPI_DOUBLE, MPI_SUM, comm);
            break;
        case ALLGATHER:
            MPI_Allgather(c->a, c->n, MPI_BYTE, c->b, c->n, MPI_BYTE, comm);
            break;
        case ALLTOALL:
            MPI_Alltoall(c->a, c->n, MPI_BYTE, c->b, c->n, MPI_BYTE, comm);
            break;
        case GATHER:
            MPI_Gather(c->a, c->n, MPI_BYTE, c->b, c->n, MPI_BYTE, root, comm);
            break;
        default:
            MPI_Scatter(c->a, c->n, MPI_BYTE, c->b, c->n, MPI_BYTE, root, comm);
        }
    }
    return MPI_Wtime() - begin;
}

int main(int argc, char **argv)
{
    struct bench b = bench_start(&argc, &argv, 1 << 20);
    struct call c = { 0, 0, 0, NULL, NULL };
    c.a = bench_buffer((size_t) b.most_bytes * (size_t) size);
    c.b = bench_buffer((size_t) b.most_bytes * (size_t) size);
    /* Zero is a number in every format, and sums of it stay so. */
    memset(c.a, 0, (size_t) b.most_bytes * (size_t) size);
    for (c.kind = 0; c.kind < KINDS; c.kind++) {
        for (size_t i = 0; i < sizeof sizes / sizeof sizes[0] && sizes[i] <= b.most_bytes; i++) {
            long bytes = sizes[i];
            c.n = c.kind == BARRIER ? 0 : (int) bytes;
            bench_print(names[c.kind], c.n, bench_median(&b, collect, &c) * 1e6, "us");
            if (c.kind == BARRIER)
                break;
        }
    }
    free(c.a);
    free(c.b);
    MPI_Finalize();
    return 0;
}
