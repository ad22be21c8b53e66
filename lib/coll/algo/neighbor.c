/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Neighbourhood collectives (MPI-4.1 section 8.6). Here `size` is the number of sources,
 * `remote_size` the number of destinations. Block i belongs to source or destination i. A negative
 * rank is no neighbour.
 *
 * In a grid, two neighbours may be one process (periodic, size 1 or 2). What that process sent
 * downwards must then arrive as coming from above, and it sends downwards first. So in each
 * dimension the receive from the upper neighbour is started first.
 *
 * A few neighbours are served all at once. If there are more than the window holds, every rank
 * serves its neighbours by ascending rank. Then everywhere messages are in one order, by the sum of
 * both ends' ranks. So the first unfinished message can always proceed, and there is no deadlock.
 */
#include "lib/coll/plan/build.h"

#include <stdlib.h>

static void receive(const struct tern_plan_args *args, int64_t i, struct tern_step *ret_step)
{
    int source = (int)(args->grid ? i ^ 1 : i);
    struct tern_ref block = recv_block(args, source);
    *ret_step = step_recv(args->blocks->sources[source], block, 0);
    if (ret_step->peer < 0)
        ret_step->kind = TERN_STEP_NONE;
}

static void send(const struct tern_plan_args *args, int64_t i, struct tern_step *ret_step)
{
    bool same_for_all =
        args->collective == TERN_NEIGHBOR_ALLGATHER || args->collective == TERN_NEIGHBOR_ALLGATHERV;
    struct tern_ref block = same_for_all ? in_send(0, args->send_count) : send_block(args, (int)i);
    *ret_step = step_send(args->blocks->destinations[i], block, 0);
    if (ret_step->peer < 0)
        ret_step->kind = TERN_STEP_NONE;
}

static void linear_step(const struct tern_plan *plan, int64_t i, struct tern_step *ret_step)
{
    const struct tern_plan_args *args = &plan->args;
    if (plan->offsets)
        i = plan->offsets[i];
    if (i < args->size)
        receive(args, i, ret_step);
    else
        send(args, i - args->size, ret_step);
}

struct entry {
    int peer;
    int64_t step;
};

static int by_peer(const void *a, const void *b)
{
    const struct entry *x = a, *y = b;
    if (x->peer != y->peer)
        return x->peer < y->peer ? -1 : 1;
    return x->step < y->step ? -1 : x->step > y->step;
}

static int64_t *sorted(const struct tern_plan_args *args)
{
    int64_t count = (int64_t)args->size + args->remote_size;
    struct entry *entries = malloc((size_t)count * sizeof *entries);
    int64_t *order = malloc((size_t)count * sizeof *order);
    if (entries && order) {
        for (int i = 0; i < args->size; i++)
            entries[i] = (struct entry){args->blocks->sources[args->grid ? i ^ 1 : i], i};
        for (int i = 0; i < args->remote_size; i++)
            entries[args->size + i] = (struct entry){args->blocks->destinations[i], args->size + i};
        qsort(entries, (size_t)count, sizeof *entries, by_peer);
        for (int64_t i = 0; i < count; i++)
            order[i] = entries[i].step;
    } else {
        free(order);
        order = NULL;
    }
    free(entries);
    return order;
}

static void linear(struct tern_plan *plan)
{
    const struct tern_plan_args *args = &plan->args;
    int64_t count = (int64_t)args->size + args->remote_size;
    if (count > TERN_PLAN_WINDOW) {
        plan->offsets = sorted(args);
        plan->failed = !plan->offsets;
    }
    set_tail(plan, count, linear_step);
}

const struct tern_algorithm tern_neighbor_algorithms[] = {
    {"linear", linear, NULL, NULL},
    {0},
};
