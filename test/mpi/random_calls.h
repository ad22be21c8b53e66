/* SPDX-License-Identifier: BSD-3-Clause */
/* Random calls of collectives, for programs that make them in different ways: drawn, made, compared with the definitions in
 * the standard. Types have gaps or negative extents and differ between ranks; blocks lie in any order with space between;
 * operations are predefined ones of every class and users', commutative and not. Whole buffers are compared, so nothing
 * else may be touched.
 *
 * All ranks draw the same numbers, so each knows what every other one sends and can compute its own result naively. */
#ifndef TEST_MPI_RANDOM_CALLS_H
#define TEST_MPI_RANDOM_CALLS_H

#include "check.h"

enum { COMMS = 6, LAYOUTS = 6, MOST_RANKS = 16, PRIME = 10007, MARGIN = 64 };
enum kind { BARRIER, BCAST, GATHER, GATHERV, SCATTER, SCATTERV, ALLGATHER, ALLGATHERV, ALLTOALL, ALLTOALLV, ALLTOALLW,
            REDUCE, ALLREDUCE, REDUCE_SCATTER, REDUCE_SCATTER_BLOCK, SCAN, EXSCAN, KINDS };
enum form { BLOCKING, NONBLOCKING, PERSISTENT, FORMS };
/* Predefined ones on integers, on pairs of them; users', commutative and not. */
enum reduction { XOR, SUM, MAX, AND, MAXLOC, ADD, COMPOSE, REDUCTIONS };

/* An element is a pair (p, q): the function x -> p x + q. Composition is associative, but not commutative. */
struct pair {
    int p, q;
};

/* How pairs lie in memory. `scale` elements of the type are one pair. */
static struct layout {
    MPI_Datatype type;
    int scale, extent, p_at, q_at;
} layouts[LAYOUTS] = {{MPI_INT, 2, 8, 0, 4}, {MPI_DATATYPE_NULL, 1, 8, 0, 4}}; /* the others are drawn */

static const struct layout pairs = {MPI_2INT, 1, 8, 0, 4};

/* `mine` are the world's ranks of the local group, `others` those whose data come: the remote group, or the same. */
static struct team {
    MPI_Comm comm;
    int inter, me, mine_count, others_count, mine[MOST_RANKS], others[MOST_RANKS], second_side;
} teams[COMMS];
static int team_count;
static MPI_Op ops[REDUCTIONS];

struct memory {
    char *bytes, *base, *expected;
    size_t size;
    const struct layout *layout;
};

struct operation {
    int number, n, root, root_side, in_place;
    enum kind kind;
    enum form form;
    enum reduction reduction;
    const struct team *team;
    struct memory send, recv;
    int send_counts[MOST_RANKS], send_places[MOST_RANKS], recv_counts[MOST_RANKS], recv_places[MOST_RANKS];
    MPI_Datatype send_types[MOST_RANKS], recv_types[MOST_RANKS];
    MPI_Request request;
};

/* ---- elements and memory ---- */

static struct pair value_of(int number, int world_rank, int i)
{
    unsigned h = (unsigned)number * 7919u + (unsigned)world_rank * 104729u + (unsigned)i * 31337u;
    h ^= h >> 13;
    return (struct pair){(int)(h % (PRIME - 1)) + 1, (int)(h / 7 % PRIME)};
}

static struct pair joined(enum reduction reduction, struct pair f, struct pair g)
{
    switch (reduction) {
    case XOR: return (struct pair){f.p ^ g.p, f.q ^ g.q};
    case SUM: return (struct pair){f.p + g.p, f.q + g.q};
    case MAX: return (struct pair){f.p > g.p ? f.p : g.p, f.q > g.q ? f.q : g.q};
    case AND: return (struct pair){f.p && g.p, f.q && g.q};
    case MAXLOC: return f.p > g.p || (f.p == g.p && f.q < g.q) ? f : g;
    case ADD: return (struct pair){(f.p + g.p) % PRIME, (f.q + g.q) % PRIME};
    default: return (struct pair){f.p * g.p % PRIME, (f.p * g.q + f.q) % PRIME};
    }
}

static void apply(enum reduction reduction, void *in, void *inout, int *count, MPI_Datatype *type)
{
    const struct layout *l = layouts;
    while (l->type != *type)
        l++;
    for (int i = 0; i < *count; i++) {
        char *a = (char *)in + i * l->extent, *b = (char *)inout + i * l->extent;
        struct pair f, g;
        memcpy(&f.p, a + l->p_at, 4);
        memcpy(&f.q, a + l->q_at, 4);
        memcpy(&g.p, b + l->p_at, 4);
        memcpy(&g.q, b + l->q_at, 4);
        g = joined(reduction, f, g);
        memcpy(b + l->p_at, &g.p, 4);
        memcpy(b + l->q_at, &g.q, 4);
    }
}

static void apply_add(void *in, void *inout, int *count, MPI_Datatype *type)
{
    apply(ADD, in, inout, count, type);
}

static void apply_compose(void *in, void *inout, int *count, MPI_Datatype *type)
{
    apply(COMPOSE, in, inout, count, type);
}

/* Room for `n` pairs, filled with a mark. */
static void make_memory(struct memory *m, const struct layout *layout, int n)
{
    m->layout = layout;
    m->size = (size_t)abs(layout->extent) * n + 2 * MARGIN;
    m->bytes = allocate(2 * m->size);
    m->expected = m->bytes + m->size;
    m->base = m->bytes + MARGIN + (layout->extent < 0 && n ? -layout->extent * (n - 1) : 0);
    memset(m->bytes, 0xa5, 2 * m->size);
}

static void put(const struct memory *m, int expected_only, int i, struct pair value)
{
    for (int copy = expected_only; copy < 2; copy++) {
        char *at = m->base + (copy ? m->expected - m->bytes : 0) + i * m->layout->extent;
        memcpy(at + m->layout->p_at, &value.p, 4);
        memcpy(at + m->layout->q_at, &value.q, 4);
    }
}

/* ---- what is drawn ---- */

static int draw_count(uint64_t *random)
{
    static const int sizes[] = {0, 1, 2, 3, 17, 100, 1000, 4000};
    return sizes[random_below(random, 8)];
}

/* Pairs from a's block for b in a collective with counts, both of them ranks of the world. */
static int count_between(const struct operation *op, int from, int to)
{
    unsigned h = (unsigned)op->number * 131u + (unsigned)from * 17u + (unsigned)to * 29u;
    return h % 3 == 0 ? 0 : (int)(h % (op->n + 1));
}

static int reduces(enum kind kind)
{
    return kind >= REDUCE;
}

/* Am I the root; do I send to it or get from it; or am I only beside it? */
static int is_root(const struct operation *op)
{
    return op->team->inter ? op->root_side == op->team->second_side && op->root == op->team->me
                           : op->root == op->team->me;
}

static int beside_root(const struct operation *op)
{
    return op->team->inter && op->root_side == op->team->second_side && op->root != op->team->me;
}

static int root_argument(const struct operation *op)
{
    if (!op->team->inter || op->root_side != op->team->second_side)
        return op->root;
    return is_root(op) ? MPI_ROOT : MPI_PROC_NULL;
}

/* ---- definitions: what I send are my values value_of(..., i), one block's after the other's ---- */

static struct pair reduced(const struct operation *op, int first, int last, int i)
{
    struct pair sum = value_of(op->number, op->team->others[last], i);
    for (int r = last - 1; r >= first; r--) {
        sum = joined(op->reduction, value_of(op->number, op->team->others[r], i), sum);
    }
    return sum;
}

static void expect_reduced(struct operation *op, int n, int from, int last)
{
    for (int i = 0; i < n; i++)
        put(&op->recv, 1, i, reduced(op, 0, last, from + i));
}

/* Sum of count_between over the first `n` ranks of the group that `from` sends to. */
static int place_of_block(const struct operation *op, int from, int index)
{
    int place = 0;
    for (int r = 0; r < index; r++)
        place += count_between(op, from, op->team->mine[r]);
    return place;
}

/* MPI_Reduce_scatter's blocks grow or shrink from rank to rank. */
static int share_begin(const struct operation *op, int r)
{
    int m = op->team->mine_count, rest = m - r;
    return op->number % 2 ? op->n * r * r / (m * m) : op->n - op->n * rest * rest / (m * m);
}

/* Blocks in an order of my own choice, with space between. Returns the length of all. */
static int place_blocks(const int *counts, int *places, int count, uint64_t *own)
{
    int order[MOST_RANKS], at = 0;
    for (int r = 0; r < count; r++) {
        int j = random_below(own, r + 1);
        order[r] = order[j];
        order[j] = r;
    }
    for (int r = 0; r < count; r++) {
        at += random_below(own, 3);
        places[order[r]] = at;
        at += counts[order[r]];
    }
    return at;
}

/* What I send to each, wherever its block lies. */
static void put_blocks(struct operation *op, int count, int world_me)
{
    for (int r = 0, index = 0; r < count; r++)
        for (int i = 0; i < op->send_counts[r]; i++)
            put(&op->send, 0, op->send_places[r] + i, value_of(op->number, world_me, index++));
}

static void prepare_and_expect(struct operation *op, uint64_t *random, uint64_t *own)
{
    const struct team *t = op->team;
    int n = op->n, m = t->mine_count, o = t->others_count, me = t->me, world_me = t->mine[me];
    const struct layout *mine = &layouts[random_below(own, LAYOUTS)], *other = &layouts[random_below(own, LAYOUTS)];
    int root_world = t->inter && op->root_side != t->second_side ? t->others[op->root] : t->mine[op->root];
    if (reduces(op->kind)) /* the same arguments everywhere */
        mine = other = op->reduction == MAXLOC ? &pairs
                       : op->reduction < MAXLOC ? &layouts[0]
                                                : &layouts[1 + random_below(random, LAYOUTS - 1)];
    if (op->in_place)
        mine = other;
    for (int r = 0; r < o; r++) {
        int in = op->kind == ALLTOALLV || op->kind == ALLTOALLW ? count_between(op, t->others[r], world_me)
                                                                : count_between(op, t->others[r], -1);
        int out = count_between(op, world_me, t->others[r]);
        if (op->in_place && (op->kind == ALLTOALLV || op->kind == ALLTOALLW)) /* the counts must be symmetric */
            in = out = count_between(op, t->others[r] + world_me, 0);
        op->recv_counts[r] = in;
        op->send_counts[r] = out;
    }
    int received = place_blocks(op->recv_counts, op->recv_places, o, own);
    int sent = place_blocks(op->send_counts, op->send_places, o, own);
    switch (op->kind) {
    case BCAST: sent = received = n; break;
    case GATHER: case ALLGATHER: sent = n; received = n * o; break;
    case GATHERV: case ALLGATHERV: sent = count_between(op, world_me, -1); break;
    case SCATTER: sent = n * o; received = n; break;
    case SCATTERV: received = count_between(op, root_world, world_me); break;
    case ALLTOALL: sent = received = n * o; break;
    case REDUCE: case ALLREDUCE: case SCAN: case EXSCAN: sent = received = n; break;
    case REDUCE_SCATTER_BLOCK: /* the same total on both sides */
        received = n * o;
        sent = n * o * m;
        break;
    case REDUCE_SCATTER:
        for (int r = 0; r < m; r++)
            op->recv_counts[r] = share_begin(op, r + 1) - share_begin(op, r);
        received = op->recv_counts[me];
        sent = n;
        break;
    default: break;
    }
    make_memory(&op->send, mine, sent);
    make_memory(&op->recv, other, op->in_place && sent > received ? sent : received);
    if (op->kind == SCATTERV || op->kind == ALLTOALLV || op->kind == ALLTOALLW)
        put_blocks(op, o, world_me);
    else
        for (int i = 0; i < sent; i++)
            put(&op->send, 0, i, value_of(op->number, world_me, i));

    if (op->in_place) { /* my own contribution lies where the result comes */
        if (op->kind == ALLGATHER)
            for (int i = 0; i < n; i++)
                put(&op->recv, 0, me * n + i, value_of(op->number, world_me, i));
        else if (op->kind == ALLGATHERV)
            for (int i = 0; i < op->recv_counts[me]; i++)
                put(&op->recv, 0, op->recv_places[me] + i, value_of(op->number, world_me, i));
        else if (op->kind == ALLTOALLV || op->kind == ALLTOALLW)
            for (int r = 0; r < o; r++)
                for (int i = 0; i < op->recv_counts[r]; i++)
                    put(&op->recv, 0, op->recv_places[r] + i, value_of(op->number, world_me, 10000 * t->others[r] + i));
        else if (op->kind == GATHER || op->kind == GATHERV) {
            int at = op->kind == GATHER ? me * n : op->recv_places[me];
            for (int i = 0; is_root(op) && i < (op->kind == GATHER ? n : op->recv_counts[me]); i++)
                put(&op->recv, 0, at + i, value_of(op->number, world_me, i));
        } else if (op->kind != SCATTER && op->kind != SCATTERV && (op->kind != REDUCE || is_root(op)))
            for (int i = 0; i < sent; i++)
                put(&op->recv, 0, i, value_of(op->number, world_me, i));
    }

    switch (op->kind) {
    case BCAST:
        for (int i = 0; i < n; i++)
            if (is_root(op))
                put(&op->recv, 0, i, value_of(op->number, root_world, i));
            else if (!beside_root(op))
                put(&op->recv, 1, i, value_of(op->number, root_world, i));
        break;
    case GATHER: case ALLGATHER:
        for (int r = 0; (op->kind == ALLGATHER || is_root(op)) && r < o; r++)
            for (int i = 0; i < n; i++)
                put(&op->recv, 1, r * n + i, value_of(op->number, t->others[r], i));
        break;
    case GATHERV: case ALLGATHERV:
        for (int r = 0; (op->kind == ALLGATHERV || is_root(op)) && r < o; r++)
            for (int i = 0; i < op->recv_counts[r]; i++)
                put(&op->recv, 1, op->recv_places[r] + i, value_of(op->number, t->others[r], i));
        break;
    case SCATTER: case SCATTERV:
        if (beside_root(op) || (t->inter && is_root(op)) || (op->in_place && is_root(op)))
            break;
        for (int i = 0; i < received; i++)
            put(&op->recv, 1, i, value_of(op->number, root_world,
                                          (op->kind == SCATTER ? me * n : place_of_block(op, root_world, me)) + i));
        break;
    case ALLTOALL:
        for (int r = 0; r < o; r++)
            for (int i = 0; i < n; i++)
                put(&op->recv, 1, r * n + i, value_of(op->number, t->others[r], me * n + i));
        break;
    case ALLTOALLV: case ALLTOALLW:
        for (int r = 0; r < o; r++)
            for (int i = 0; i < op->recv_counts[r]; i++)
                put(&op->recv, 1, op->recv_places[r] + i,
                    value_of(op->number, t->others[r],
                             op->in_place ? 10000 * world_me + i : place_of_block(op, t->others[r], me) + i));
        break;
    case REDUCE:
        if (is_root(op))
            expect_reduced(op, n, 0, o - 1);
        break;
    case ALLREDUCE: expect_reduced(op, n, 0, o - 1); break;
    case SCAN: expect_reduced(op, n, 0, me); break;
    case EXSCAN:
        if (me > 0)
            expect_reduced(op, n, 0, me - 1);
        break;
    case REDUCE_SCATTER_BLOCK: expect_reduced(op, received, me * received, o - 1); break;
    case REDUCE_SCATTER: expect_reduced(op, received, share_begin(op, me), o - 1); break;
    default: break;
    }
}

/* ---- calls ---- */

#define CALL(op, Name, name, ...)                                                                          \
    CHECK_OK((op)->form == BLOCKING      ? MPI_##Name(__VA_ARGS__)                                         \
             : (op)->form == NONBLOCKING ? MPI_I##name(__VA_ARGS__, &(op)->request)                        \
                                         : MPI_##Name##_init(__VA_ARGS__, MPI_INFO_NULL, &(op)->request))

/* Counts and places become the type's; for MPI_Alltoallw places are in bytes. */
static void describe_blocks(struct operation *op)
{
    int s = op->send.layout->scale, r = op->recv.layout->scale;
    for (int i = 0; i < MOST_RANKS; i++) {
        op->send_types[i] = op->send.layout->type;
        op->recv_types[i] = op->recv.layout->type;
        op->send_counts[i] *= s;
        op->recv_counts[i] *= r;
        op->send_places[i] *= op->kind == ALLTOALLW ? op->send.layout->extent : s;
        op->recv_places[i] *= op->kind == ALLTOALLW ? op->recv.layout->extent : r;
    }
}

static void call(struct operation *op)
{
    int s = op->send.layout->scale, r = op->recv.layout->scale, n = op->n, root = root_argument(op);
    int me_world = op->team->mine[op->team->me];
    const void *out = op->in_place ? MPI_IN_PLACE : op->send.base;
    void *in = op->recv.base;
    MPI_Datatype st = op->send.layout->type, rt = op->recv.layout->type;
    MPI_Op reduction = ops[op->reduction];
    MPI_Comm comm = op->team->comm;
    switch (op->kind) {
    case BARRIER: CALL(op, Barrier, barrier, comm); break;
    case BCAST: CALL(op, Bcast, bcast, in, n * r, rt, root, comm); break;
    case GATHER: CALL(op, Gather, gather, is_root(op) ? out : op->send.base, n * s, st, in, n * r, rt, root, comm); break;
    case GATHERV:
        CALL(op, Gatherv, gatherv, is_root(op) ? out : op->send.base, count_between(op, me_world, -1) * s, st, in,
             op->recv_counts, op->recv_places, rt, root, comm);
        break;
    case SCATTER:
        CALL(op, Scatter, scatter, op->send.base, n * s, st, is_root(op) && op->in_place ? MPI_IN_PLACE : in, n * r, rt,
             root, comm);
        break;
    case SCATTERV: {
        int root_world = op->team->inter && op->root_side != op->team->second_side ? op->team->others[op->root]
                                                                                   : op->team->mine[op->root];
        CALL(op, Scatterv, scatterv, op->send.base, op->send_counts, op->send_places, st,
             is_root(op) && op->in_place ? MPI_IN_PLACE : in, count_between(op, root_world, me_world) * r, rt, root, comm);
        break;
    }
    case ALLGATHER: CALL(op, Allgather, allgather, out, n * s, st, in, n * r, rt, comm); break;
    case ALLGATHERV:
        CALL(op, Allgatherv, allgatherv, out, count_between(op, me_world, -1) * s, st, in, op->recv_counts,
             op->recv_places, rt, comm);
        break;
    case ALLTOALL: CALL(op, Alltoall, alltoall, out, n * s, st, in, n * r, rt, comm); break;
    case ALLTOALLV:
        CALL(op, Alltoallv, alltoallv, out, op->send_counts, op->send_places, st, in, op->recv_counts, op->recv_places,
             rt, comm);
        break;
    case ALLTOALLW:
        CALL(op, Alltoallw, alltoallw, out, op->send_counts, op->send_places, op->send_types, in, op->recv_counts,
             op->recv_places, op->recv_types, comm);
        break;
    case REDUCE:
        CALL(op, Reduce, reduce, is_root(op) ? out : op->send.base, in, n * r, rt, reduction, root, comm);
        break;
    case ALLREDUCE: CALL(op, Allreduce, allreduce, out, in, n * r, rt, reduction, comm); break;
    case REDUCE_SCATTER: CALL(op, Reduce_scatter, reduce_scatter, out, in, op->recv_counts, rt, reduction, comm); break;
    case REDUCE_SCATTER_BLOCK:
        CALL(op, Reduce_scatter_block, reduce_scatter_block, out, in, n * op->team->others_count * r, rt, reduction, comm);
        break;
    case SCAN: CALL(op, Scan, scan, out, in, n * r, rt, reduction, comm); break;
    case EXSCAN: CALL(op, Exscan, exscan, out, in, n * r, rt, reduction, comm); break;
    default: break;
    }
}

static void check_memory(const struct operation *op, const struct memory *m, const char *what, size_t from, size_t to)
{
    for (size_t i = from; i < to; i++)
        if (m->bytes[i] != m->expected[i])
            FAIL("round %d, collective %d, form %d, n %d, in place %d, %s: byte %zu of %zu: got 0x%02x, expected 0x%02x",
                 op->number, op->kind, op->form, op->n, op->in_place, what, i, m->size, m->bytes[i] & 255,
                 m->expected[i] & 255);
}

/* MPI_Reduce_scatter in place may use the rest of its buffer as it likes. */
static size_t significant(const struct operation *op, size_t *ret_from)
{
    int whole = !op->in_place || (op->kind != REDUCE_SCATTER && op->kind != REDUCE_SCATTER_BLOCK), scale;
    const struct memory *m = &op->recv;
    int n = op->kind == REDUCE_SCATTER ? op->recv_counts[op->team->me] : op->n * op->team->others_count;
    *ret_from = 0;
    if (whole)
        return m->size;
    scale = op->kind == REDUCE_SCATTER ? m->layout->scale : 1;
    size_t first = m->base - m->bytes, bytes = (size_t)abs(m->layout->extent) * (n / scale);
    *ret_from = m->layout->extent < 0 ? first - m->layout->extent - bytes : first;
    return *ret_from + bytes;
}

/* Of that kind, form and team; the rest at random. `random` is the same on all ranks. */
static void draw_call(struct operation *op, int number, enum kind kind, enum form form, const struct team *team,
                      uint64_t *random, uint64_t *own)
{
    memset(op, 0, sizeof *op);
    op->number = number;
    op->request = MPI_REQUEST_NULL;
    op->team = team;
    op->kind = kind;
    op->form = form;
    op->n = draw_count(random);
    op->root_side = random_below(random, 2);
    op->root = random_below(random, MOST_RANKS);
    op->in_place = random_below(random, 3) == 0 && !team->inter && kind != BCAST && kind != BARRIER;
    op->reduction = (enum reduction)random_below(random, REDUCTIONS);
    op->root %= team->inter && op->root_side != team->second_side ? team->others_count : team->mine_count;
    if (kind == REDUCE_SCATTER_BLOCK && op->n > 100)
        op->n = 100;
    prepare_and_expect(op, random, own);
    describe_blocks(op);
}

static void finish(struct operation *op)
{
    size_t from, to;
    if (op->form == PERSISTENT) {
        CHECK_OK(MPI_Start(&op->request));
        CHECK_OK(MPI_Wait(&op->request, MPI_STATUS_IGNORE));
        CHECK_OK(MPI_Request_free(&op->request));
    } else
        CHECK_OK(MPI_Wait(&op->request, MPI_STATUS_IGNORE));
    to = significant(op, &from);
    check_memory(op, &op->recv, "received", from, to);
    check_memory(op, &op->send, "sent", 0, op->send.size);
    free(op->recv.bytes);
    free(op->send.bytes);
}

/* ---- setting up ---- */

static void add_team(MPI_Comm comm)
{
    MPI_Group world, mine, others;
    int inter, all[MOST_RANKS], at = 0;
    struct team *t = &teams[team_count];
    CHECK_OK(MPI_Comm_test_inter(comm, &inter));
    CHECK_OK(MPI_Comm_group(MPI_COMM_WORLD, &world));
    CHECK_OK(MPI_Comm_group(comm, &mine));
    if (inter)
        CHECK_OK(MPI_Comm_remote_group(comm, &others));
    else
        CHECK_OK(MPI_Comm_group(comm, &others));
    t->comm = comm;
    t->inter = inter;
    CHECK_OK(MPI_Comm_rank(comm, &t->me));
    CHECK_OK(MPI_Group_size(mine, &t->mine_count));
    CHECK_OK(MPI_Group_size(others, &t->others_count));
    for (int i = 0; i < MOST_RANKS; i++)
        all[i] = i;
    CHECK_OK(MPI_Group_translate_ranks(mine, t->mine_count, all, world, t->mine));
    CHECK_OK(MPI_Group_translate_ranks(others, t->others_count, all, world, t->others));
    for (int i = 1; i < t->mine_count; i++)
        if (t->mine[i] < t->mine[at])
            at = i;
    t->second_side = inter && t->mine[at] != 0;
    CHECK_OK(MPI_Group_free(&world));
    CHECK_OK(MPI_Group_free(&mine));
    CHECK_OK(MPI_Group_free(&others));
    team_count++;
}

static void make_teams(void)
{
    MPI_Comm comm, inter;
    add_team(MPI_COMM_WORLD);
    CHECK_OK(MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &comm));
    add_team(comm);
    CHECK_OK(MPI_Comm_split(MPI_COMM_WORLD, 0, rank * 5 % (size | 1), &comm));
    add_team(comm);
    if (size < 2)
        return;
    int third = (size + 2) / 3, second = rank >= third; /* sides of different size */
    CHECK_OK(MPI_Comm_split(MPI_COMM_WORLD, second, rank, &comm));
    CHECK_OK(MPI_Intercomm_create(comm, 0, MPI_COMM_WORLD, second ? 0 : third, 7, &inter));
    CHECK_OK(MPI_Comm_free(&comm));
    add_team(inter);
}

static void draw_layout(struct layout *layout, uint64_t *random)
{
    int words = 2 + random_below(random, 5);
    layout->scale = 1;
    layout->extent = 4 * words * (random_below(random, 3) ? 1 : -1);
    layout->p_at = 4 * random_below(random, words);
    layout->q_at = (layout->p_at + 4 + 4 * random_below(random, words - 1)) % (4 * words);
}

static void make_layouts(uint64_t *random)
{
    for (int i = 1; i < LAYOUTS; i++) {
        struct layout *l = &layouts[i];
        if (i > 1)
            draw_layout(l, random);
        MPI_Datatype raw;
        MPI_Aint places[2] = {l->p_at, l->q_at};
        CHECK_OK(MPI_Type_create_hindexed_block(2, 1, places, MPI_INT, &raw));
        CHECK_OK(MPI_Type_create_resized(raw, 0, l->extent, &l->type));
        CHECK_OK(MPI_Type_commit(&l->type));
        CHECK_OK(MPI_Type_free(&raw));
    }
    ops[XOR] = MPI_BXOR;
    ops[SUM] = MPI_SUM;
    ops[MAX] = MPI_MAX;
    ops[AND] = MPI_LAND;
    ops[MAXLOC] = MPI_MAXLOC;
    CHECK_OK(MPI_Op_create(apply_add, 1, &ops[ADD]));
    CHECK_OK(MPI_Op_create(apply_compose, 0, &ops[COMPOSE]));
}

static void free_teams_and_layouts(void)
{
    for (int i = 1; i < team_count; i++)
        CHECK_OK(MPI_Comm_free(&teams[i].comm));
    for (int i = 1; i < LAYOUTS; i++)
        CHECK_OK(MPI_Type_free(&layouts[i].type));
    for (int i = ADD; i < REDUCTIONS; i++)
        CHECK_OK(MPI_Op_free(&ops[i]));
}

#endif
