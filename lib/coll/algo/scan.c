/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Prefix reductions (Hillis, Steele 1986). Before round k a rank has the sum of the 2^k ranks up to
 * itself. It sends this sum to the rank 2^k above, and reduces what arrives from the rank 2^k below
 * with its sum, as the left operand.
 */
#include "lib/coll/algo/ring_reduction.h"
#include "lib/coll/algo/hierarchy.h"

static void scan_doubling(struct tern_plan *plan)
{
    const struct tern_plan_args *args = &plan->args;
    int64_t count = args->recv_count, ready = -1, freed[2] = {-1, -1};
    struct tern_ref sum = in_recv(0, count);
    set_temporaries(plan, 2, count, true);
    if (!args->in_place)
        ready = add_copy(plan, in_send(0, count), sum, 0);
    int round = 0;
    for (int64_t far = 1; far < args->size; far *= 2, round ^= 1) {
        int64_t sent = -1;
        if (args->rank + far < args->size)
            sent = add_send(plan, (int)(args->rank + far), sum, after(plan, ready));
        if (args->rank - far < 0)
            continue;
        struct tern_ref below = in_temp(round, 0, count);
        int64_t received =
            add_recv(plan, (int)(args->rank - far), below, after(plan, freed[round]));
        ready = freed[round] = add_reduce(
            plan, below, sum, after(plan, received) | after(plan, sent) | after(plan, ready));
    }
}

/* The same with a second sum, which never includes this rank's own input. The first sum is computed
 * as long as there is a rank to send it to. */
static void exscan_doubling(struct tern_plan *plan)
{
    const struct tern_plan_args *args = &plan->args;
    int64_t count = args->recv_count, freed[2] = {-1, -1}, result = -1;
    struct tern_ref sum = in_temp(2, 0, count);
    set_temporaries(plan, 3, count, true);
    int64_t ready = -1, copied;
    if (args->rank + 1 < args->size)
        ready = add_copy(plan, in_input(args, 0, count), sum, 0);
    copied = ready;
    int round = 0;
    for (int64_t far = 1; far < args->size; far *= 2, round ^= 1) {
        int64_t sent = -1;
        if (args->rank + far < args->size)
            sent = add_send(plan, (int)(args->rank + far), sum, after(plan, ready));
        if (args->rank - far < 0)
            continue;
        struct tern_ref below = in_temp(round, 0, count);
        int64_t received =
            add_recv(plan, (int)(args->rank - far), below, after(plan, freed[round]));
        if (result < 0)
            result = add_copy(plan, below, in_recv(0, count),
                              after(plan, received) | after(plan, copied));
        else
            result = add_reduce(plan, below, in_recv(0, count),
                                after(plan, received) | after(plan, result));
        freed[round] = result;
        if (args->rank + 2 * far < args->size)
            ready = freed[round] = add_reduce(plan, below, sum,
                                              after(plan, received) | after(plan, sent) |
                                                  after(plan, ready) | after(plan, result));
    }
}

/*
 * Pipelined chain: what arrives from the rank below, segment by segment, is reduced with this
 * rank's part and sent to the rank above. There are three steps per segment: receive k, reduce k -
 * 1, send k - 1.
 */
enum { SEGMENT, SEGMENTS };

/* Returns true if what arrives may stand on the right of this rank's part: then it arrives where
 * the result shall be, and no copy is needed. */
static bool arrives_in_result(const struct tern_plan_args *args)
{
    return args->collective == TERN_SCAN && args->commutative && !args->in_place;
}

static void chain_step(const struct tern_plan *plan, int64_t i, struct tern_step *ret_step)
{
    const struct tern_plan_args *args = &plan->args;
    bool scan = args->collective == TERN_SCAN, last = args->rank + 1 == args->size;
    int64_t k = i / 3 - (i % 3 > 0), begin = k * plan->own[SEGMENT];
    int64_t rest = args->recv_count - begin;
    int64_t count = rest < plan->own[SEGMENT] ? rest : plan->own[SEGMENT];
    struct tern_ref result = in_recv(begin, count), temp = in_temp(0, begin, count);
    struct tern_ref below = scan ? temp : result, sum = scan ? result : temp, own = below;
    if (arrives_in_result(args)) {
        below = result;
        own = in_send(begin, count);
        sum = args->rank ? result : own;
    }
    *ret_step = step_none();
    if (k < 0 || k >= plan->own[SEGMENTS])
        return;
    if (i % 3 == 0 && args->rank) /* the result may be where the input was */
        *ret_step = step_recv(args->rank - 1, below, scan ? 0 : places_before(i + 1));
    else if (i % 3 == 1 && args->rank && (scan || !last))
        *ret_step = step_reduce(own, sum, places_before(4) | places_before(i + 1));
    else if (i % 3 == 2 && !last)
        *ret_step = step_send(args->rank + 1, sum, places_before(1) | places_before(i + 1));
}

static void chain(struct tern_plan *plan)
{
    const struct tern_plan_args *args = &plan->args;
    int64_t count = args->recv_count;
    int64_t segment = args->recv_size ? args->segment_bytes / args->recv_size : count;
    bool direct = arrives_in_result(args);
    set_temporaries(plan, direct ? 0 : 1, count, true);
    if (args->collective == TERN_EXSCAN && args->rank + 1 < args->size)
        add_copy(plan, in_input(args, 0, count), in_temp(0, 0, count), 0);
    else if (args->collective == TERN_SCAN && !args->in_place && !(direct && args->rank))
        add_copy(plan, in_send(0, count), in_recv(0, count), 0);
    plan->own[SEGMENT] = segment > 1 ? segment : 1;
    plan->own[SEGMENTS] = (count + plan->own[SEGMENT] - 1) / plan->own[SEGMENT];
    plan->window = 24;
    set_tail(plan, 3 * plan->own[SEGMENTS] + 3, chain_step);
}

/* --- prices, of scan and exscan --- */

static void recursive_doubling_stages(const struct tern_shape *shape, struct tern_stages *stages)
{
    for (int64_t far = 1; far < shape->size; far *= 2)
        tern_stages_add(stages, (struct tern_stage){.repeat = 1,
                                                    .messages = 1,
                                                    .bytes = shape->bytes,
                                                    .distance = far,
                                                    .senders = shape->size,
                                                    .reduced = shape->bytes});
}

static void chain_stages(const struct tern_shape *shape, struct tern_stages *stages)
{
    tern_stages_add_chain(stages, shape, true);
}

const struct tern_algorithm tern_scan_algorithms[] = {
    {"board", tern_plan_use_board, tern_plan_fits_board, tern_board_scan_stages},
    {"recursive_doubling", scan_doubling, NULL, recursive_doubling_stages},
    {"chain", chain, NULL, chain_stages},
    {"hierarchical", tern_hierarchical_scan, tern_plan_fits_ranges,
     tern_hierarchical_scan_stages},
    {0},
};

const struct tern_algorithm tern_exscan_algorithms[] = {
    {"board", tern_plan_use_board, tern_plan_fits_board, tern_board_scan_stages},
    {"recursive_doubling", exscan_doubling, NULL, recursive_doubling_stages},
    {"chain", chain, NULL, chain_stages},
    {"hierarchical", tern_hierarchical_exscan, tern_plan_fits_ranges,
     tern_hierarchical_scan_stages},
    {0},
};
