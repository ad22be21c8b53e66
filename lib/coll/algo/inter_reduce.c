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

/* Reduces `count` units within this group, so that each rank gets its part of the sum. The vector
 * is cut evenly. */
static void scatter_sum(struct tern_plan *plan, int64_t count, struct tern_ref part_of_sum)
{
    struct tern_phase *phase = tern_inter_add_local(plan, TERN_REDUCE_SCATTER);
    if (!phase)
        return;
    tern_phase_send(plan, phase, in_send(0, count));
    tern_phase_recv(plan, phase, part_of_sum);
    tern_inter_set_even_blocks(plan, phase, count);
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

static void part_step(const struct tern_plan *plan, int64_t i, struct tern_step *ret_step)
{
    const struct tern_plan_args *args = &plan->args;
    struct tern_ref block = even_block(in_recv(0, args->recv_count), args->remote_size, i);
    *ret_step = block.count ? step_recv((int)i, block, 0) : step_none();
}

static void spread_reduce(struct tern_plan *plan)
{
    const struct tern_plan_args *args = &plan->args;
    int64_t count = args->recv_count;
    struct tern_ref mine = in_kept(0, even_block(in_recv(0, count), args->size, args->rank).count);
    if (beside_root(args))
        return;
    if (is_root(args)) {
        set_tail(plan, args->remote_size, part_step);
        return;
    }
    tern_plan_compose(plan, mine.count);
    scatter_sum(plan, count, mine);
    if (mine.count)
        tern_inter_add_across(plan, &tern_inter_give, mine, nothing);
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

/*
 * Both groups have cut a vector evenly, and each rank has a part. A rank sends its part of its
 * group's vector, and receives its part of the other group's, to and from the ranks whose parts
 * overlap. It goes through these ranks upwards, so that the first unfinished pair can always
 * proceed. The counts are those of the whole vector, the buffers those of this rank's part.
 */
static void overlap_step(const struct tern_plan *plan, int64_t i, struct tern_step *ret_step)
{
    const struct tern_plan_args *args = &plan->args;
    int64_t total = args->recv_count, begin = cut(total, args->size, args->rank);
    int64_t end = cut(total, args->size, args->rank + 1);
    int64_t peer = part_of(total, args->remote_size, begin) + i / 2;
    int64_t low = cut(total, args->remote_size, peer);
    int64_t high = cut(total, args->remote_size, peer + 1);
    low = low > begin ? low : begin;
    high = high < end ? high : end;
    if (i % 2 == 0)
        *ret_step = step_recv((int)peer, in_recv(low - begin, high - low), 0);
    else
        *ret_step = step_send((int)peer, in_send(low - begin, high - low), 0);
}

static void build_overlap(struct tern_plan *plan)
{
    const struct tern_plan_args *args = &plan->args;
    int64_t total = args->recv_count, begin = cut(total, args->size, args->rank);
    int64_t end = cut(total, args->size, args->rank + 1);
    if (begin < end)
        set_tail(plan,
                 2 * (part_of(total, args->remote_size, end - 1) -
                      part_of(total, args->remote_size, begin) + 1),
                 overlap_step);
}

static const struct tern_algorithm overlap = {"overlap", build_overlap, NULL, NULL};

static void spread_allreduce(struct tern_plan *plan)
{
    const struct tern_plan_args *args = &plan->args;
    int64_t count = args->recv_count;
    struct tern_ref result = even_block(in_recv(0, count), args->size, args->rank);
    struct tern_ref mine = in_kept(0, result.count);
    tern_plan_compose(plan, mine.count);
    scatter_sum(plan, count, mine);
    tern_inter_add_across(plan, &overlap, part(mine, 0, count), part(result, 0, count));
    struct tern_phase *phase = tern_inter_add_local(plan, TERN_ALLGATHERV);
    if (phase) {
        phase->args.in_place = true;
        tern_phase_recv(plan, phase, in_recv(0, 0));
        tern_inter_set_even_blocks(plan, phase, count);
    }
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

/* Returns how many units rank `from` of the group has, of a vector that is cut evenly, that belong
 * to the block begin .. end - 1. *ret_begin: where they begin in the vector. */
static int64_t common(int64_t total, int size, int from, int64_t begin, int64_t end,
                      int64_t *ret_begin)
{
    int64_t low = cut(total, size, from), high = cut(total, size, from + 1);
    *ret_begin = low > begin ? low : begin;
    high = high < end ? high : end;
    return high > *ret_begin ? high - *ret_begin : 0;
}

static void spread_reduce_scatter(struct tern_plan *plan)
{
    const struct tern_plan_args *args = &plan->args;
    int n = args->size, p = args->rank;
    int64_t total = tern_recv_total(args), first = cut(total, n, p), at = 0, begin;
    int64_t length = cut(total, n, p + 1) - first;
    struct tern_ref mine = in_kept(0, length), theirs = in_kept(length, length);
    tern_plan_compose(plan, 2 * length);
    scatter_sum(plan, total, mine);
    tern_inter_add_across(plan, &overlap, part(mine, 0, total), part(theirs, 0, total));
    struct tern_phase *phase = tern_inter_add_local(plan, TERN_ALLTOALLV);
    if (!phase)
        return;
    tern_phase_send(plan, phase, theirs);
    tern_phase_recv(plan, phase, in_recv(0, 0));
    int64_t *out = tern_phase_set_blocks(plan, phase, n, true);
    int64_t *in = tern_phase_set_blocks(plan, phase, n, false);
    for (int r = 0; out && in && r < n; r++) {
        int64_t count = tern_recv_count(args, r);
        out[r] = common(total, n, p, at, at + count, &begin);
        out[n + r] = out[r] ? begin - first : 0;
        for (int q = 0; r == p && q < n; q++) {
            in[q] = common(total, n, q, at, at + count, &begin);
            in[n + q] = in[q] ? begin - at : 0;
        }
        at += count;
    }
    tern_plan_finish(plan);
}

const struct tern_algorithm tern_inter_reduce_algorithms[] = {
    {"leaders", leaders_reduce, NULL, tern_inter_leaders_reduce_stages},
    {"spread", spread_reduce, NULL, tern_inter_spread_reduce_stages},
    {0},
};
const struct tern_algorithm tern_inter_allreduce_algorithms[] = {
    {"leaders", leaders_allreduce, NULL, tern_inter_leaders_allreduce_stages},
    {"spread", spread_allreduce, NULL, tern_inter_spread_allreduce_stages},
    {0},
};
const struct tern_algorithm tern_inter_reduce_scatter_algorithms[] = {
    {"leaders", leaders_reduce_scatter, NULL, tern_inter_leaders_scatter_stages},
    {"spread", spread_reduce_scatter, NULL, tern_inter_spread_scatter_stages},
    {0},
};
