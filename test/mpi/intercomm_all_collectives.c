/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 2 3 4 5 8; needs: MPI_Bcast_init */
/* Every collective on an intercommunicator, blocking, nonblocking and persistent, with every root on both sides, groups of
 * any two sizes, a few and many elements; prefix reductions and neighbourhoods are refused there. */
#include "check.h"

enum form { BLOCKING, NONBLOCKING, PERSISTENT, FORMS };
enum { MANY = 3000, RANKS = 8 };

static MPI_Comm inter;
static int upper, me, ours, theirs, count;
static enum form form;
static MPI_Request request;
static int out[RANKS * RANKS * MANY], in[RANKS * RANKS * MANY];

/* A value that says who sent it, of which block and element. */
static int value(int side, int from, int block, int element)
{
    return ((side * 16 + from) * 16 + block) * MANY + element;
}

/* My blocks, one for each of `blocks`; nothing received yet. */
static void prepare(int blocks)
{
    for (int b = 0; b < blocks; b++)
        for (int e = 0; e < count; e++)
            out[b * count + e] = value(upper, me, b, e);
    memset(in, -1, sizeof in);
}

static void finish(void)
{
    if (form == BLOCKING)
        return;
    for (int i = 0; form == PERSISTENT && i < 2; i++) {
        CHECK_OK(MPI_Start(&request));
        CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    }
    if (form == PERSISTENT)
        CHECK_OK(MPI_Request_free(&request));
    else
        CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
}

/* The call in the form of this round. */
#define CALL(name, lower, ...)                                                                                           \
    do {                                                                                                                 \
        if (form == BLOCKING)                                                                                            \
            CHECK_OK(MPI_##name(__VA_ARGS__, inter));                                                                    \
        else if (form == NONBLOCKING)                                                                                    \
            CHECK_OK(MPI_I##lower(__VA_ARGS__, inter, &request));                                                        \
        else                                                                                                             \
            CHECK_OK(MPI_##name##_init(__VA_ARGS__, inter, MPI_INFO_NULL, &request));                                    \
        finish();                                                                                                        \
    } while (0)

static void check_block(int at, int side, int from, int block, int n)
{
    for (int e = 0; e < n; e++)
        CHECK_INT(in[at + e], value(side, from, block, e));
}

static void check_untouched(void)
{
    CHECK_INT(in[0], -1);
    CHECK_INT(in[count - 1], -1);
}

/* Blocks with gaps, in reverse. */
static int counts[RANKS], places[RANKS];

static void lay_out(int blocks)
{
    for (int b = 0; b < blocks; b++) {
        counts[b] = count - (count > 1 && b == 0);
        places[b] = (blocks - 1 - b) * (count + 1);
    }
}

static void rooted(int root_upper, int root)
{
    int from_here = upper == root_upper;
    int where = !from_here ? root : me == root ? MPI_ROOT : MPI_PROC_NULL;
    prepare(theirs);
    if (!from_here)
        memset(out, -1, sizeof out);
    CALL(Bcast, bcast, out, count, MPI_INT, where);
    for (int e = 0; e < count && !from_here; e++)
        CHECK_INT(out[e], value(root_upper, root, 0, e));
    prepare(1);
    CALL(Gather, gather, out, count, MPI_INT, in, count, MPI_INT, where);
    for (int r = 0; r < theirs && where == MPI_ROOT; r++)
        check_block(r * count, !upper, r, 0, count);
    if (where != MPI_ROOT)
        check_untouched();
    prepare(1);
    lay_out(theirs);
    CALL(Gatherv, gatherv, out, count - (count > 1 && me == 0), MPI_INT, in, counts, places, MPI_INT, where);
    for (int r = 0; r < theirs && where == MPI_ROOT; r++)
        check_block(places[r], !upper, r, 0, counts[r]);
    prepare(theirs);
    CALL(Scatter, scatter, out, count, MPI_INT, in, count, MPI_INT, where);
    if (from_here)
        check_untouched();
    else
        check_block(0, root_upper, root, me, count);
    prepare(0);
    lay_out(theirs);
    for (int b = 0; b < theirs; b++)
        for (int e = 0; e < counts[b]; e++)
            out[places[b] + e] = value(upper, me, b, e);
    CALL(Scatterv, scatterv, out, counts, places, MPI_INT, in, count - (count > 1 && me == 0), MPI_INT, where);
    if (!from_here)
        check_block(0, root_upper, root, me, count - (count > 1 && me == 0));
    prepare(1);
    CALL(Reduce, reduce, out, in, count, MPI_INT, MPI_MAX, where);
    if (where == MPI_ROOT)
        check_block(0, !upper, theirs - 1, 0, count);
    else
        check_untouched();
}

static void for_all(void)
{
    int bytes[RANKS];
    MPI_Datatype types[RANKS];
    if (form == BLOCKING)
        CHECK_OK(MPI_Barrier(inter));
    else if (form == NONBLOCKING)
        CHECK_OK(MPI_Ibarrier(inter, &request));
    else
        CHECK_OK(MPI_Barrier_init(inter, MPI_INFO_NULL, &request));
    finish();
    prepare(1);
    CALL(Allgather, allgather, out, count, MPI_INT, in, count, MPI_INT);
    for (int r = 0; r < theirs; r++)
        check_block(r * count, !upper, r, 0, count);
    prepare(1);
    lay_out(theirs);
    CALL(Allgatherv, allgatherv, out, count - (count > 1 && me == 0), MPI_INT, in, counts, places, MPI_INT);
    for (int r = 0; r < theirs; r++)
        check_block(places[r], !upper, r, 0, counts[r]);
    prepare(theirs);
    CALL(Alltoall, alltoall, out, count, MPI_INT, in, count, MPI_INT);
    for (int r = 0; r < theirs; r++)
        check_block(r * count, !upper, r, me, count);
    prepare(theirs);
    for (int b = 0; b < theirs; b++) {
        counts[b] = count;
        places[b] = b * count;
    }
    CALL(Alltoallv, alltoallv, out, counts, places, MPI_INT, in, counts, places, MPI_INT);
    for (int r = 0; r < theirs; r++)
        check_block(places[r], !upper, r, me, count);
    prepare(theirs);
    for (int b = 0; b < theirs; b++) {
        types[b] = MPI_INT;
        bytes[b] = b * count * (int)sizeof(int);
    }
    CALL(Alltoallw, alltoallw, out, counts, bytes, types, in, counts, bytes, types);
    for (int r = 0; r < theirs; r++)
        check_block(r * count, !upper, r, me, count);
    prepare(1);
    CALL(Allreduce, allreduce, out, in, count, MPI_INT, MPI_MIN);
    check_block(0, !upper, 0, 0, count);
}

/* Each group reduces as many elements as both together can share. */
static void scattered(void)
{
    int each = theirs * (count > 100 ? 100 : count), total = each * ours, uneven[RANKS], before = 0;
    for (int e = 0; e < total; e++)
        out[e] = me * 100000 + e;
    memset(in, -1, sizeof in);
    CALL(Reduce_scatter_block, reduce_scatter_block, out, in, each, MPI_INT, MPI_MAX);
    for (int e = 0; e < each; e++)
        CHECK_INT(in[e], (theirs - 1) * 100000 + me * each + e);
    for (int r = 0; r < ours; r++) {
        uneven[r] = r == 0 ? total - (ours - 1) : 1; /* most to the first */
        before += r < me ? uneven[r] : 0;
    }
    memset(in, -1, sizeof in);
    CALL(Reduce_scatter, reduce_scatter, out, in, uneven, MPI_INT, MPI_MAX);
    for (int e = 0; e < uneven[me]; e++)
        CHECK_INT(in[e], (theirs - 1) * 100000 + before + e);
}

static void refused(void)
{
    int a = 0, b = 0, code;
    return_errors(inter);
    CHECK_CLASS(MPI_Scan(&a, &b, 1, MPI_INT, MPI_SUM, inter), MPI_ERR_COMM);
    CHECK_CLASS(MPI_Exscan(&a, &b, 1, MPI_INT, MPI_SUM, inter), MPI_ERR_COMM);
    CHECK_CLASS(MPI_Iscan(&a, &b, 1, MPI_INT, MPI_SUM, inter, &request), MPI_ERR_COMM);
    CHECK_CLASS(MPI_Exscan_init(&a, &b, 1, MPI_INT, MPI_SUM, inter, MPI_INFO_NULL, &request), MPI_ERR_COMM);
    code = MPI_Neighbor_allgather(&a, 1, MPI_INT, &b, 1, MPI_INT, inter);
    CHECK(code != MPI_SUCCESS);
    code = MPI_Ineighbor_alltoall(&a, 1, MPI_INT, &b, 1, MPI_INT, inter, &request);
    CHECK(code != MPI_SUCCESS);
    CHECK_CLASS(MPI_Allreduce(MPI_IN_PLACE, &b, 1, MPI_INT, MPI_SUM, inter), MPI_ERR_BUFFER);
    CHECK_CLASS(MPI_Bcast(&a, 1, MPI_INT, theirs, inter), MPI_ERR_ROOT);
}

static void between(int lower_size)
{
    MPI_Comm local;
    upper = rank >= lower_size;
    CHECK_OK(MPI_Comm_split(MPI_COMM_WORLD, upper, rank, &local));
    CHECK_OK(MPI_Intercomm_create(local, 0, MPI_COMM_WORLD, upper ? 0 : lower_size, 1, &inter));
    CHECK_OK(MPI_Comm_rank(inter, &me));
    CHECK_OK(MPI_Comm_size(inter, &ours));
    CHECK_OK(MPI_Comm_remote_size(inter, &theirs));
    for (form = BLOCKING; form < FORMS; form++)
        for (int large = 0; large < 2; large++) {
            count = large ? MANY : 3;
            for (int root_upper = 0; root_upper < 2; root_upper++)
                for (int root = 0; root < (root_upper == upper ? ours : theirs); root++)
                    rooted(root_upper, root);
            for_all();
            scattered();
        }
    refused();
    CHECK_OK(MPI_Comm_free(&inter));
    CHECK_OK(MPI_Comm_free(&local));
}

int main(int argc, char **argv)
{
    start(&argc, &argv);
    between(1);
    if (size > 2)
        between(size / 2);
    if (size > 3)
        between(size - 1);
    return end();
}
