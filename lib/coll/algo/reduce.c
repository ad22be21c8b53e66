/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/coll/algo/butterfly.h"
#include "lib/coll/algo/hierarchy.h"
#include "lib/coll/algo/by_other_collectives.h"
#include "lib/coll/algo/ring_reduction.h"
#include "lib/coll/algo/circulant_bcast.h"

/*
 * Along a tree to the root, with ranks counted from the root. If the operation does not commute: to
 * rank 0, in rank order, and from there to the root.
 */
static void along(struct tern_plan *plan, struct tern_team team)
{
    const struct tern_plan_args *args = &plan->args;
    int64_t count = args->recv_count, ready;
    int top = args->commutative ? args->root : 0;
    bool root = args->rank == args->root;
    bool at_home = root && args->rank == top;
    struct tern_ref result = in_recv(0, count), sum;
    set_temporaries(plan, at_home ? 1 : 2, count, true);
    tern_plan_add_reduce(plan, team, top, !args->commutative, in_input(args, 0, count),
                         at_home ? result : in_temp(1, 0, count), in_temp(0, 0, count), &sum,
                         &ready);
    if (at_home) {
        if (!same_place(sum, result))
            add_copy(plan, sum, result, after(plan, ready));
    } else if (root) { /* after all sends: the root's input may be in the receive buffer */
        add_recv(plan, top, result, AFTER_ALL);
    } else if (args->rank == top) {
        add_send(plan, args->root, sum, after(plan, ready));
    }
}

static void binomial(struct tern_plan *plan)
{
    along(plan, team_of(&plan->args));
}

static void knomial(struct tern_plan *plan)
{
    struct tern_team team = team_of(&plan->args);
    team.radix = 4;
    along(plan, team);
}

static void linear(struct tern_plan *plan)
{
    struct tern_team team = team_of(&plan->args);
    team.radix = team.size + 1;
    along(plan, team);
}

/*
 * Pipelined chain from the last rank to the first, counted from the root. Each rank adds its part
 * to every segment and passes the segment on at once. Rank order is kept if the root is rank 0.
 */
enum { CHAIN_SEGMENT, CHAIN_SEGMENTS };

static struct tern_ref chain_segment(const struct tern_plan *plan, struct tern_ref vector,
                                     int64_t k)
{
    int64_t begin = k * plan->own[CHAIN_SEGMENT], rest = vector.count - begin;
    return part(vector, begin,
                rest < plan->own[CHAIN_SEGMENT] ? rest : plan->own[CHAIN_SEGMENT]);
}

/* Three steps per segment: receive k, reduce k - 1, send k - 1. */
static void chain_step(const struct tern_plan *plan, int64_t i, struct tern_step *ret_step)
{
    const struct tern_plan_args *args = &plan->args;
    int n = args->size, v = wrap((int64_t)args->rank - args->root, n);
    int64_t count = args->recv_count, k = i / 3 - (i % 3 > 0);
    bool last = v == n - 1, direct = v == 0 && !args->in_place;
    *ret_step = step_none();
    if (k < 0 || k >= plan->own[CHAIN_SEGMENTS])
        return;
    struct tern_ref input = chain_segment(plan, in_input(args, 0, count), k);
    struct tern_ref sum =
        chain_segment(plan, direct ? in_recv(0, count) : in_temp(0, 0, count), k);
    if (i % 3 == 0 && !last)
        *ret_step = step_recv(wrap((int64_t)args->rank + 1, n), sum, 0);
    else if (i % 3 == 1 && !last)
        *ret_step = step_reduce(input, sum, places_before(4));
    else if (i % 3 == 2 && v)
        *ret_step = step_send(wrap((int64_t)args->rank - 1, n), last ? input : sum,
                              places_before(1));
    else if (i % 3 == 2 && !direct && !last)
        *ret_step = step_copy(sum, input, places_before(1));
    else if (i % 3 == 2 && last && !args->in_place) /* a single rank */
        *ret_step = step_copy(input, chain_segment(plan, in_recv(0, count), k), 0);
}

static void chain(struct tern_plan *plan)
{
    const struct tern_plan_args *args = &plan->args;
    int64_t segment = args->recv_size ? args->segment_bytes / args->recv_size : 0;
    plan->own[CHAIN_SEGMENT] = segment > 1 ? segment : 1;
    plan->own[CHAIN_SEGMENTS] = (args->recv_count + plan->own[CHAIN_SEGMENT] - 1) /
                                plan->own[CHAIN_SEGMENT];
    plan->window = 24;
    set_temporaries(plan, 1, args->recv_count, true);
    if (args->recv_count)
        set_tail(plan, 3 * plan->own[CHAIN_SEGMENTS] + 3, chain_step);
}

static bool fits_chain(const struct tern_plan_args *args)
{
    return args->commutative || args->root == 0;
}

/* Rabenseifner 2004: halving, then the parts go to the root in the reverse rounds. */
static void halving(struct tern_plan *plan)
{
    const struct tern_plan_args *args = &plan->args;
    bool root = args->rank == args->root;
    int64_t count = args->recv_count, ready;
    struct tern_butterfly shape =
        tern_butterfly_of(TERN_BUTTERFLY_XOR, args->rank, args->size, args->root);
    struct tern_butterfly top =
        tern_butterfly_of(TERN_BUTTERFLY_XOR, args->root, args->size, args->root);
    struct tern_ref a = root ? in_recv(0, count) : in_temp(1, 0, count), mine;
    set_temporaries(plan, root ? 1 : 2, count, true);
    tern_plan_add_halving(plan, &shape, !args->commutative, in_input(args, 0, count), a,
                          in_temp(0, 0, count), &mine, &ready);
    if (shape.player < 0)
        return;
    if (mine.count && mine.buffer != a.buffer)
        add_copy(plan, mine, part(a, mine.offset, mine.count), AFTER_ALL);
    for (int s = shape.rounds - 1; s >= 0; s--) {
        int other = tern_butterfly_peer(&shape, shape.player, s);
        int peer = tern_butterfly_rank(&shape, other);
        bool hands_over = (shape.player ^ top.player) >> s & 1;
        struct tern_ref parts =
            tern_butterfly_range(&shape, hands_over ? shape.player : other, s + 1, a);
        add_fence(plan); /* parts arrive where other parts were sent from */
        if (parts.count && hands_over)
            add_send(plan, peer, parts, 0);
        else if (parts.count)
            add_recv(plan, peer, parts, 0);
        if (hands_over)
            return;
    }
}

/* Ring reduce-scatter, then every rank sends its part to the root. */
static struct tern_ref ring_result(const struct tern_plan_args *args)
{
    return args->rank == args->root ? in_recv(0, args->recv_count)
                                    : in_temp(0, 0, args->recv_count);
}

static void ring_step(const struct tern_plan *plan, int64_t i, struct tern_step *ret_step)
{
    const struct tern_plan_args *args = &plan->args;
    int n = args->size, p = args->rank;
    struct tern_ref result = ring_result(args);
    int64_t j = i - ring_reduce_steps(n);
    if (j < 0) {
        *ret_step = tern_ring_reduce_step(p, n, i, in_input(args, 0, args->recv_count), result, 0);
    } else if (p != args->root) {
        *ret_step = step_send(args->root, tern_ring_chunk(result, n, p + 1), places_before(1));
    } else if (j == 0) { /* parts arrive where other parts were sent from */
        *ret_step = step_none();
        ret_step->after = AFTER_ALL;
    } else {
        int from = wrap(p + j, n);
        *ret_step = step_recv(from, tern_ring_chunk(result, n, from + 1), places_before(j));
    }
}

static void ring(struct tern_plan *plan)
{
    const struct tern_plan_args *args = &plan->args;
    int n = args->size;
    bool root = args->rank == args->root;
    if (!root)
        set_temporaries(plan, 1, args->recv_count, true);
    else if (args->in_place)
        set_temporaries(plan, 2, cut(args->recv_count, n, 1), true);
    else if (n == 1)
        add_copy(plan, in_send(0, args->recv_count), in_recv(0, args->recv_count), 0);
    set_tail(plan, ring_reduce_steps(n) + (root ? n : 1), ring_step);
}

/* --- prices --- */

static void binomial_stages(const struct tern_shape *shape, struct tern_stages *stages)
{
    tern_stages_add_tree(stages, shape->size, 2, shape->bytes, false, shape->bytes);
}

static void knomial_stages(const struct tern_shape *shape, struct tern_stages *stages)
{
    tern_stages_add_tree(stages, shape->size, 4, shape->bytes, false, shape->bytes);
}

static void linear_stages(const struct tern_shape *shape, struct tern_stages *stages)
{
    tern_stages_add_tree(stages, shape->size, shape->size + 1, shape->bytes, false, shape->bytes);
}

static void chain_stages(const struct tern_shape *shape, struct tern_stages *stages)
{
    tern_stages_add_chain(stages, shape, true);
}

static void circulant_stages(const struct tern_shape *shape, struct tern_stages *stages)
{
    tern_circulant_stages(shape, stages, true);
}

static void halving_stages(const struct tern_shape *shape, struct tern_stages *stages)
{
    tern_stages_add_temporaries(stages, shape->size, 2 * shape->bytes);
    tern_stages_add_butterfly(stages, TERN_BUTTERFLY_XOR, shape->size, shape->bytes, shape->unit,
                              true);
    int64_t units = tern_units(shape->bytes, shape->unit);
    if (units >= shape->size) {
        tern_stages_add_tree(stages, shape->size, 2, shape->bytes / shape->size, true, 0);
        return;
    }
    for (int64_t far = 1; far < shape->size;
         far *= 4) /* half of the steps on the way to the root, on average */
        tern_stages_add(stages, (struct tern_stage){.repeat = 1,
                                                    .messages = 1,
                                                    .bytes = shape->unit,
                                                    .distance = far,
                                                    .senders = units});
}

/* The ring, then the root receives the parts of all ranks. */
static void ring_stages(const struct tern_shape *shape, struct tern_stages *stages)
{
    tern_stages_add_ring(stages, shape->size, shape->bytes / shape->size, true);
    tern_stages_add_tree(stages, shape->size, shape->size + 1, shape->bytes / shape->size, false,
                         0);
}

const struct tern_algorithm tern_reduce_algorithms[] = {
    {"board", tern_plan_use_board, tern_plan_fits_board, tern_board_reduce_stages},
    {"slices", tern_plan_use_slices, tern_plan_fits_slices, tern_slices_reduce_stages},
    {"binomial", binomial, NULL, binomial_stages},
    {"knomial", knomial, NULL, knomial_stages},
    {"linear", linear, NULL, linear_stages},
    {"chain", chain, fits_chain, chain_stages},
    {"circulant", tern_plan_set_circulant_reduce, commutative, circulant_stages},
    {"halving", halving, NULL, halving_stages},
    {"ring", ring, commutative, ring_stages},
    {"scatter_gather", tern_reduce_by_scatter, tern_plan_fits_equal_parts,
     tern_reduce_by_scatter_stages},
    {"allreduce", tern_reduce_by_allreduce, tern_plan_fits_sequence,
     tern_reduce_by_allreduce_stages},
    {"hierarchical", tern_hierarchical_reduce, tern_plan_fits_levels,
     tern_hierarchical_reduce_stages},
    {"multi_leader", tern_multi_leader_reduce, tern_plan_fits_lanes,
     tern_multi_leader_reduce_stages},
    {0},
};
