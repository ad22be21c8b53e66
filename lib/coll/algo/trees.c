/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * k-nomial trees. Ranks are counted from the root and written with digits to the base `radix`. The
 * parent of v is v with its lowest nonzero digit made zero. The subtree of v is v .. v + the unit
 * of that digit - 1 (all ranks for the root). A subtree is a range of consecutive ranks, so a
 * reduction to rank 0 keeps rank order. Radix 2: binomial tree; radix = size: flat tree.
 */
#include "lib/coll/plan/build.h"

/* Returns the place of this rank in the tree; the root has place 0. */
static int place_of(struct tern_team team, int root)
{
    return wrap((int64_t)team.rank - root, team.size);
}

static int rank_at(struct tern_team team, int root, int64_t place)
{
    return wrap(place + root, team.size);
}

static int64_t add_flagged(struct tern_plan *plan, struct tern_team team, struct tern_step step)
{
    step.flags |= team.flags;
    return tern_plan_add(plan, step);
}

static int digit(int place, int64_t unit, int radix)
{
    return (int)(place / unit % radix);
}

int64_t tern_plan_add_bcast(struct tern_plan *plan, struct tern_team team, int root,
                            struct tern_ref data, int64_t ready)
{
    int v = place_of(team, root);
    int64_t unit = 1;
    while (unit < team.size && !digit(v, unit, team.radix))
        unit *= team.radix;
    if (v) {
        int parent = rank_at(team, root, v - digit(v, unit, team.radix) * unit);
        ready = add_flagged(plan, team, step_recv(parent, data, after(plan, ready)));
    }
    for (unit /= team.radix; unit; unit /= team.radix)
        for (int64_t child = v + unit; child < v + team.radix * unit && child < team.size;
             child += unit)
            add_flagged(plan, team,
                        step_send(rank_at(team, root, child), data, after(plan, ready)));
    return ready;
}

void tern_plan_add_reduce(struct tern_plan *plan, struct tern_team team, int root, bool ordered,
                          struct tern_ref input, struct tern_ref a, struct tern_ref b,
                          struct tern_ref *ret_result, int64_t *ret_ready)
{
    int v = place_of(team, root);
    struct tern_ref sum = input;
    int64_t ready = -1, unit = 1;
    for (; unit < team.size && !digit(v, unit, team.radix); unit *= team.radix)
        for (int64_t child = v + unit; child < v + team.radix * unit && child < team.size;
             child += unit) {
            struct tern_ref to = same_place(sum, a) ? b : a;
            int64_t received = add_flagged(
                plan, team, step_recv(rank_at(team, root, child), to, after(plan, ready)));
            /* The child's ranks are higher than ours, so its sum is the right operand. */
            if (ordered || !same_place(sum, a)) {
                ready = add_reduce(plan, sum, to, after(plan, received));
                sum = to;
            } else {
                ready = add_reduce(plan, to, sum, after(plan, received));
            }
        }
    if (v) {
        int parent = rank_at(team, root, v - digit(v, unit, team.radix) * unit);
        ready = add_flagged(plan, team, step_send(parent, sum, after(plan, ready)));
    }
    *ret_result = sum;
    *ret_ready = ready;
}

void tern_stages_add_tree(struct tern_stages *stages, int64_t size, int64_t radix, int64_t bytes,
                          bool gathers, int64_t reduced)
{
    if (reduced && size > 1)
        /* temporaries of inner ranks */
        tern_stages_add_temporaries(stages, size > radix ? size / radix : 1, 2 * bytes);
    for (int64_t unit = 1; unit < size; unit *= radix) {
        int64_t children = (size - 1) / unit < radix - 1 ? (size - 1) / unit : radix - 1;
        int64_t below =
            unit * children < size - unit ? unit : (size - unit + children - 1) / children;
        tern_stages_add(stages, (struct tern_stage){
                                    .repeat = 1,
                                    .messages = children,
                                    .bytes = gathers ? bytes * below : bytes,
                                    .distance = unit * children,
                                    .senders = (size + unit * radix - 1) / (unit * radix),
                                    .reduced = reduced * children,
                                });
    }
}
