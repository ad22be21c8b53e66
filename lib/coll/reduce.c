/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/coll/ring.h"

/*
 * Binomial tree to the root, ranks counted from it; where the operation does not commute, to rank
 * 0, in rank order, and from there to the root.
 */
static void binomial(struct tern_plan *plan)
{
    const struct tern_plan_args *args = &plan->args;
    int64_t count = args->recv_count, ready;
    int top = args->commutative ? args->root : 0;
    bool root = args->rank == args->root, leaf = wrap((int64_t)args->rank - top, args->size) % 2;
    bool at_home = root && args->rank == top;
    struct tern_ref result = in_recv(0, count), sum;
    set_temporaries(plan, leaf ? 0 : at_home ? 1 : 2, count, true);
    tern_plan_add_reduce(plan, team_of(args), top, !args->commutative, in_input(args, 0, count),
                         at_home ? result : in_temp(1, 0, count), in_temp(0, 0, count), &sum,
                         &ready);
    if (at_home) {
        if (!same_place(sum, result))
            add_copy(plan, sum, result, after(plan, ready));
    } else if (root) { /* its input, which may be in the receive buffer, has left */
        add_recv(plan, top, result, AFTER_ALL);
    } else if (args->rank == top) {
        add_send(plan, args->root, sum, after(plan, ready));
    }
}

/* Ring reduce-scatter, then everybody sends the root the part it has. */
static struct tern_ref ring_result(const struct tern_plan_args *args)
{
    return args->rank == args->root ? in_recv(0, args->recv_count)
                                    : in_temp(0, 0, args->recv_count);
}

static void ring_step(const struct tern_plan *plan, int64_t i, struct tern_step *ret_step)
{
    const struct tern_plan_args *args = &plan->args;
    int n = args->size, p = args->rank;
    struct tern_ref result = ring_result(args);
    int64_t j = i - ring_reduce_steps(n);
    if (j < 0) {
        *ret_step = tern_ring_reduce_step(p, n, i, in_input(args, 0, args->recv_count), result, 0);
    } else if (p != args->root) {
        *ret_step = step_send(args->root, tern_ring_chunk(result, n, p + 1), places_before(1));
    } else if (j == 0) { /* parts arrive where others were sent from */
        *ret_step = step_none();
        ret_step->after = AFTER_ALL;
    } else {
        int from = wrap(p + j, n);
        *ret_step = step_recv(from, tern_ring_chunk(result, n, from + 1), places_before(j));
    }
}

static void ring(struct tern_plan *plan)
{
    const struct tern_plan_args *args = &plan->args;
    int n = args->size;
    bool root = args->rank == args->root;
    if (!root)
        set_temporaries(plan, 1, args->recv_count, true);
    else if (args->in_place)
        set_temporaries(plan, 2, cut(args->recv_count, n, 1), true);
    else if (n == 1)
        add_copy(plan, in_send(0, args->recv_count), in_recv(0, args->recv_count), 0);
    set_tail(plan, ring_reduce_steps(n) + (root ? n : 1), ring_step);
}

static bool commutative(const struct tern_plan_args *args)
{
    return args->commutative;
}

const struct tern_algorithm tern_reduce_algorithms[] = {
    {"binomial", binomial, NULL},
    {"ring", ring, commutative},
    {0},
};
