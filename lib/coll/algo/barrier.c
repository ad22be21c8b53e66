/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/coll/plan/build.h"
#include "lib/coll/algo/hierarchy.h"

/* Hensgen, Finkel, Manber 1988: in round k every rank sends to the rank 2^k above. Then each rank
 * has heard, indirectly, from 2^(k+1) ranks. */
static void dissemination(struct tern_plan *plan)
{
    const struct tern_plan_args *args = &plan->args;
    int64_t received = -1;
    for (int64_t far = 1; far < args->size; far *= 2) {
        add_send(plan, wrap(args->rank + far, args->size), in_temp(0, 0, 0), after(plan, received));
        received = add_recv(plan, wrap(args->rank - far, args->size), in_temp(0, 0, 0),
                            after(plan, received));
    }
}

static void dissemination_stages(const struct tern_shape *shape, struct tern_stages *stages)
{
    for (int64_t far = 1; far < shape->size; far *= 2)
        tern_stages_add(stages, (struct tern_stage){.repeat = 1,
                                                    .messages = 1,
                                                    .distance = far,
                                                    .senders = shape->size});
}

/* The same with messages to several ranks at a time: fewer rounds (Hoefler et al. 2006). */
enum { RADIX = 4 };

static void k_dissemination(struct tern_plan *plan)
{
    const struct tern_plan_args *args = &plan->args;
    for (int64_t far = 1; far < args->size; far *= RADIX) {
        add_fence(plan);
        for (int64_t d = far; d < RADIX * far && d < args->size; d += far) {
            add_send(plan, wrap(args->rank + d, args->size), in_temp(0, 0, 0), 0);
            add_recv(plan, wrap(args->rank - d, args->size), in_temp(0, 0, 0), 0);
        }
    }
}

static void k_dissemination_stages(const struct tern_shape *shape, struct tern_stages *stages)
{
    for (int64_t far = 1; far < shape->size; far *= RADIX) {
        int64_t told = (shape->size - 1) / far < RADIX - 1 ? (shape->size - 1) / far : RADIX - 1;
        tern_stages_add(stages, (struct tern_stage){.repeat = 1,
                                                    .messages = told,
                                                    .distance = told * far,
                                                    .senders = shape->size});
    }
}

/* Up a tree to rank 0 and down again: fewer messages in total (2n - 2), twice the rounds. */
static void tree_of(struct tern_plan *plan, int radix)
{
    struct tern_ref nothing = in_temp(0, 0, 0), result;
    int64_t ready;
    struct tern_team team = team_of(&plan->args);
    team.radix = radix;
    tern_plan_add_reduce(plan, team, 0, false, nothing, nothing, nothing, &result, &ready);
    tern_plan_add_bcast(plan, team, 0, nothing, ready);
}

static void tree(struct tern_plan *plan)
{
    tree_of(plan, 2);
}

/* Every rank sends to rank 0, which answers. If ranks share cores, each rank needs its core twice
 * only. */
static void linear(struct tern_plan *plan)
{
    tree_of(plan, plan->args.size + 1);
}

static void add_tree_stages(const struct tern_shape *shape, struct tern_stages *stages,
                            int64_t radix)
{
    tern_stages_add_tree(stages, shape->size, radix, 0, false, 0);
    tern_stages_add_tree(stages, shape->size, radix, 0, false, 0);
}

static void tree_stages(const struct tern_shape *shape, struct tern_stages *stages)
{
    add_tree_stages(shape, stages, 2);
}

static void linear_stages(const struct tern_shape *shape, struct tern_stages *stages)
{
    add_tree_stages(shape, stages, shape->size + 1);
}

const struct tern_algorithm tern_barrier_algorithms[] = {
    {"board", tern_plan_use_board, tern_plan_fits_board, tern_board_stages},
    {"dissemination", dissemination, NULL, dissemination_stages},
    {"k_dissemination", k_dissemination, NULL, k_dissemination_stages},
    {"tree", tree, NULL, tree_stages},
    {"linear", linear, NULL, linear_stages},
    {"hierarchical", tern_hierarchical_barrier, tern_plan_fits_levels,
     tern_hierarchical_barrier_stages},
    {0},
};
