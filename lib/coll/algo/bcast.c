/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Broadcast. Only the number of bytes is known to be equal on all ranks: their types may differ.
 * Algorithms that cut the message work on bytes. If the user's type has gaps, they work on a packed
 * copy.
 */
#include "lib/coll/algo/butterfly.h"
#include "lib/coll/algo/circulant.h"
#include "lib/coll/algo/hierarchy.h"
#include "lib/coll/algo/ring_reduction.h"
#include "lib/coll/algo/circulant_bcast.h"

static int64_t total_bytes(const struct tern_plan_args *args)
{
    return args->recv_count * args->recv_size;
}

static void along(struct tern_plan *plan, struct tern_team team)
{
    const struct tern_plan_args *args = &plan->args;
    tern_plan_add_bcast(plan, team, args->root, in_recv(0, args->recv_count), -1);
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

/* Returns the message as bytes: the buffer itself, or a packed copy, which is filled at the
 * root. */
static struct tern_ref as_bytes(struct tern_plan *plan)
{
    const struct tern_plan_args *args = &plan->args;
    if (args->recv_bytes)
        return in_recv(0, args->recv_count);
    set_temporaries(plan, 1, total_bytes(args), false);
    struct tern_ref packed = in_temp(0, 0, total_bytes(args));
    if (args->rank == args->root)
        add_copy(plan, in_recv(0, args->recv_count), packed, 0);
    return packed;
}

static bool unpacks(const struct tern_plan_args *args)
{
    return !args->recv_bytes && args->rank != args->root;
}

/* --- pipelined chain: each rank passes every segment to the next as soon as the segment has
 * arrived --- */

enum { CHAIN_SEGMENT, CHAIN_SEGMENTS, CHAIN_BUFFER };

static struct tern_ref chain_segment(const struct tern_plan *plan, int64_t k)
{
    int64_t total = total_bytes(&plan->args), begin = k * plan->own[CHAIN_SEGMENT];
    int64_t rest = total - begin;
    struct tern_ref ref = {begin, rest < plan->own[CHAIN_SEGMENT] ? rest : plan->own[CHAIN_SEGMENT],
                           -1, (uint8_t)plan->own[CHAIN_BUFFER]};
    return ref;
}

/* Receives segment k, then sends segment k - 1, so that the next receive is posted while a segment
 * is sent. */
static void chain_step(const struct tern_plan *plan, int64_t i, struct tern_step *ret_step)
{
    const struct tern_plan_args *args = &plan->args;
    int64_t segments = plan->own[CHAIN_SEGMENTS], k = i / 2;
    int v = wrap((int64_t)args->rank - args->root, args->size);
    *ret_step = step_none();
    if (i == 2 * segments + 2)
        *ret_step =
            step_copy(in_temp(0, 0, total_bytes(args)), in_recv(0, args->recv_count), AFTER_ALL);
    else if (i % 2 == 0 && k < segments && v > 0)
        *ret_step = step_recv(wrap((int64_t)args->rank - 1, args->size), chain_segment(plan, k), 0);
    else if (i % 2 == 1 && k > 0 && v < args->size - 1)
        *ret_step =
            step_send(wrap((int64_t)args->rank + 1, args->size), chain_segment(plan, k - 1),
                      places_before(3) |
                          places_before(i + 1)); /* its receive, or the packing at the begin */
}

static void chain(struct tern_plan *plan)
{
    struct tern_ref data = as_bytes(plan);
    if (data.count == 0)
        return;
    int64_t segment = plan->args.segment_bytes, segments = (data.count + segment - 1) / segment;
    plan->own[CHAIN_SEGMENT] = segment;
    plan->own[CHAIN_SEGMENTS] = segments;
    plan->own[CHAIN_BUFFER] = data.buffer;
    plan->window = 16;
    set_tail(plan, 2 * segments + 2 + unpacks(&plan->args), chain_step);
}

static void circulant(struct tern_plan *plan)
{
    tern_plan_set_circulant_bcast(plan, as_bytes(plan));
}

/* --- van de Geijn: scatter along a binomial tree, then allgather around a ring; each byte passes
 * a rank about twice --- */

static struct tern_ref chunks(struct tern_ref data, int size, int64_t begin, int64_t end)
{
    if (end > size)
        end = size;
    int64_t offset = cut(data.count, size, begin);
    return part(data, offset, cut(data.count, size, end) - offset);
}

enum { RING_BUFFER, RING_BYTES };

/* Round k: sends chunk v-k on; chunk v-k-1 arrives. The root has all chunks and receives
 * nothing. */
static void ring_step(const struct tern_plan *plan, int64_t i, struct tern_step *ret_step)
{
    const struct tern_plan_args *args = &plan->args;
    int n = args->size;
    int v = wrap((int64_t)args->rank - args->root, n);
    int64_t k = i / 2;
    struct tern_ref data = {0, plan->own[RING_BYTES], -1, (uint8_t)plan->own[RING_BUFFER]};
    *ret_step = step_none();
    if (k == n - 1) {
        *ret_step = step_copy(data, in_recv(0, args->recv_count), AFTER_ALL);
    } else if (i % 2 == 0) {
        int chunk = wrap(v - k, n);
        struct tern_ref ref = chunks(data, n, chunk, chunk + 1);
        *ret_step =
            step_send(wrap((int64_t)args->rank + 1, n), ref, k ? places_before(1) : AFTER_ALL);
        if (v == n - 1 || !ref.count)
            ret_step->kind = TERN_STEP_NONE;
    } else {
        int chunk = wrap(v - k - 1, n);
        struct tern_ref ref = chunks(data, n, chunk, chunk + 1);
        *ret_step = step_recv(wrap((int64_t)args->rank - 1, n), ref,
                              k ? places_before(2) : AFTER_ALL & ~1ull);
        ret_step->flags |= TERN_STEP_AWAITED;
        if (v == 0 || !ref.count)
            ret_step->kind = TERN_STEP_NONE;
    }
}

/* Scatter: every rank gets the chunks of its subtree. */
static void add_scatter(struct tern_plan *plan, struct tern_ref data)
{
    const struct tern_plan_args *args = &plan->args;
    int n = args->size, v = wrap((int64_t)args->rank - args->root, n);
    int64_t ready = plan->head_count - 1;
    int64_t mask = 1;
    while (mask < n && !(v & mask))
        mask *= 2;
    if (v) {
        struct tern_ref mine = chunks(data, n, v, v + mask);
        if (mine.count)
            ready = add_recv(plan, wrap(v - mask + args->root, n), mine, 0);
    }
    for (mask /= 2; mask; mask /= 2) {
        if (v + mask >= n)
            continue;
        struct tern_ref theirs = chunks(data, n, v + mask, v + 2 * mask);
        if (theirs.count)
            add_send(plan, wrap(v + mask + args->root, n), theirs, after(plan, ready));
    }
}

static void scatter_ring(struct tern_plan *plan)
{
    const struct tern_plan_args *args = &plan->args;
    struct tern_ref data = as_bytes(plan);
    add_scatter(plan, data);
    plan->own[RING_BUFFER] = data.buffer;
    plan->own[RING_BYTES] = data.count;
    set_tail(plan, 2 * (int64_t)(args->size - 1) + unpacks(args), ring_step);
}

/* Allgather in which every rank sends its chunk to every other. */
static void linear_chunk_step(const struct tern_plan *plan, int64_t i, struct tern_step *ret_step)
{
    const struct tern_plan_args *args = &plan->args;
    int n = args->size, v = wrap((int64_t)args->rank - args->root, n);
    struct tern_ref data = {0, plan->own[RING_BYTES], -1, (uint8_t)plan->own[RING_BUFFER]};
    int far = (int)(i / 2) + 1, to = wrap(v + far, n), from = wrap(v - far, n);
    struct tern_ref ref = i % 2 ? chunks(data, n, from, from + 1) : chunks(data, n, v, v + 1);
    if (i == 2 * (int64_t)(n - 1))
        *ret_step = step_copy(data, in_recv(0, args->recv_count), AFTER_ALL);
    else if (!ref.count || (i % 2 ? v : to) == 0) /* the root has all chunks */
        *ret_step = step_none();
    else if (i % 2 == 0)
        *ret_step = step_send(wrap((int64_t)to + args->root, n), ref, 0);
    else
        *ret_step = step_recv(wrap((int64_t)from + args->root, n), ref, 0);
}

static void scatter_linear(struct tern_plan *plan)
{
    const struct tern_plan_args *args = &plan->args;
    struct tern_ref data = as_bytes(plan);
    add_scatter(plan, data);
    add_fence(plan);
    plan->own[RING_BUFFER] = data.buffer;
    plan->own[RING_BYTES] = data.count;
    set_tail(plan, 2 * (int64_t)(args->size - 1) + unpacks(args), linear_chunk_step);
}

/* Scatter, then allgather on circulant graphs: the fewest rounds for any size. */
static void scatter_circulant(struct tern_plan *plan)
{
    const struct tern_plan_args *args = &plan->args;
    struct tern_ref data = as_bytes(plan);
    add_scatter(plan, data);
    tern_plan_add_circulant_gather(plan, data, wrap((int64_t)args->rank - args->root, args->size));
    if (unpacks(args))
        add_copy(plan, data, in_recv(0, args->recv_count), AFTER_ALL);
}

/* Scatter, then allgather by recursive doubling instead of the ring: fewer rounds. A rank sends
 * again what the other already has, so that all rounds are alike. */
static void scatter_doubling(struct tern_plan *plan)
{
    const struct tern_plan_args *args = &plan->args;
    int n = args->size, v = wrap((int64_t)args->rank - args->root, n);
    struct tern_ref data = as_bytes(plan);
    add_scatter(plan, data);
    for (int mask = 1; mask < n; mask *= 2) {
        int peer = v ^ mask, low = v & ~(mask - 1), other = peer & ~(mask - 1);
        struct tern_ref mine = chunks(data, n, low, low + mask);
        struct tern_ref theirs = chunks(data, n, other, other + mask);
        add_fence(plan);
        if (mine.count)
            add_send(plan, wrap((int64_t)peer + args->root, n), mine, 0);
        if (theirs.count)
            add_recv(plan, wrap((int64_t)peer + args->root, n), theirs, 0);
    }
    if (unpacks(args))
        add_copy(plan, data, in_recv(0, args->recv_count), AFTER_ALL);
}

/* --- prices --- */

static void binomial_stages(const struct tern_shape *shape, struct tern_stages *stages)
{
    tern_stages_add_tree(stages, shape->size, 2, shape->bytes, false, 0);
}

static void knomial_stages(const struct tern_shape *shape, struct tern_stages *stages)
{
    tern_stages_add_tree(stages, shape->size, 4, shape->bytes, false, 0);
}

static void linear_stages(const struct tern_shape *shape, struct tern_stages *stages)
{
    tern_stages_add_tree(stages, shape->size, shape->size + 1, shape->bytes, false, 0);
}

static void chain_stages(const struct tern_shape *shape, struct tern_stages *stages)
{
    tern_stages_add_chain(stages, shape, false);
}

static void circulant_stages(const struct tern_shape *shape, struct tern_stages *stages)
{
    tern_circulant_stages(shape, stages, false);
}

/* Returns the number of ranks with chunks: if there are fewer bytes than ranks, only the first
 * ranks get any. */
static int64_t ranks_with_chunks(const struct tern_shape *shape)
{
    int64_t units = tern_units(shape->bytes, 1);
    return units < shape->size ? units : shape->size;
}

static int64_t chunk_bytes(const struct tern_shape *shape)
{
    return (shape->bytes + shape->size - 1) / shape->size;
}

static void add_scatter_stages(const struct tern_shape *shape, struct tern_stages *stages)
{
    tern_stages_add_tree(stages, ranks_with_chunks(shape), 2, chunk_bytes(shape), true, 0);
}

static void scatter_doubling_stages(const struct tern_shape *shape, struct tern_stages *stages)
{
    add_scatter_stages(shape, stages);
    int64_t some = ranks_with_chunks(shape);
    for (int64_t far = 1; far < shape->size; far *= 2)
        tern_stages_add(stages,
                        (struct tern_stage){.repeat = 1,
                                            .messages = 1,
                                            .bytes = (some < far ? some : far) * chunk_bytes(shape),
                                            .distance = far,
                                            .senders = some < far ? far : some});
}

static void scatter_ring_stages(const struct tern_shape *shape, struct tern_stages *stages)
{
    add_scatter_stages(shape, stages);
    struct tern_stage round = {.repeat = (double)(shape->size - 1),
                               .messages = 1,
                               .bytes = chunk_bytes(shape),
                               .distance = 1,
                               .senders = ranks_with_chunks(shape),
                               .relay = true};
    tern_stages_add(stages, round);
}

static void scatter_circulant_stages(const struct tern_shape *shape, struct tern_stages *stages)
{
    add_scatter_stages(shape, stages);
    tern_stages_add_circulant(stages, shape->size, shape->bytes, 1, false);
}

static void scatter_linear_stages(const struct tern_shape *shape, struct tern_stages *stages)
{
    add_scatter_stages(shape, stages);
    tern_stages_add(stages, (struct tern_stage){.repeat = 1,
                                                .messages = shape->size - 1,
                                                .bytes = chunk_bytes(shape),
                                                .distance = shape->size,
                                                .senders = ranks_with_chunks(shape)});
}

const struct tern_algorithm tern_bcast_algorithms[] = {
    {"board", tern_plan_use_board, tern_plan_fits_board, tern_board_bcast_stages},
    {"binomial", binomial, NULL, binomial_stages},
    {"chain", chain, NULL, chain_stages},
    {"knomial", knomial, NULL, knomial_stages},
    {"linear", linear, NULL, linear_stages},
    {"circulant", circulant, NULL, circulant_stages},
    {"scatter_doubling", scatter_doubling, power_of_two, scatter_doubling_stages},
    {"scatter_ring", scatter_ring, NULL, scatter_ring_stages},
    {"scatter_linear", scatter_linear, NULL, scatter_linear_stages},
    {"scatter_circulant", scatter_circulant, NULL, scatter_circulant_stages},
    {"hierarchical", tern_hierarchical_bcast, tern_plan_fits_levels,
     tern_hierarchical_bcast_stages},
    {"multi_leader", tern_multi_leader_bcast, tern_plan_fits_lanes,
     tern_multi_leader_bcast_stages},
    {0},
};
