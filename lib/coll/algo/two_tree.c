/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/coll/algo/two_tree.h"

/*
 * Both trees are over the m = n - 1 ranks that are not the root. The root sends to (or receives
 * from) the two tops.
 *
 * In the first tree the places 1 .. m are in order. The children of a place with lowest bit b are
 * the places b / 2 below and above; odd places are leaves. In the second tree each rank is one
 * place further, or, if m is even, the order is reversed. So ranks at odd places get even ones.
 */

static int place_of(int m, int tree, int v)
{
    if (!tree)
        return v;
    return m % 2 ? v % m + 1 : m + 1 - v;
}

static int rank_of(const struct tern_plan_args *args, int tree, int place)
{
    int m = args->size - 1, v = place;
    if (tree)
        v = m % 2 ? (place > 1 ? place - 1 : m) : m + 1 - place;
    return wrap((int64_t)v + args->root, args->size);
}

static int top_of(int m)
{
    int top = 1;
    while (2 * top <= m)
        top *= 2;
    return top;
}

/* Neighbours of this rank in a tree: ranks; -1: none. For the root, the top is its lower child. */
struct links {
    int parent, lower, upper;
};

static struct links links_of(const struct tern_plan_args *args, int tree)
{
    struct links links = {-1, -1, -1};
    int m = args->size - 1, v = wrap((int64_t)args->rank - args->root, args->size);
    if (!m)
        return links;
    if (!v) {
        links.lower = rank_of(args, tree, top_of(m));
        return links;
    }
    int place = place_of(m, tree, v), bit = place & -place, up = (place - bit) | 2 * bit;
    if (place == top_of(m))
        links.parent = args->root;
    else
        links.parent = rank_of(args, tree, up <= m ? up : place - bit);
    if (bit > 1)
        links.lower = rank_of(args, tree, place - bit / 2);
    while (bit > 1 && place + bit / 2 > m)
        bit /= 2;
    if (bit > 1)
        links.upper = rank_of(args, tree, place + bit / 2);
    return links;
}

enum { SEGMENT, SEGMENTS, BUFFER, COUNT };

static struct tern_ref segment(const struct tern_plan *plan, struct tern_ref vector, int64_t k)
{
    int64_t begin = k * plan->own[SEGMENT], rest = vector.count - begin;
    return part(vector, begin, rest < plan->own[SEGMENT] ? rest : plan->own[SEGMENT]);
}

static void cut_segments(struct tern_plan *plan, int64_t count, int64_t unit_bytes)
{
    int64_t units = unit_bytes ? plan->args.segment_bytes / unit_bytes : count;
    plan->own[COUNT] = count;
    plan->own[SEGMENT] = units > 1 ? units : 1;
    plan->own[SEGMENTS] = (count + plan->own[SEGMENT] - 1) / plan->own[SEGMENT];
}

/* Groups of three steps, for each tree in turn. Group k: receives segment k of the tree, and sends
 * k - 1 on to both children. So the next receive is posted by then. */
static void bcast_step(const struct tern_plan *plan, int64_t i, struct tern_step *ret_step)
{
    const struct tern_plan_args *args = &plan->args;
    struct tern_ref data = {0, plan->own[COUNT], -1, (uint8_t)plan->own[BUFFER]};
    int tree = (int)(i / 3 % 2), part_of_group = (int)(i % 3);
    int64_t k = 2 * (i / 6 - (part_of_group > 0)) + tree;
    *ret_step = step_none();
    if (i == plan->step_count - plan->head_count - 1) {
        *ret_step = step_copy(data, in_recv(0, args->recv_count), AFTER_ALL);
        if (args->rank == args->root || data.buffer == TERN_RECV_BUFFER)
            ret_step->kind = TERN_STEP_NONE;
        return;
    }
    if (k < 0 || k >= plan->own[SEGMENTS])
        return;
    struct links links = links_of(args, tree);
    int to = part_of_group == 1 ? links.lower : links.upper;
    if (part_of_group == 0 && links.parent >= 0)
        *ret_step = step_recv(links.parent, segment(plan, data, k), 0);
    else if (part_of_group > 0 && to >= 0)
        *ret_step = step_send(to, segment(plan, data, k),
                              links.parent >= 0 ? places_before(6 + part_of_group)
                                                : places_before(i + 1));
}

void tern_plan_set_two_tree_bcast(struct tern_plan *plan, struct tern_ref data)
{
    cut_segments(plan, data.count, 1);
    plan->own[BUFFER] = data.buffer;
    plan->window = 30;
    set_tail(plan, 6 * (plan->own[SEGMENTS] / 2 + 2) + 1, bcast_step);
}

/*
 * Groups of five steps: receive segment k from both children (into temporaries 0 and 1; the root of
 * the collective, if not in place, into its result), reduce k - 1 with this rank's part and with
 * each other, send k - 1 on.
 */
static void reduce_step(const struct tern_plan *plan, int64_t i, struct tern_step *ret_step)
{
    const struct tern_plan_args *args = &plan->args;
    int tree = (int)(i / 5 % 2), part_of_group = (int)(i % 5);
    int64_t count = args->recv_count, k = 2 * (i / 10 - (part_of_group > 1)) + tree;
    *ret_step = step_none();
    if (k < 0 || k >= plan->own[SEGMENTS])
        return;
    struct links links = links_of(args, tree);
    bool root = links.parent < 0, direct = root && !args->in_place;
    struct tern_ref input = segment(plan, in_input(args, 0, count), k);
    struct tern_ref lower = segment(plan, direct ? in_recv(0, count) : in_temp(0, 0, count), k);
    struct tern_ref upper = segment(plan, in_temp(1, 0, count), k);
    struct tern_ref sum = links.upper >= 0 ? upper : links.lower >= 0 ? lower : input;
    if (part_of_group == 0 && links.lower >= 0)
        *ret_step = step_recv(links.lower, lower, 0);
    else if (part_of_group == 1 && links.upper >= 0)
        *ret_step = step_recv(links.upper, upper, 0);
    else if (part_of_group == 2 && root && args->in_place) /* the sum must be where the input is */
        *ret_step = step_reduce(lower, input, places_before(12));
    else if (part_of_group == 2 && links.lower >= 0)
        *ret_step = step_reduce(input, lower, places_before(12));
    else if (part_of_group == 3 && links.upper >= 0)
        *ret_step = step_reduce(lower, upper, places_before(1) | places_before(12));
    else if (part_of_group == 4 && !root)
        *ret_step = step_send(links.parent, sum, places_before(1) | places_before(2));
}

void tern_plan_set_two_tree_reduce(struct tern_plan *plan)
{
    const struct tern_plan_args *args = &plan->args;
    cut_segments(plan, args->recv_count, args->recv_size);
    set_temporaries(plan, 2, args->recv_count, true);
    plan->window = 50;
    if (args->size == 1 && !args->in_place)
        add_copy(plan, in_send(0, args->recv_count), in_recv(0, args->recv_count), 0);
    else if (args->size > 1)
        set_tail(plan, 10 * (plan->own[SEGMENTS] / 2 + 2), reduce_step);
}

void tern_two_tree_stages(const struct tern_shape *shape, struct tern_stages *stages, bool reduced)
{
    int64_t bytes = shape->bytes < shape->segment_bytes ? shape->bytes : shape->segment_bytes;
    int64_t segments = (shape->bytes + shape->segment_bytes - 1) / shape->segment_bytes, depth = 1;
    while ((int64_t)1 << depth < shape->size)
        depth++;
    /* an inner rank sends to two children */
    struct tern_stage step = {.messages = shape->size > 2 ? 2 : 1,
                              .bytes = bytes,
                              .distance = shape->size / 2,
                              .reduced = reduced ? bytes : 0};
    if (reduced)
        tern_stages_add_temporaries(stages, shape->size, 2 * shape->bytes);
    step.repeat = (double)depth;
    step.senders = (shape->size - 1 + 2 * depth - 1) / (2 * depth);
    tern_stages_add(stages, step);
    step.messages = 1; /* in the other tree the rank has no children */
    step.repeat = (double)(segments - 1);
    step.senders = shape->size - 1;
    step.flows = true;
    tern_stages_add(stages, step);
}
