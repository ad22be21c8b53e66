/* SPDX-License-Identifier: BSD-3-Clause */
/* Every blocking collective on all ranks: per call, the slowest rank's time, median over batches. Sizes are bytes of
 * the vector (bcast, reduce, allreduce, scan, exscan) or of a block (the others); the blocks of the v and w forms are
 * equal, so that what they cost compares. Neighbours are those of a ring. -o chooses operations, separated by commas.
 *
 * The same bytes are sent again and again, so who reads them in the sender's memory finds them in its own cache from the
 * second time on, which no program's data are; with -w 1 every rank writes before each call what it may send. */
#include "bench.h"

/* n bytes, of which a vector of doubles has n / 8. */
struct call {
    void (*call)(const struct call *);
    int n, root, turn;
    size_t written; /* bytes, before each call */
    int *counts, *doubles, *displs;
    MPI_Datatype *types;
    char *a, *b;
    MPI_Comm reversed, ring;
};

#define BOTH(c) (c)->a, (c)->n, MPI_BYTE, (c)->b, (c)->n, MPI_BYTE
#define SUM(c) (c)->a, (c)->b, (c)->n / 8, MPI_DOUBLE, MPI_SUM
#define BLOCKS(c) (c)->counts, (c)->displs, MPI_BYTE

/* A scan goes from the first rank to the last; in turn with the ranks reversed, nobody runs ahead through many calls. */
static MPI_Comm there_and_back(const struct call *c)
{
    return c->turn % 2 ? c->reversed : MPI_COMM_WORLD;
}

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

static const struct operation {
    const char *name;
    void (*call)(const struct call *);
    int apart; /* a block for each rank is sent */
} operations[] = {
    { "barrier", barrier, 0 },
    { "bcast", bcast, 0 },
    { "reduce", reduce, 0 },
    { "allreduce", allreduce, 0 },
    { "reduce_scatter", reduce_scatter, 1 },
    { "reduce_scatter_block", reduce_scatter_block, 1 },
    { "scan", scan, 0 },
    { "exscan", exscan, 0 },
    { "allgather", allgather, 0 },
    { "allgatherv", allgatherv, 0 },
    { "gather", gather, 0 },
    { "gatherv", gatherv, 0 },
    { "scatter", scatter, 1 },
    { "scatterv", scatterv, 1 },
    { "alltoall", alltoall, 1 },
    { "alltoallv", alltoallv, 1 },
    { "alltoallw", alltoallw, 1 },
    { "neighbor_allgather", neighbor_allgather, 0 },
    { "neighbor_alltoall", neighbor_alltoall, 1 },
    { NULL, NULL, 0 },
};

static const long sizes[] = { 8, 1024, 16384, 262144, 1048576, LONG_MAX };

static double collect(int repetitions, void *state)
{
    struct call *c = state;
    double begin = MPI_Wtime();
    for (int i = 0; i < repetitions; i++) {
        c->root = i % size; /* it changes, so that no rank runs ahead of the others through many calls */
        c->turn = i;
        memset(c->a, 0, c->written);
        c->call(c);
    }
    return MPI_Wtime() - begin;
}

static void set_blocks(struct call *c)
{
    for (int r = 0; r < size; r++) {
        c->counts[r] = c->n;
        c->doubles[r] = c->n / 8;
        c->displs[r] = r * c->n;
        c->types[r] = MPI_BYTE;
    }
}

int main(int argc, char **argv)
{
    struct bench b = bench_start(&argc, &argv, 1 << 20);
    int writes = 0;
    for (int i = 1; i + 1 < argc; i += 2)
        if (strcmp(argv[i], "-w") == 0)
            writes = atoi(argv[i + 1]);
    size_t ranks = (size_t)size, bytes = (size_t)b.most_bytes * (ranks < 2 ? 2 : ranks); /* a ring's neighbours are two */
    struct call c = {
        .counts = bench_buffer(ranks * sizeof(int)),
        .doubles = bench_buffer(ranks * sizeof(int)),
        .displs = bench_buffer(ranks * sizeof(int)),
        .types = bench_buffer(ranks * sizeof(MPI_Datatype)),
        .a = bench_buffer(bytes),
        .b = bench_buffer(bytes),
    };
    memset(c.a, 0, bytes); /* zero is a number in every format, and sums of it stay so */
    MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &c.reversed);
    MPI_Cart_create(MPI_COMM_WORLD, 1, &size, &(int){ 1 }, 0, &c.ring);
    for (const struct operation *o = operations; o->name; o++) {
        if (!bench_listed(b.operations, o->name))
            continue;
        c.call = o->call;
        for (const long *n = sizes; *n <= b.most_bytes && (n == sizes || c.call != barrier); n++) {
            c.n = c.call == barrier ? 0 : (int)*n;
            c.written = writes ? (size_t)c.n * (o->apart ? ranks : 1) : 0;
            set_blocks(&c);
            bench_print(o->name, c.n, bench_median(&b, collect, &c) * 1e6, "us");
        }
    }
    MPI_Comm_free(&c.ring);
    MPI_Comm_free(&c.reversed);
    free(c.b);
    free(c.a);
    free(c.types);
    free(c.displs);
    free(c.doubles);
    free(c.counts);
    MPI_Finalize();
    return 0;
}
