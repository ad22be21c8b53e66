/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/coll/algo/ring_reduction.h"
#include "lib/coll/algo/hierarchy.h"
#include "lib/coll/algo/by_other_collectives.h"

#include <stdlib.h>

static int64_t add_own_block(struct tern_plan *plan)
{
    const struct tern_plan_args *args = &plan->args;
    if (args->in_place)
        return -1;
    return add_copy(plan, in_send(0, args->send_count),
                    recv_block(args, tern_plan_rank_at(plan, args->rank)), 0);
}

/* Returns `blocks` equal blocks from `first` on. */
static struct tern_ref range(const struct tern_plan_args *args, int64_t first, int64_t blocks)
{
    return in_recv(first * args->recv_count, blocks * args->recv_count);
}

/*
 * Bruck et al. 1997, without its rotation: after round k rank p has blocks p .. p + 2^k - 1,
 * wrapped at the end, already in their places. A range that wraps is sent as two messages. Both
 * sides see one range and cut it at one place.
 */
static void bruck(struct tern_plan *plan)
{
    const struct tern_plan_args *args = &plan->args;
    int n = args->size;
    int64_t ready = add_own_block(plan);
    for (int64_t have = 1; have < n; have *= 2) {
        int64_t more = have < n - have ? have : n - have;
        int to = wrap(args->rank - have, n), from = wrap(args->rank + have, n);
        int64_t out = args->rank + more <= n ? more : n - args->rank,
                in = from + more <= n ? more : n - from;
        uint64_t ready_1 = after(plan, ready);
        add_send(plan, to, range(args, args->rank, out), ready_1);
        if (out < more)
            add_send(plan, to, range(args, 0, more - out), after(plan, ready));
        ready = add_recv(plan, from, range(args, from, in), after(plan, ready));
        if (in < more)
            ready = add_recv(plan, from, range(args, 0, more - in), after(plan, ready));
    }
}

/* Bruck's algorithm with messages to several ranks at a time: fewer rounds. */
enum { RADIX = 4 };

static void add_ranges(struct tern_plan *plan, int peer, int64_t first, int64_t blocks, bool send)
{
    const struct tern_plan_args *args = &plan->args;
    int64_t before = first + blocks <= args->size ? blocks : args->size - first;
    const struct tern_ref ranges[] = {range(args, first, before), range(args, 0, blocks - before)};
    for (int i = 0; i < (before < blocks ? 2 : 1); i++)
        tern_plan_add(plan, send ? step_send(peer, ranges[i], 0) : step_recv(peer, ranges[i], 0));
}

static void k_bruck(struct tern_plan *plan)
{
    const struct tern_plan_args *args = &plan->args;
    int n = args->size, p = args->rank;
    add_own_block(plan);
    for (int64_t have = 1; have < n; have *= RADIX) {
        add_fence(plan);
        for (int64_t far = have; far < RADIX * have && far < n; far += have) {
            int64_t more = have < n - far ? have : n - far;
            add_ranges(plan, wrap(p + far, n), wrap(p + far, n), more, false);
            add_ranges(plan, wrap(p - far, n), p, more, true);
        }
    }
}

/* Bruck's algorithm for unequal blocks. The blocks are packed side by side in a temporary,
 * beginning with this rank's, so that every message is one range. */
static void packed_bruck(struct tern_plan *plan)
{
    const struct tern_plan_args *args = &plan->args;
    int n = args->size, p = args->rank;
    plan->offsets = calloc((size_t)n + 1, sizeof *plan->offsets);
    if (!plan->offsets) {
        plan->failed = true;
        return;
    }
    for (int i = 0; i < n; i++)
        plan->offsets[i + 1] =
            plan->offsets[i] + data_bytes(args, recv_block(args, wrap((int64_t)p + i, n)));
    const int64_t *begin = plan->offsets;
    set_temporaries(plan, 1, begin[n], false);
    if (begin[1])
        add_copy(plan, args->in_place ? recv_block(args, p) : in_send(0, args->send_count),
                 in_temp(0, 0, begin[1]), 0);
    for (int64_t have = 1; have < n; have *= 2) {
        int64_t more = have < n - have ? have : n - have;
        add_fence(plan);
        if (begin[have + more] > begin[have])
            add_recv(plan, wrap(p + have, n),
                     in_temp(0, begin[have], begin[have + more] - begin[have]), 0);
        if (begin[more])
            add_send(plan, wrap(p - have, n), in_temp(0, 0, begin[more]), 0);
    }
    add_fence(plan);
    for (int i = args->in_place; i < n; i++)
        if (begin[i + 1] > begin[i])
            add_copy(plan, in_temp(0, begin[i], begin[i + 1] - begin[i]),
                     recv_block(args, wrap((int64_t)p + i, n)), 0);
}

/* Ring, round k: sends block p-k on; block p-k-1 arrives. */
static void ring_step(const struct tern_plan *plan, int64_t i, struct tern_step *ret_step)
{
    const struct tern_plan_args *args = &plan->args;
    int n = args->size;
    int64_t k = i / 2;
    int owner = tern_plan_rank_at(plan, wrap(args->rank - k - i % 2, n));
    struct tern_ref block = recv_block(args, owner);
    if (i % 2 == 0) {
        *ret_step = step_send(wrap((int64_t)args->rank + 1, n), block, places_before(1));
    } else {
        *ret_step = step_recv(wrap((int64_t)args->rank - 1, n), block, places_before(2));
        ret_step->flags = TERN_STEP_AWAITED;
    }
    if (!data_bytes(args, block))
        ret_step->kind = TERN_STEP_NONE;
}

static void ring(struct tern_plan *plan)
{
    tern_plan_place_ranks(plan);
    add_own_block(plan);
    set_tail(plan, 2 * (int64_t)(plan->args.size - 1), ring_step);
}

/*
 * Neighbour exchange (Chen et al. 2005), for even n. First the two ranks of a pair exchange their
 * blocks. Then each rank passes the pair of blocks that arrived last to its neighbours in turn.
 * This takes half the rounds of a ring.
 */
static struct tern_ref pair_of_round(const struct tern_plan_args *args, int64_t r)
{
    int64_t far = (r + 1) / 2;
    bool down = (args->rank + r) % 2; /* arrives from the lower ranks */
    int pairs = args->size / 2;
    return range(args, 2 * (int64_t)wrap(args->rank / 2 + (down ? -far : far), pairs), 2);
}

static void neighbor_step(const struct tern_plan *plan, int64_t i, struct tern_step *ret_step)
{
    const struct tern_plan_args *args = &plan->args;
    int64_t r = i / 2;
    int peer = wrap(args->rank + ((args->rank + r) % 2 ? -1 : 1), args->size);
    if (i % 2 == 0)
        *ret_step = step_recv(peer, r ? pair_of_round(args, r) : range(args, peer, 1), 0);
    else
        *ret_step = step_send(peer, r ? pair_of_round(args, r - 1) : range(args, args->rank, 1),
                              places_before(3) | places_before(r < 2 ? i + 1 : 0));
}

static void neighbor_exchange(struct tern_plan *plan)
{
    add_own_block(plan);
    set_tail(plan, plan->args.size, neighbor_step);
}

/* Blocks that travel together are those of neighbours by number. They should be near each other. */
static bool in_order(const struct tern_plan_args *args)
{
    return !is_out_of_order(args);
}

static bool fits_neighbor_exchange(const struct tern_plan_args *args)
{
    return args->size % 2 == 0 && in_order(args);
}

/* Linear: every rank sends its block to every other. One round, n-1 messages each way. */
static void linear_step(const struct tern_plan *plan, int64_t i, struct tern_step *ret_step)
{
    const struct tern_plan_args *args = &plan->args;
    int64_t far = i / 2 + 1;
    int from = wrap(args->rank - far, args->size);
    /* the own block, from the receive buffer, where it was copied to or lay already */
    if (i % 2 == 0) {
        struct tern_ref own = recv_block(args, args->rank);
        *ret_step = step_send(wrap(args->rank + far, args->size), own, places_before(i + 1));
        if (!data_bytes(args, own))
            ret_step->kind = TERN_STEP_NONE;
    } else {
        *ret_step = step_recv(from, recv_block(args, from), 0);
        if (!data_bytes(args, ret_step->to))
            ret_step->kind = TERN_STEP_NONE;
    }
}

static void linear(struct tern_plan *plan)
{
    add_own_block(plan);
    set_tail(plan, 2 * (int64_t)(plan->args.size - 1), linear_step);
}

/* --- prices, also for the v form with equal blocks --- */

static void own_block_stage(const struct tern_shape *shape, struct tern_stages *stages)
{
    tern_stages_add(stages, (struct tern_stage){
                                .repeat = 1, .senders = shape->size, .copied = shape->bytes});
}

static void bruck_stages(const struct tern_shape *shape, struct tern_stages *stages)
{
    own_block_stage(shape, stages);
    for (int64_t have = 1; have < shape->size; have *= 2) {
        int64_t more = have < shape->size - have ? have : shape->size - have;
        tern_stages_add(stages, (struct tern_stage){.repeat = 1,
                                                    .messages = 1,
                                                    .bytes = more * shape->bytes,
                                                    .distance = have,
                                                    .senders = shape->size});
    }
}

static void k_bruck_stages(const struct tern_shape *shape, struct tern_stages *stages)
{
    own_block_stage(shape, stages);
    for (int64_t have = 1; have < shape->size; have *= RADIX) {
        int64_t told = (shape->size - 1) / have < RADIX - 1 ? (shape->size - 1) / have : RADIX - 1;
        int64_t more = have < shape->size - have ? have : shape->size - have;
        tern_stages_add(stages, (struct tern_stage){.repeat = 1,
                                                    .messages = told,
                                                    .bytes = more * shape->bytes,
                                                    .distance = told * have,
                                                    .senders = shape->size});
    }
}

static void packed_bruck_stages(const struct tern_shape *shape, struct tern_stages *stages)
{
    bruck_stages(shape, stages);
    tern_stages_add(stages, (struct tern_stage){.repeat = 1,
                                                .senders = shape->size,
                                                .copied = shape->bytes * shape->size});
}

static void ring_stages(const struct tern_shape *shape, struct tern_stages *stages)
{
    own_block_stage(shape, stages);
    tern_stages_add_ring(stages, shape->size, shape->bytes, false);
}

static void neighbor_exchange_stages(const struct tern_shape *shape, struct tern_stages *stages)
{
    own_block_stage(shape, stages);
    tern_stages_add(stages, (struct tern_stage){.repeat = 1,
                                                .messages = 1,
                                                .bytes = shape->bytes,
                                                .distance = 1,
                                                .senders = shape->size});
    tern_stages_add(stages, (struct tern_stage){.repeat = (double)shape->size / 2 - 1,
                                                .messages = 1,
                                                .bytes = 2 * shape->bytes,
                                                .distance = 1,
                                                .senders = shape->size,
                                                .relay = true});
}

static void linear_stages(const struct tern_shape *shape, struct tern_stages *stages)
{
    tern_stages_add(stages, (struct tern_stage){.repeat = 1,
                                                .messages = shape->size - 1,
                                                .bytes = shape->bytes,
                                                .distance = shape->size,
                                                .senders = shape->size,
                                                .copied = shape->bytes});
}

const struct tern_algorithm tern_allgather_algorithms[] = {
    {"board", tern_plan_use_board, tern_plan_fits_board, tern_board_stages},
    {"bruck", bruck, in_order, bruck_stages},
    {"k_bruck", k_bruck, in_order, k_bruck_stages},
    {"ring", ring, NULL, ring_stages},
    {"neighbor_exchange", neighbor_exchange, fits_neighbor_exchange, neighbor_exchange_stages},
    {"linear", linear, NULL, linear_stages},
    {"gather_bcast", tern_allgather_by_gather, tern_plan_fits_sequence,
     tern_allgather_by_gather_stages},
    {"hierarchical", tern_hierarchical_allgather, tern_plan_fits_levels,
     tern_hierarchical_allgather_stages},
    {"multi_leader", tern_multi_leader_allgather, tern_plan_fits_lanes_of_ranges,
     tern_multi_leader_allgather_stages},
    {0},
};

const struct tern_algorithm tern_allgatherv_algorithms[] = {
    {"board", tern_plan_use_board, tern_plan_fits_board, tern_board_stages},
    {"ring", ring, NULL, ring_stages},
    {"bruck", packed_bruck, NULL, packed_bruck_stages},
    {"linear", linear, NULL, linear_stages},
    {"hierarchical", tern_hierarchical_allgatherv, tern_plan_fits_levels,
     tern_hierarchical_allgatherv_stages},
    {0},
};
