/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 2 3 4 5 8 */
/* Collectives by way of the board: blocking and nonblocking ones of all lengths in turn, several at a
 * time and waited for in an order of each rank's own, with types with and without gaps that differ
 * between ranks, in place, and with an operation that does not commute. Three ranks have no memory
 * for long posts, and five cut them short. */
#include "check.h"

enum { BARRIER, BCAST, GATHER, SCATTER, ALLGATHER, ALLTOALL, REDUCE, ALLREDUCE, BLOCK, SCAN, EXSCAN, KINDS };
enum { OPEN = 6 };

/* Affine maps x -> a x + b modulo 2^32 compose associatively and not commutatively. */
struct map { uint32_t a, b; };

static struct map then(struct map first, struct map second)
{
    return (struct map) { first.a * second.a, first.b * second.a + second.b };
}

static void compose(void *in, void *inout, int *n, MPI_Datatype *type)
{
    MPI_Aint lb, extent;
    MPI_Type_get_extent(*type, &lb, &extent);
    for (MPI_Aint i = 0; i < *n; i++) {
        struct map *a = (void *) ((char *) in + i * extent), *b = (void *) ((char *) inout + i * extent);
        *b = then(*a, *b);
    }
}

/* One call. `in` and `out` have elements of 8 bytes, or of 16 with a gap. */
struct call {
    int kind, n, root, number;
    int in_place, in_gap, out_gap;
    char *in, *out;
    MPI_Request request;
};

static MPI_Datatype types[2];
static MPI_Op op;

static struct map input(const struct call *c, int r, int i)
{
    return (struct map) { 2 * (uint32_t) (r * 31 + i + c->number) + 3, (uint32_t) (r * 17 + i * 5) };
}

static void put(char *buffer, int gap, int i, struct map m)
{
    memcpy(buffer + (size_t) i * (gap ? 16 : 8), &m, sizeof m);
}

static void expect(const struct call *c, int i, struct map expected)
{
    struct map got;
    memcpy(&got, c->out + (size_t) i * (c->out_gap ? 16 : 8), sizeof got);
    if (got.a != expected.a || got.b != expected.b)
        FAIL("call %d of kind %d, n %d, root %d, gaps %d %d, in place %d: element %d is %u %u, expected %u %u",
             c->number, c->kind, c->n, c->root, c->in_gap, c->out_gap, c->in_place, i, got.a, got.b,
             expected.a, expected.b);
}

static void expect_sum(const struct call *c, int first, int ranks)
{
    for (int i = 0; i < c->n; i++) {
        struct map sum = input(c, 0, first + i);
        for (int r = 1; r < ranks; r++)
            sum = then(sum, input(c, r, first + i));
        expect(c, i, sum);
    }
}

static void check(const struct call *c)
{
    int n = c->n, root = rank == c->root;
    for (int r = 0; r < size; r++)
        for (int i = 0; i < n; i++)
            if ((c->kind == GATHER && root) || c->kind == ALLGATHER)
                expect(c, r * n + i, input(c, r, i));
            else if (c->kind == ALLTOALL)
                expect(c, r * n + i, input(c, r, rank * n + i));
    for (int i = 0; i < n; i++)
        if (c->kind == BCAST)
            expect(c, i, input(c, c->root, i));
        else if (c->kind == SCATTER && !(root && c->in_place))
            expect(c, i, input(c, c->root, rank * n + i));
    if ((c->kind == REDUCE && root) || c->kind == ALLREDUCE)
        expect_sum(c, 0, size);
    else if (c->kind == BLOCK)
        expect_sum(c, rank * n, size);
    else if (c->kind == SCAN || (c->kind == EXSCAN && rank))
        expect_sum(c, 0, rank + (c->kind == SCAN));
}

/* Input to where it belongs, in place or not. */
static void prepare(struct call *c)
{
    int blocks = c->kind == SCATTER || c->kind == ALLTOALL || c->kind == BLOCK ? size : 1;
    int first = c->in_place && (c->kind == GATHER || c->kind == ALLGATHER) ? rank * c->n : 0;
    c->in = allocate((size_t) c->n * (size_t) size * 16 + 16);
    c->out = allocate((size_t) c->n * (size_t) size * 16 + 16);
    for (int i = 0; i < blocks * c->n; i++)
        if (c->kind == BCAST && rank == c->root)
            put(c->out, c->out_gap, i, input(c, rank, i));
        else if (c->in_place && c->kind != SCATTER)
            put(c->out, c->out_gap, first + i, input(c, rank, i));
        else
            put(c->in, c->in_gap, i, input(c, rank, i));
}

static void run(struct call *c, int blocking)
{
    MPI_Comm w = MPI_COMM_WORLD;
    MPI_Request *q = &c->request;
    int n = c->n, root = c->root, is_root = rank == root;
    MPI_Datatype st = types[c->in_gap], rt = types[c->out_gap];
    void *in = c->in_place ? MPI_IN_PLACE : c->in, *out = c->out;
    void *root_in = is_root ? in : c->in, *root_out = is_root && c->in_place ? MPI_IN_PLACE : out;
    switch (c->kind) {
    case BARRIER: CHECK_OK(blocking ? MPI_Barrier(w) : MPI_Ibarrier(w, q)); break;
    case BCAST: CHECK_OK(blocking ? MPI_Bcast(out, n, rt, root, w) : MPI_Ibcast(out, n, rt, root, w, q)); break;
    case GATHER:
        CHECK_OK(blocking ? MPI_Gather(root_in, n, st, out, n, rt, root, w)
                          : MPI_Igather(root_in, n, st, out, n, rt, root, w, q));
        break;
    case SCATTER:
        CHECK_OK(blocking ? MPI_Scatter(c->in, n, st, root_out, n, rt, root, w)
                          : MPI_Iscatter(c->in, n, st, root_out, n, rt, root, w, q));
        break;
    case ALLGATHER:
        CHECK_OK(blocking ? MPI_Allgather(in, n, st, out, n, rt, w)
                          : MPI_Iallgather(in, n, st, out, n, rt, w, q));
        break;
    case ALLTOALL:
        CHECK_OK(blocking ? MPI_Alltoall(in, n, st, out, n, rt, w)
                          : MPI_Ialltoall(in, n, st, out, n, rt, w, q));
        break;
    case REDUCE:
        CHECK_OK(blocking ? MPI_Reduce(root_in, out, n, rt, op, root, w)
                          : MPI_Ireduce(root_in, out, n, rt, op, root, w, q));
        break;
    case ALLREDUCE:
        CHECK_OK(blocking ? MPI_Allreduce(in, out, n, rt, op, w)
                          : MPI_Iallreduce(in, out, n, rt, op, w, q));
        break;
    case BLOCK:
        CHECK_OK(blocking ? MPI_Reduce_scatter_block(in, out, n, rt, op, w)
                          : MPI_Ireduce_scatter_block(in, out, n, rt, op, w, q));
        break;
    case SCAN:
        CHECK_OK(blocking ? MPI_Scan(in, out, n, rt, op, w) : MPI_Iscan(in, out, n, rt, op, w, q));
        break;
    default:
        CHECK_OK(blocking ? MPI_Exscan(in, out, n, rt, op, w) : MPI_Iexscan(in, out, n, rt, op, w, q));
    }
}

static void finish(struct call *c)
{
    check(c);
    free(c->in);
    free(c->out);
}

/* `common` gives the same on all ranks, `own` does not. */
static struct call choose(int number, uint64_t *common, uint64_t *own)
{
    static const int lengths[] = { 0, 1, 2, 5, 14, 15, 100, 128, 129, 1000, 3000, 9000, 20000 };
    struct call c = { .kind = random_below(common, KINDS), .number = number };
    c.n = lengths[random_below(common, 13)];
    c.root = random_below(common, size);
    c.in_place = random_below(common, 3) == 0 && c.kind != BCAST && c.kind != BARRIER;
    if (c.kind == GATHER || c.kind == REDUCE)
        c.in_place &= rank == c.root;
    int blocks = c.kind == GATHER || c.kind == SCATTER || c.kind == ALLGATHER || c.kind == ALLTOALL ||
                 c.kind == BLOCK;
    if (blocks && c.n > 3000)
        c.n = 3000;
    int reduces = c.kind >= REDUCE;
    c.in_gap = random_below(reduces ? common : own, 2);
    c.out_gap = reduces ? c.in_gap : random_below(own, 2);
    return c;
}

int main(int argc, char **argv)
{
    static const char *const names[] = { "barrier", "bcast", "gather", "scatter", "allgather", "alltoall",
                                         "reduce_scatter_block", "scan", "exscan" };
    const char *ranks = getenv("OMPI_COMM_WORLD_SIZE");
    for (int i = 0; i < 9; i++) {
        char name[64];
        snprintf(name, sizeof name, "OMPI_MCA_coll_%s_algorithm", names[i]);
        setenv(name, "board", 1);
    }
    setenv("OMPI_MCA_coll_reduce_algorithm", ranks && atoi(ranks) % 2 ? "board" : "slices", 1);
    setenv("OMPI_MCA_coll_allreduce_algorithm", ranks && atoi(ranks) == 5 ? "board" : "slices", 1);
    if (ranks && atoi(ranks) == 3)
        setenv("OMPI_MCA_coll_board_bytes", "0", 1);
    if (ranks && atoi(ranks) == 5)
        setenv("OMPI_MCA_coll_segment_bytes", "4000", 1);
    start(&argc, &argv);
    CHECK_OK(MPI_Type_contiguous(2, MPI_UINT32_T, &types[0]));
    CHECK_OK(MPI_Type_create_resized(types[0], 0, 16, &types[1]));
    CHECK_OK(MPI_Type_commit(&types[0]));
    CHECK_OK(MPI_Type_commit(&types[1]));
    CHECK_OK(MPI_Op_create(compose, 0, &op));
    struct call open[OPEN];
    uint64_t common = 7, own = (uint64_t) rank + 100;
    int opened = 0, calls = argument(argc, argv, 250);
    for (int i = 0; i < calls; i++) {
        struct call c = choose(i, &common, &own);
        prepare(&c);
        if (random_below(&common, 2)) {
            run(&c, 1);
            finish(&c);
            continue;
        }
        if (opened == OPEN) {
            int which = random_below(&own, OPEN);
            CHECK_OK(MPI_Wait(&open[which].request, MPI_STATUS_IGNORE));
            finish(&open[which]);
            open[which] = open[--opened];
        }
        run(&c, 0);
        open[opened++] = c;
    }
    while (opened--) {
        CHECK_OK(MPI_Wait(&open[opened].request, MPI_STATUS_IGNORE));
        finish(&open[opened]);
    }
    CHECK_OK(MPI_Op_free(&op));
    CHECK_OK(MPI_Type_free(&types[0]));
    CHECK_OK(MPI_Type_free(&types[1]));
    return end();
}
