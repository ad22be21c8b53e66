/* SPDX-License-Identifier: BSD-3-Clause */

/* Reductions of intercommunicators (inter.c): each group gets the other group's sum. */
#include "lib/coll/algo/inter.h"

/* Reduces `count` units to `sum` at rank 0 of this group. */
static void reduce_locally(struct tern_plan *plan, int64_t count, struct tern_ref sum)
{
    struct tern_phase *phase = tern_inter_add_local(plan, TERN_REDUCE);
    if (!phase)
        return;
    tern_phase_send(plan, phase, in_send(0, count));
    tern_phase_recv(plan, phase, sum);
}

static void leaders_reduce(struct tern_plan *plan)
{
    const struct tern_plan_args *args = &plan->args;
    struct tern_ref sum = in_kept(0, args->recv_count);
    if (beside_root(args))
        return;
    if (is_root(args)) {
        add_recv(plan, 0, in_recv(0, args->recv_count), 0);
        return;
    }
    tern_plan_compose(plan, args->rank ? 0 : args->recv_count);
    reduce_locally(plan, args->recv_count, sum);
    if (!args->rank)
        tern_inter_add_across(plan, &tern_inter_give, sum, nothing);
    tern_plan_finish(plan);
}

static void leaders_allreduce(struct tern_plan *plan)
{
    const struct tern_plan_args *args = &plan->args;
    struct tern_ref result = in_recv(0, args->recv_count), sum = in_kept(0, args->recv_count);
    tern_plan_compose(plan, args->rank ? 0 : args->recv_count);
    reduce_locally(plan, args->recv_count, sum);
    if (!args->rank)
        tern_inter_add_across(plan, &tern_inter_swap, sum, result);
    tern_inter_add_bcast(plan, result);
    tern_plan_finish(plan);
}

/* The leader scatters the blocks of the other group's sum. */
static void leaders_reduce_scatter(struct tern_plan *plan)
{
    const struct tern_plan_args *args = &plan->args;
    int64_t total = tern_recv_total(args);
    struct tern_ref sum = in_kept(0, total), theirs = in_kept(total, total);
    tern_plan_compose(plan, args->rank ? 0 : 2 * total);
    reduce_locally(plan, total, sum);
    if (!args->rank)
        tern_inter_add_across(plan, &tern_inter_swap, sum, theirs);
    struct tern_phase *phase = tern_inter_add_local(plan, TERN_SCATTERV);
    if (phase) {
        tern_phase_send(plan, phase, theirs);
        tern_phase_recv(plan, phase, in_recv(0, tern_recv_count(args, args->rank)));
        int64_t *numbers = args->rank ? NULL : tern_phase_set_blocks(plan, phase, args->size, true);
        for (int r = 0; numbers && r < args->size; r++)
            numbers[r] = tern_recv_count(args, r);
        tern_blocks_lie_in_a_row(numbers, args->size);
    }
    tern_plan_finish(plan);
}

const struct tern_algorithm tern_inter_reduce_algorithms[] = {
    {"leaders", leaders_reduce, NULL, NULL},
    {0},
};
const struct tern_algorithm tern_inter_allreduce_algorithms[] = {
    {"leaders", leaders_allreduce, NULL, NULL},
    {0},
};
const struct tern_algorithm tern_inter_reduce_scatter_algorithms[] = {
    {"leaders", leaders_reduce_scatter, NULL, NULL},
    {0},
};
