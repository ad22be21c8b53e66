/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Binomial trees: with ranks counted from the root, the parent of v is v without its lowest set
 * bit, and the subtree of v is v .. v + lowest bit - 1 (all for the root). A subtree being
 * consecutive ranks, a reduction to rank 0 keeps rank order.
 */
#include "lib/coll/build.h"

static int64_t add_flagged(struct tern_plan *plan, struct tern_team team, struct tern_step step)
{
    step.flags |= team.flags;
    return tern_plan_add(plan, step);
}

int64_t tern_plan_add_bcast(struct tern_plan *plan, struct tern_team team, int root,
                            struct tern_ref data, int64_t ready)
{
    int v = wrap((int64_t)team.rank - root, team.size);
    int64_t mask = 1;
    while (mask < team.size && !(v & mask))
        mask *= 2;
    if (v)
        ready = add_flagged(plan, team,
                            step_recv(wrap(v - mask + root, team.size), data, after(plan, ready)));
    for (mask /= 2; mask; mask /= 2)
        if (v + mask < team.size)
            add_flagged(plan, team,
                        step_send(wrap(v + mask + root, team.size), data, after(plan, ready)));
    return ready;
}

void tern_plan_add_reduce(struct tern_plan *plan, struct tern_team team, int root, bool ordered,
                          struct tern_ref input, struct tern_ref a, struct tern_ref b,
                          struct tern_ref *ret_result, int64_t *ret_ready)
{
    int v = wrap((int64_t)team.rank - root, team.size);
    struct tern_ref sum = input;
    int64_t ready = -1;
    int64_t mask = 1;
    for (; mask < team.size && !(v & mask); mask *= 2) {
        if (v + mask >= team.size)
            continue;
        struct tern_ref to = same_place(sum, a) ? b : a;
        int64_t received = add_flagged(
            plan, team, step_recv(wrap(v + mask + root, team.size), to, after(plan, ready)));
        /* The child's ranks are the higher ones: the right operand. */
        if (ordered || !same_place(sum, a)) {
            ready = add_reduce(plan, sum, to, after(plan, received));
            sum = to;
        } else {
            ready = add_reduce(plan, to, sum, after(plan, received));
        }
    }
    if (v)
        ready = add_flagged(plan, team,
                            step_send(wrap(v - mask + root, team.size), sum, after(plan, ready)));
    *ret_result = sum;
    *ret_ready = ready;
}
