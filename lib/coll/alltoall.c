/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * All to all, also with unequal blocks and types: only `bruck` wants equal ones. Blocks without
 * data are not sent.
 */
#include "lib/coll/build.h"

static int64_t add_own_block(struct tern_plan *plan)
{
    const struct tern_plan_args *args = &plan->args;
    return add_copy(plan, send_block(args, args->rank), recv_block(args, args->rank), 0);
}

static int64_t recv_block_bytes(const struct tern_plan_args *args, int r)
{
    return data_bytes(args, recv_block(args, r));
}

/* Round k: receive from the rank k before, send to the one k behind, so that nobody is everybody's
 * target. */
static void rounds_step(const struct tern_plan *plan, int64_t i, struct tern_step *ret_step)
{
    const struct tern_plan_args *args = &plan->args;
    int64_t far = i / 2 + 1;
    int from = wrap(args->rank - far, args->size), to = wrap(args->rank + far, args->size);
    struct tern_ref block = i % 2 == 0 ? recv_block(args, from) : send_block(args, to);
    *ret_step = i % 2 == 0 ? step_recv(from, block, 0) : step_send(to, block, 0);
    if (!data_bytes(args, block))
        ret_step->kind = TERN_STEP_NONE;
}

/*
 * In place every pair exchanges its blocks by way of a temporary: in round k rank p meets rank k -
 * p, which meets it. Two temporaries, so that a send may linger for a round.
 */
static void exchange_step(const struct tern_plan *plan, int64_t i, struct tern_step *ret_step)
{
    const struct tern_plan_args *args = &plan->args;
    int64_t k = i / 3;
    int peer = wrap(k - args->rank, args->size);
    struct tern_ref block = recv_block(args, peer);
    int64_t bytes = data_bytes(args, block);
    struct tern_ref temp = in_temp((int)(k % 2), 0, bytes);
    switch (i % 3) {
    case 0: /* the send two rounds ago has left the temporary */
        *ret_step = step_copy(block, temp, places_before(5));
        break;
    case 1: *ret_step = step_send(peer, temp, places_before(1)); break;
    default: /* over the block that was copied */
        *ret_step = step_recv(peer, block, places_before(2));
    }
    if (peer == args->rank || !bytes)
        ret_step->kind = TERN_STEP_NONE;
}

static void exchange(struct tern_plan *plan)
{
    const struct tern_plan_args *args = &plan->args;
    int64_t longest = 0;
    for (int r = 0; r < args->size; r++) {
        int64_t bytes = recv_block_bytes(args, r);
        longest = bytes > longest ? bytes : longest;
        if (!args->blocks)
            break;
    }
    set_temporaries(plan, 2, longest, false);
    set_tail(plan, 3 * (int64_t)args->size, exchange_step);
}

/* Everything at once, as far as the window goes. */
static void linear(struct tern_plan *plan)
{
    if (plan->args.in_place) {
        exchange(plan);
        return;
    }
    add_own_block(plan);
    set_tail(plan, 2 * (int64_t)(plan->args.size - 1), rounds_step);
}

/* Two rounds in flight: for large blocks, where more would only fight for the memory's bandwidth.
 */
static void pairwise(struct tern_plan *plan)
{
    linear(plan);
    plan->window = plan->args.in_place ? 6 : 4;
}

/*
 * Bruck et al. 1997: log n rounds, each block travels as the sum of powers of two in its distance.
 * Place d of temporary 0 holds the block that is to go (still) d ranks on, of which in round k
 * those with bit k set go 2^k on, together.
 */
static void bruck(struct tern_plan *plan)
{
    const struct tern_plan_args *args = &plan->args;
    if (args->in_place) {
        exchange(plan);
        return;
    }
    int n = args->size;
    int64_t block = recv_block_bytes(args, 0);
    if (!block)
        return;
    set_temporaries(plan, 3, n * block, false);
    for (int d = 0; d < n; d++)
        add_copy(plan, send_block(args, wrap((int64_t)args->rank + d, n)),
                 in_temp(0, d * block, block), 0);
    for (int64_t bit = 1; bit < n; bit *= 2) {
        int64_t out = 0;
        for (int64_t d = bit; d < n; d += 2 * bit) {
            int64_t run = d + bit <= n ? bit : n - d;
            add_copy(plan, in_temp(0, d * block, run * block), in_temp(1, out * block, run * block),
                     AFTER_ALL);
            out += run;
        }
        add_send(plan, wrap(args->rank + bit, n), in_temp(1, 0, out * block), AFTER_ALL);
        int64_t received = add_recv(plan, wrap(args->rank - bit, n), in_temp(2, 0, out * block),
                                    AFTER_ALL & ~1ull);
        int64_t in = 0;
        for (int64_t d = bit; d < n; d += 2 * bit) {
            int64_t run = d + bit <= n ? bit : n - d;
            add_copy(plan, in_temp(2, in * block, run * block), in_temp(0, d * block, run * block),
                     after(plan, received));
            in += run;
        }
    }
    for (int d = 0; d < n; d++)
        add_copy(plan, in_temp(0, d * block, block),
                 recv_block(args, wrap((int64_t)args->rank - d, n)), AFTER_ALL);
}

const struct tern_algorithm tern_alltoall_algorithms[] = {
    {"linear", linear, NULL},
    {"pairwise", pairwise, NULL},
    {"bruck", bruck, NULL},
    {0},
};

const struct tern_algorithm tern_alltoallv_algorithms[] = {
    {"linear", linear, NULL},
    {"pairwise", pairwise, NULL},
    {0},
};
