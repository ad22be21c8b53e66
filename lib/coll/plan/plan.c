/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/coll/plan/compose.h"

#include <stdlib.h>
#include <string.h>

int64_t tern_plan_add(struct tern_plan *plan, struct tern_step step)
{
    if (plan->head_count == plan->head_room) {
        int64_t room = plan->head_room ? 2 * plan->head_room : 8;
        struct tern_step *head = realloc(plan->head, (size_t)room * sizeof *head);
        if (!head) {
            /* The builder continues and writes over the first step again and again. The plan is
             * dropped at the end. */
            plan->failed = true;
            if (!plan->head)
                return -1;
            plan->head_count = 0;
        } else {
            plan->head = head;
            plan->head_room = room;
        }
    }
    plan->head[plan->head_count] = step;
    plan->step_count = plan->head_count + 1;
    return plan->head_count++;
}

/* Writes a short tail out into the array: a plan may run often, and its last steps may be of the
 * kind that is waited for at once (mark_awaited). */
static void write_out_tail(struct tern_plan *plan)
{
    enum { SHORT = 32 };
    int64_t count = plan->step_count - plan->head_count;
    if (!plan->tail || count > SHORT)
        return;
    struct tern_step *head = realloc(plan->head, (size_t)plan->step_count * sizeof *head);
    if (!head && plan->step_count)
        return; /* the tail stays and makes steps as they are needed */
    plan->head = head;
    for (int64_t i = 0; i < count; i++)
        plan->tail(plan, i, &head[plan->head_count + i]);
    plan->head_count = plan->head_room = plan->step_count;
    plan->tail = NULL;
}

static void set_peers(struct tern_plan *plan)
{
    for (int64_t i = 0; plan->placed && i < plan->head_count; i++)
        tern_plan_set_peer(plan, &plan->head[i]);
}

/* Marks the steps that no step can overtake, so that the executor may wait for them at once. */
static void mark_awaited(struct tern_plan *plan)
{
    for (int64_t i = 0; i < plan->head_count; i++) {
        bool last = i + 1 == plan->step_count;
        bool awaited =
            i + 1 < plan->head_count && (plan->head[i + 1].after & 1 || plan->window == 1);
        if (last || awaited)
            plan->head[i].flags |= TERN_STEP_AWAITED;
    }
}

/* Drops temporaries that no step uses, as on the leaves of trees and on single ranks. */
static void drop_unused_temporaries(struct tern_plan *plan)
{
    if (plan->tail)
        return;
    for (int64_t i = 0; i < plan->head_count; i++)
        if (plan->head[i].from.buffer >= TERN_TEMPORARY ||
            plan->head[i].to.buffer >= TERN_TEMPORARY)
            return;
    plan->temp_count = 0;
    plan->temp_units = 0;
}

void tern_plan_place_ranks(struct tern_plan *plan)
{
    struct tern_plan_args *args = &plan->args;
    const struct tern_device_order *order = args->order;
    if (plan->placed || !is_out_of_order(args) || args->remote_size || args->blocks)
        return;
    plan->placed = true;
    args->rank = order->place_of[args->rank];
    args->root = order->place_of[args->root];
}

/* Returns true if each rank has one vector, and operands may come in any order. */
static bool ranks_are_alike(const struct tern_plan_args *args)
{
    return args->collective == TERN_BCAST ||
           (args->commutative &&
            (args->collective == TERN_REDUCE || args->collective == TERN_ALLREDUCE));
}

struct tern_plan *tern_plan_build(const struct tern_algorithm *algorithm,
                                  const struct tern_plan_args *args)
{
    struct tern_plan *plan = calloc(1, sizeof *plan);
    if (!plan)
        return NULL;
    plan->args = plan->asked = *args;
    plan->algorithm = algorithm;
    if (ranks_are_alike(args))
        tern_plan_place_ranks(plan);
    plan->window = TERN_PLAN_WINDOW;
    plan->refs = 1;
    algorithm->build(plan);
    if (plan->failed) {
        tern_plan_release(plan);
        return NULL;
    }
    write_out_tail(plan);
    set_peers(plan);
    mark_awaited(plan);
    drop_unused_temporaries(plan);
    return plan;
}

void tern_plan_release(struct tern_plan *plan)
{
    if (--plan->refs)
        return;
    free(plan->head);
    free(plan->offsets);
    tern_phases_free(plan->phases);
    free(plan);
}
