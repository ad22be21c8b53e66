/* SPDX-License-Identifier: BSD-3-Clause */
/* Blocking collectives by name, and their buffers, for the programs that measure all of them. A
 * size is the bytes of the vector (bcast, reduce, allreduce, scan, exscan) or of one block (the
 * others). The blocks of the v and w forms are equal, so that their times can be compared with the
 * plain forms. Neighbours are those of a ring. */
#ifndef CALLS_H
#define CALLS_H

#include "bench.h"

/* The buffers of one size: n bytes, or a vector of n / 8 doubles. */
struct call {
    int n, root, turn;
    int *counts, *doubles, *displs;
    MPI_Datatype *types;
    char *a, *b;
    MPI_Comm reversed, ring;
};

#define BOTH(c) (c)->a, (c)->n, MPI_BYTE, (c)->b, (c)->n, MPI_BYTE
#define SUM(c) (c)->a, (c)->b, (c)->n / 8, MPI_DOUBLE, MPI_SUM
#define BLOCKS(c) (c)->counts, (c)->displs, MPI_BYTE

/* Returns the communicator for a scan. A scan goes from the first rank to the last. Every other one
 * runs with the ranks reversed, so that no rank runs ahead over many calls. */
static MPI_Comm there_and_back(const struct call *c)
{
    return c->turn % 2 ? c->reversed : MPI_COMM_WORLD;
}

/* Each of the following functions makes one call. */
static void barrier(const struct call *c) { (void)c, MPI_Barrier(MPI_COMM_WORLD); }
static void bcast(const struct call *c) { MPI_Bcast(c->a, c->n, MPI_BYTE, c->root, MPI_COMM_WORLD); }
static void reduce(const struct call *c) { MPI_Reduce(SUM(c), c->root, MPI_COMM_WORLD); }
static void allreduce(const struct call *c) { MPI_Allreduce(SUM(c), MPI_COMM_WORLD); }
static void reduce_scatter(const struct call *c)
{
    MPI_Reduce_scatter(c->a, c->b, c->doubles, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}
static void reduce_scatter_block(const struct call *c) { MPI_Reduce_scatter_block(SUM(c), MPI_COMM_WORLD); }
static void scan(const struct call *c) { MPI_Scan(SUM(c), there_and_back(c)); }
static void exscan(const struct call *c) { MPI_Exscan(SUM(c), there_and_back(c)); }
static void allgather(const struct call *c) { MPI_Allgather(BOTH(c), MPI_COMM_WORLD); }
static void allgatherv(const struct call *c)
{
    MPI_Allgatherv(c->a, c->n, MPI_BYTE, c->b, BLOCKS(c), MPI_COMM_WORLD);
}
static void gather(const struct call *c) { MPI_Gather(BOTH(c), c->root, MPI_COMM_WORLD); }
static void gatherv(const struct call *c)
{
    MPI_Gatherv(c->a, c->n, MPI_BYTE, c->b, BLOCKS(c), c->root, MPI_COMM_WORLD);
}
static void scatter(const struct call *c) { MPI_Scatter(BOTH(c), c->root, MPI_COMM_WORLD); }
static void scatterv(const struct call *c)
{
    MPI_Scatterv(c->a, BLOCKS(c), c->b, c->n, MPI_BYTE, c->root, MPI_COMM_WORLD);
}
static void alltoall(const struct call *c) { MPI_Alltoall(BOTH(c), MPI_COMM_WORLD); }
static void alltoallv(const struct call *c) { MPI_Alltoallv(c->a, BLOCKS(c), c->b, BLOCKS(c), MPI_COMM_WORLD); }
static void alltoallw(const struct call *c)
{
    MPI_Alltoallw(c->a, c->counts, c->displs, c->types, c->b, c->counts, c->displs, c->types, MPI_COMM_WORLD);
}
static void neighbor_allgather(const struct call *c) { MPI_Neighbor_allgather(BOTH(c), c->ring); }
static void neighbor_alltoall(const struct call *c) { MPI_Neighbor_alltoall(BOTH(c), c->ring); }

/* The collectives by name. The last row has no name. */
static const struct operation {
    const char *name;
    void (*call)(const struct call *);
    int apart;    /* each rank gets a block of its own from the send buffer */
    int downward; /* data flows from the root outwards, not to the root */
    int priced;   /* the library computes prices for its algorithms (collsim.c) */
} operations[] = {
    { "barrier", barrier, 0, 0, 1 },
    { "bcast", bcast, 0, 1, 1 },
    { "reduce", reduce, 0, 0, 1 },
    { "allreduce", allreduce, 0, 0, 1 },
    { "reduce_scatter", reduce_scatter, 1, 0, 1 },
    { "reduce_scatter_block", reduce_scatter_block, 1, 0, 1 },
    { "scan", scan, 0, 0, 1 },
    { "exscan", exscan, 0, 0, 1 },
    { "allgather", allgather, 0, 0, 1 },
    { "allgatherv", allgatherv, 0, 0, 1 },
    { "gather", gather, 0, 0, 1 },
    { "gatherv", gatherv, 0, 0, 0 },
    { "scatter", scatter, 1, 1, 1 },
    { "scatterv", scatterv, 1, 1, 0 },
    { "alltoall", alltoall, 1, 0, 1 },
    { "alltoallv", alltoallv, 1, 0, 0 },
    { "alltoallw", alltoallw, 1, 0, 0 },
    { "neighbor_allgather", neighbor_allgather, 0, 0, 0 },
    { "neighbor_alltoall", neighbor_alltoall, 1, 0, 0 },
    { NULL, NULL, 0, 0, 0 },
};

/* Sets the size of the following calls to n bytes. */
static void call_set_bytes(struct call *c, int n)
{
    c->n = n;
    for (int r = 0; r < size; r++) {
        c->counts[r] = c->n;
        c->doubles[r] = c->n / 8;
        c->displs[r] = r * c->n;
        c->types[r] = MPI_BYTE;
    }
}

/* Allocates buffers for up to `most_bytes`. Collective. */
static struct call call_begin(long most_bytes)
{
    /* a rank of a ring has two neighbours */
    size_t ranks = (size_t)size, bytes = (size_t)most_bytes * (ranks < 2 ? 2 : ranks);
    struct call c = {
        .counts = bench_buffer(ranks * sizeof(int)),
        .doubles = bench_buffer(ranks * sizeof(int)),
        .displs = bench_buffer(ranks * sizeof(int)),
        .types = bench_buffer(ranks * sizeof(MPI_Datatype)),
        .a = bench_buffer(bytes),
        .b = bench_buffer(bytes),
    };
    memset(c.a, 0, bytes); /* zero is a number in every format, and sums of zeros stay zero */
    MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &c.reversed);
    MPI_Cart_create(MPI_COMM_WORLD, 1, &size, &(int){ 1 }, 0, &c.ring);
    return c;
}

/* Frees the buffers and communicators. Collective. */
static void call_end(struct call *c)
{
    MPI_Comm_free(&c->ring);
    MPI_Comm_free(&c->reversed);
    free(c->b);
    free(c->a);
    free(c->types);
    free(c->displs);
    free(c->doubles);
    free(c->counts);
}

#endif
