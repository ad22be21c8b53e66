/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/coll/ring.h"

/*
 * Recursive doubling: in each round a rank exchanges its result with the one whose number differs
 * in one bit. Every result covers consecutive ranks, and both partners compute lower op higher:
 * rank order is kept, and all get the same bits. If the size is no power of two, the first 2 * rest
 * ranks go in pairs, of which the odd one plays.
 */
void tern_plan_add_doubling(struct tern_plan *plan, struct tern_ref input, struct tern_ref a,
                            struct tern_ref b, struct tern_ref *ret_result, int64_t *ret_ready)
{
    const struct tern_plan_args *args = &plan->args;
    int n = args->size, p = args->rank, players = 1;
    while (2 * players <= n)
        players *= 2;
    int rest = n - players, player = p < 2 * rest ? p / 2 : p - rest;
    struct tern_ref sum = input;
    int64_t ready = -1, sent = -1;

    if (p < 2 * rest && p % 2 == 0) {
        sent = add_send(plan, p + 1, input, 0);
        *ret_ready = add_recv(plan, p + 1, a, after(plan, sent));
        *ret_result = a;
        return;
    }
    if (p < 2 * rest) { /* the even neighbour's input is the left operand */
        ready = add_recv(plan, p - 1, b, 0);
        if (!same_place(sum, a))
            ready = add_copy(plan, sum, a, after(plan, ready));
        ready = add_reduce(plan, b, a, after(plan, ready));
        sum = a;
    }
    for (int mask = 1; mask < players; mask *= 2) {
        int other = player ^ mask;
        int peer = other < rest ? 2 * other + 1 : other + rest;
        bool keeps = same_place(sum, a) ||
                     same_place(sum, b); /* else it is the input, which is not to be written */
        struct tern_ref to = same_place(sum, b) || (!keeps && other > player) ? a : b;
        int64_t busy =
            sent; /* the buffer that does not hold the sum was sent from in the round before */
        sent = add_send(plan, peer, sum, after(plan, ready));
        int64_t received = add_recv(plan, peer, to, after(plan, busy) | after(plan, ready));
        if (other > player) {
            ready = add_reduce(plan, sum, to, after(plan, received));
            sum = to;
        } else if (keeps) {
            ready = add_reduce(plan, to, sum, after(plan, received) | after(plan, sent));
        } else {
            ready = add_copy(plan, sum, a, after(plan, received));
            ready = add_reduce(plan, to, a, after(plan, ready));
            sum = a;
        }
    }
    if (p < 2 * rest)
        sent = add_send(plan, p - 1, sum, after(plan, ready));
    *ret_result = sum;
    *ret_ready = ready;
}

static void recursive_doubling(struct tern_plan *plan)
{
    const struct tern_plan_args *args = &plan->args;
    int64_t count = args->recv_count, ready;
    struct tern_ref result = in_recv(0, count), sum;
    set_temporaries(plan, 1, count, true);
    tern_plan_add_doubling(plan, in_input(args, 0, count), result, in_temp(0, 0, count), &sum,
                           &ready);
    if (!same_place(sum, result))
        add_copy(plan, sum, result, AFTER_ALL);
}

/* Reduction along a tree to rank 0 and broadcast: the fewest messages in all. */
static void tree(struct tern_plan *plan)
{
    const struct tern_plan_args *args = &plan->args;
    struct tern_ref result = in_recv(0, args->recv_count), sum;
    int64_t ready;
    set_temporaries(plan, 1, args->recv_count, true);
    tern_plan_add_reduce(plan, team_of(args), 0, !args->commutative,
                         in_input(args, 0, args->recv_count), result,
                         in_temp(0, 0, args->recv_count), &sum, &ready);
    if (sum.buffer != TERN_RECV_BUFFER && args->rank == 0)
        ready = add_copy(plan, sum, result, after(plan, ready));
    /* What a child sent must have left before the result comes to its place: AFTER_ALL by way of
     * `ready`, its send. */
    tern_plan_add_bcast(plan, team_of(args), 0, result, ready);
}

/* Ring reduce-scatter, then ring allgather: each rank sends and receives about twice the vector,
 * whatever the size. */
static void ring_step(const struct tern_plan *plan, int64_t i, struct tern_step *ret_step)
{
    const struct tern_plan_args *args = &plan->args;
    int n = args->size, p = args->rank;
    struct tern_ref result = in_recv(0, args->recv_count);
    int64_t reduce_steps = ring_reduce_steps(n);
    if (i < reduce_steps) {
        *ret_step = tern_ring_reduce_step(p, n, i, in_input(args, 0, args->recv_count), result, 0);
        return;
    }
    int64_t k = (i - reduce_steps) / 2;
    if ((i - reduce_steps) % 2 == 0) {
        *ret_step = step_send(wrap((int64_t)p + 1, n), tern_ring_chunk(result, n, p + 1 - k),
                              places_before(1));
    } else {
        /* The chunk that arrives was sent in round k of the reduce-scatter; and the one before is
         * in. */
        *ret_step = step_recv(wrap((int64_t)p - 1, n), tern_ring_chunk(result, n, p - k),
                              places_before(i - 3 * k) | places_before(2));
        ret_step->flags = TERN_STEP_AWAITED;
    }
}

static void ring(struct tern_plan *plan)
{
    const struct tern_plan_args *args = &plan->args;
    if (args->in_place)
        set_temporaries(plan, 2, cut(args->recv_count, args->size, 1), true);
    else if (args->size == 1)
        add_copy(plan, in_send(0, args->recv_count), in_recv(0, args->recv_count), 0);
    set_tail(plan, ring_reduce_steps(args->size) + 2 * (int64_t)(args->size - 1), ring_step);
}

static bool commutative(const struct tern_plan_args *args)
{
    return args->commutative;
}

const struct tern_algorithm tern_allreduce_algorithms[] = {
    {"recursive_doubling", recursive_doubling, NULL},
    {"ring", ring, commutative},
    {"tree", tree, NULL},
    {0},
};
