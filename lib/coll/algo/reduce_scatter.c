/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/coll/algo/circulant.h"
#include "lib/coll/algo/hierarchy.h"
#include "lib/coll/algo/by_other_collectives.h"

#include <stdlib.h>

/* Returns where block r begins in the input; r = size: where the last block ends. */
static int64_t offset_of(const struct tern_plan *plan, int r)
{
    return plan->offsets ? plan->offsets[r] : r * plan->args.recv_count;
}

static void set_offsets(struct tern_plan *plan)
{
    const struct tern_plan_args *args = &plan->args;
    if (!args->blocks)
        return;
    plan->offsets = calloc((size_t)args->size + 1, sizeof *plan->offsets);
    if (!plan->offsets) {
        plan->failed = true;
        return;
    }
    for (int r = 0; r < args->size; r++)
        plan->offsets[r + 1] = plan->offsets[r] + tern_recv_count(args, r);
}

static int64_t block_count(const struct tern_plan *plan, int r)
{
    return offset_of(plan, r + 1) - offset_of(plan, r);
}

/* Every rank gets the whole sum and keeps its block: the fewest rounds, for short vectors. */
static void recursive_doubling(struct tern_plan *plan)
{
    const struct tern_plan_args *args = &plan->args;
    set_offsets(plan);
    int64_t count = offset_of(plan, args->size), mine = block_count(plan, args->rank), ready;
    struct tern_ref sum;
    set_temporaries(plan, 2, count, true);
    tern_plan_add_doubling(plan, in_input(args, 0, count), in_temp(0, 0, count),
                           in_temp(1, 0, count), &sum, &ready);
    if (!same_place(sum, in_recv(0, mine)))
        add_copy(plan, part(sum, offset_of(plan, args->rank), mine), in_recv(0, mine),
                 AFTER_ALL);
}

/*
 * Pairwise: in round k rank p receives its block of rank p-k's input, and sends to p+k the block of
 * that rank. Blocks arrive from p-1 down to 0, then from n-1 down to p+1. Each arriving block is
 * the left operand. If order matters, the blocks from above p are collected in a sum of their own,
 * which becomes the right operand at the end.
 */
enum { ARRIVING, ABOVE = 2, IN_PLACE = 3 }; /* temporaries; arriving blocks use 0 and 1 */

static struct tern_ref pairwise_sum(const struct tern_plan *plan)
{
    int64_t mine = block_count(plan, plan->args.rank);
    return plan->args.in_place ? in_temp(IN_PLACE, 0, mine) : in_recv(0, mine);
}

static void pairwise_round(const struct tern_plan *plan, int64_t i, struct tern_step *ret_step)
{
    const struct tern_plan_args *args = &plan->args;
    int n = args->size, p = args->rank;
    int64_t k = i / 3 + 1, mine = block_count(plan, p);
    int to = wrap(p + k, n), from = wrap(p - k, n);
    bool above = !args->commutative && k > p, first_above = above && k == p + 1;
    struct tern_ref arriving = in_temp(ARRIVING + (int)(k % 2), 0, mine);
    struct tern_ref sum = above ? in_temp(ABOVE, 0, mine) : pairwise_sum(plan);
    switch (i % 3) {
    case 0:
        *ret_step = step_send(to, in_input(args, offset_of(plan, to), block_count(plan, to)), 0);
        if (!block_count(plan, to))
            ret_step->kind = TERN_STEP_NONE;
        return;
    case 1: /* the reduction two rounds ago freed the temporary */
        *ret_step = step_recv(from, first_above ? sum : arriving, places_before(5));
        break;
    default: /* after the receive, and after the reduction into the sum in the round before */
        *ret_step =
            step_reduce(arriving, sum, places_before(1) | places_before(3) | places_before(4));
        if (first_above)
            ret_step->kind = TERN_STEP_NONE;
    }
    if (!mine)
        ret_step->kind = TERN_STEP_NONE;
}

static void pairwise_step(const struct tern_plan *plan, int64_t i, struct tern_step *ret_step)
{
    const struct tern_plan_args *args = &plan->args;
    int64_t rounds = args->size - 1, mine = block_count(plan, args->rank);
    struct tern_ref sum = pairwise_sum(plan), above = in_temp(ABOVE, 0, mine);
    bool two_sums = !args->commutative && args->rank < rounds;
    if (i < 3 * rounds)
        pairwise_round(plan, i, ret_step);
    else if (i == 3 * rounds && two_sums)
        *ret_step = step_reduce(sum, above, AFTER_ALL);
    else if (i == 3 * rounds + 1 && (two_sums || args->in_place))
        *ret_step = step_copy(two_sums ? above : sum, in_recv(0, mine), AFTER_ALL);
    else
        *ret_step = step_none();
}

static void pairwise(struct tern_plan *plan)
{
    const struct tern_plan_args *args = &plan->args;
    set_offsets(plan);
    if (plan->failed)
        return;
    int64_t mine = block_count(plan, args->rank);
    set_temporaries(plan, args->in_place ? 4 : args->commutative ? 2 : 3, mine, true);
    add_copy(plan, in_input(args, offset_of(plan, args->rank), mine), pairwise_sum(plan), 0);
    plan->window = 12;
    set_tail(plan, 3 * (int64_t)(args->size - 1) + 2, pairwise_step);
}

static void circulant(struct tern_plan *plan)
{
    const struct tern_plan_args *args = &plan->args;
    set_offsets(plan);
    if (plan->failed)
        return;
    int64_t count = offset_of(plan, args->size), mine = block_count(plan, args->rank);
    struct tern_ref sums = in_temp(1, 0, count);
    tern_plan_add_circulant_reduce(plan, in_input(args, 0, count), sums, plan->offsets);
    set_temporaries(plan, 2, count, true);
    add_copy(plan, part(sums, offset_of(plan, args->rank), mine), in_recv(0, mine), AFTER_ALL);
}

/* Reduces all to rank 0, which then sends out the blocks. If ranks share cores, each rank needs its
 * core twice only. */
static void by_tree(struct tern_plan *plan, int radix)
{
    const struct tern_plan_args *args = &plan->args;
    struct tern_team team = team_of(args);
    struct tern_ref sum;
    set_offsets(plan);
    if (plan->failed)
        return;
    int64_t count = offset_of(plan, args->size), mine = block_count(plan, args->rank), ready;
    team.radix = radix;
    set_temporaries(plan, 2, count, true);
    tern_plan_add_reduce(plan, team, 0, !args->commutative, in_input(args, 0, count),
                         in_temp(1, 0, count), in_temp(0, 0, count), &sum, &ready);
    add_fence(plan); /* in place: the input has been sent */
    if (args->rank && mine)
        add_recv(plan, 0, in_recv(0, mine), 0);
    for (int r = 1; r < args->size && args->rank == 0; r++)
        if (block_count(plan, r))
            add_send(plan, r, part(sum, offset_of(plan, r), block_count(plan, r)), 0);
    if (args->rank == 0 && !same_place(sum, in_recv(0, mine)))
        add_copy(plan, part(sum, sum.offset, mine), in_recv(0, mine), 0);
}

static void knomial(struct tern_plan *plan)
{
    by_tree(plan, 4);
}

static void linear(struct tern_plan *plan)
{
    by_tree(plan, plan->args.size + 1);
}

/* --- prices --- */

static void recursive_doubling_stages(const struct tern_shape *shape, struct tern_stages *stages)
{
    int64_t whole = shape->bytes * shape->size;
    for (int64_t far = 1; far < shape->size; far *= 2)
        tern_stages_add(stages, (struct tern_stage){.repeat = 1,
                                                    .messages = 1,
                                                    .bytes = whole,
                                                    .distance = far,
                                                    .senders = shape->size,
                                                    .reduced = whole});
}

static void pairwise_stages(const struct tern_shape *shape, struct tern_stages *stages)
{
    tern_stages_add(stages, (struct tern_stage){.repeat = (double)(shape->size - 1),
                                                .messages = 1,
                                                .bytes = shape->bytes,
                                                .distance = shape->size,
                                                .senders = shape->size,
                                                .reduced = shape->bytes});
}

static void circulant_stages(const struct tern_shape *shape, struct tern_stages *stages)
{
    tern_stages_add_circulant(stages, shape->size, shape->bytes * shape->size, shape->unit, true);
    tern_stages_add_temporaries(stages, shape->size, 2 * shape->bytes * shape->size);
}

static void add_tree_stages(const struct tern_shape *shape, struct tern_stages *stages,
                            int64_t radix)
{
    int64_t whole = shape->bytes * shape->size;
    tern_stages_add_tree(stages, shape->size, radix, whole, false, whole);
    tern_stages_add_tree(stages, shape->size, shape->size + 1, shape->bytes, false, 0);
}

static void knomial_stages(const struct tern_shape *shape, struct tern_stages *stages)
{
    add_tree_stages(shape, stages, 4);
}

static void linear_stages(const struct tern_shape *shape, struct tern_stages *stages)
{
    add_tree_stages(shape, stages, shape->size + 1);
}

const struct tern_algorithm tern_reduce_scatter_algorithms[] = {
    {"board", tern_plan_use_board, tern_plan_fits_board, tern_board_reduce_scatter_stages},
    {"recursive_doubling", recursive_doubling, NULL, recursive_doubling_stages},
    {"pairwise", pairwise, NULL, pairwise_stages},
    {"circulant", circulant, commutative, circulant_stages},
    {"knomial", knomial, NULL, knomial_stages},
    {"linear", linear, NULL, linear_stages},
    {"reduce_then_scatter", tern_reduce_scatter_by_reduce, tern_plan_fits_sequence,
     tern_reduce_scatterv_by_reduce_stages},
    {"hierarchical", tern_hierarchical_reduce_scatter, tern_plan_fits_levels,
     tern_hierarchical_reduce_scatter_stages},
    {0},
};

const struct tern_algorithm tern_reduce_scatter_block_algorithms[] = {
    {"board", tern_plan_use_board, tern_plan_fits_board, tern_board_reduce_scatter_stages},
    {"recursive_doubling", recursive_doubling, NULL, recursive_doubling_stages},
    {"pairwise", pairwise, NULL, pairwise_stages},
    {"circulant", circulant, commutative, circulant_stages},
    {"knomial", knomial, NULL, knomial_stages},
    {"linear", linear, NULL, linear_stages},
    {"reduce_then_scatter", tern_reduce_scatter_by_reduce, tern_plan_fits_sequence,
     tern_reduce_scatter_by_reduce_stages},
    {"allreduce", tern_reduce_scatter_by_allreduce, tern_plan_fits_sequence,
     tern_reduce_scatter_by_allreduce_stages},
    {"hierarchical", tern_hierarchical_reduce_scatter, tern_plan_fits_levels,
     tern_hierarchical_reduce_scatter_stages},
    {0},
};
