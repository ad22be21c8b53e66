/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Gather, and scatter, which is gather with the direction of all messages reversed. In the v forms
 * only the root knows the counts, so the root must exchange messages with every rank: these are
 * always `linear`, with a window.
 */
#include "lib/coll/plan/build.h"
#include "lib/coll/algo/hierarchy.h"
#include "lib/coll/algo/by_other_collectives.h"

static int64_t bytes_per_block(const struct tern_plan_args *args)
{
    bool scatter = args->collective == TERN_SCATTER;
    bool root = args->rank == args->root;
    return root == scatter ? args->send_count * args->send_size
                           : args->recv_count * args->recv_size;
}

/* --- linear --- */

/* The root serves ranks upwards from itself, so its own block is copied first, while the blocks of
 * the other ranks arrive. */
static void linear_gather_step(const struct tern_plan *plan, int64_t i, struct tern_step *ret_step)
{
    const struct tern_plan_args *args = &plan->args;
    int peer = wrap(args->root + i, args->size);
    struct tern_ref block = recv_block(args, peer);
    if (peer != args->rank)
        *ret_step = step_recv(peer, block, 0);
    else
        *ret_step = step_copy(in_send(0, args->send_count), block, 0);
    if ((peer == args->rank && args->in_place) || !data_bytes(args, block))
        ret_step->kind = TERN_STEP_NONE;
}

static void linear_gather(struct tern_plan *plan)
{
    const struct tern_plan_args *args = &plan->args;
    if (args->rank == args->root)
        set_tail(plan, args->size, linear_gather_step);
    else if (data_bytes(args, in_send(0, args->send_count)))
        add_send(plan, args->root, in_send(0, args->send_count), 0);
}

/* The root serves the other ranks first, because they wait. Its own block comes last. */
static void linear_scatter_step(const struct tern_plan *plan, int64_t i, struct tern_step *ret_step)
{
    const struct tern_plan_args *args = &plan->args;
    int peer = wrap(args->root + 1 + i, args->size);
    struct tern_ref block = send_block(args, peer);
    if (peer != args->rank)
        *ret_step = step_send(peer, block, 0);
    else
        *ret_step = step_copy(block, in_recv(0, args->recv_count), 0);
    if ((peer == args->rank && args->in_place) || !data_bytes(args, block))
        ret_step->kind = TERN_STEP_NONE;
}

static void linear_scatter(struct tern_plan *plan)
{
    const struct tern_plan_args *args = &plan->args;
    if (args->rank == args->root)
        set_tail(plan, args->size, linear_scatter_step);
    else if (data_bytes(args, in_recv(0, args->recv_count)))
        add_recv(plan, args->root, in_recv(0, args->recv_count), 0);
}

/* --- binomial: a rank handles the blocks of its subtree, which are consecutive ranks from its own
 * on (trees.c) --- */

/* Returns the number of blocks in the subtree v .. v + mask - 1. */
static int64_t subtree(int v, int64_t mask, int n)
{
    return v + mask <= n ? mask : n - v;
}

static void binomial_gather(struct tern_plan *plan)
{
    const struct tern_plan_args *args = &plan->args;
    int n = args->size, v = wrap((int64_t)args->rank - args->root, n);
    int64_t block = bytes_per_block(args), mask = 1;
    if (!block)
        return;
    if (v % 2 == 1) { /* a leaf */
        add_send(plan, wrap(v - 1 + args->root, n), in_send(0, args->send_count), 0);
        return;
    }
    if (v == 0 && !args->in_place)
        add_copy(plan, in_send(0, args->send_count), recv_block(args, args->rank), 0);
    else if (v)
        add_copy(plan, in_send(0, args->send_count), in_temp(0, 0, block), 0);
    for (; mask < n && !(v & mask); mask *= 2) {
        if (v + mask >= n)
            continue;
        int64_t blocks = subtree(v + (int)mask, mask, n);
        int child = wrap(v + mask + args->root, n);
        if (v) {
            add_recv(plan, child, in_temp(0, mask * block, blocks * block), 0);
        } else if (child + blocks <= n) {
            add_recv(plan, child, in_recv(child * args->recv_count, blocks * args->recv_count), 0);
        } else {
            /* behind the last rank the subtree continues with rank 0; at most one child has such a
             * subtree */
            int64_t before = n - child;
            set_temporaries(plan, 1, blocks * block, false);
            int64_t received = add_recv(plan, child, in_temp(0, 0, blocks * block), 0);
            add_copy(plan, in_temp(0, 0, before * block),
                     in_recv(child * args->recv_count, before * args->recv_count),
                     after(plan, received));
            add_copy(plan, in_temp(0, before * block, (blocks - before) * block),
                     in_recv(0, (blocks - before) * args->recv_count), after(plan, received));
        }
    }
    if (v) {
        int64_t mine = subtree(v, mask, n);
        set_temporaries(plan, 1, mine * block, false);
        add_send(plan, wrap(v - mask + args->root, n), in_temp(0, 0, mine * block), AFTER_ALL);
    }
}

static void binomial_scatter(struct tern_plan *plan)
{
    const struct tern_plan_args *args = &plan->args;
    int n = args->size, v = wrap((int64_t)args->rank - args->root, n);
    int64_t block = bytes_per_block(args), mask = 1, received = -1;
    if (!block)
        return;
    while (mask < n && !(v & mask))
        mask *= 2;
    if (v % 2 == 1) {
        add_recv(plan, wrap(v - 1 + args->root, n), in_recv(0, args->recv_count), 0);
        return;
    }
    if (v) {
        int64_t mine = subtree(v, mask, n);
        set_temporaries(plan, 1, mine * block, false);
        received = add_recv(plan, wrap(v - mask + args->root, n), in_temp(0, 0, mine * block), 0);
    }
    for (mask /= 2; mask; mask /= 2) {
        if (v + mask >= n)
            continue;
        int64_t blocks = subtree(v + (int)mask, mask, n);
        int child = wrap(v + mask + args->root, n);
        if (v) {
            add_send(plan, child, in_temp(0, mask * block, blocks * block), after(plan, received));
        } else if (child + blocks <= n) {
            add_send(plan, child, in_send(child * args->send_count, blocks * args->send_count), 0);
        } else {
            int64_t before = n - child;
            set_temporaries(plan, 1, blocks * block, false);
            int64_t a = add_copy(plan, in_send(child * args->send_count, before * args->send_count),
                                 in_temp(0, 0, before * block), 0);
            int64_t b = add_copy(plan, in_send(0, (blocks - before) * args->send_count),
                                 in_temp(0, before * block, (blocks - before) * block), 0);
            add_send(plan, child, in_temp(0, 0, blocks * block), after(plan, a) | after(plan, b));
        }
    }
    if (v)
        add_copy(plan, in_temp(0, 0, block), in_recv(0, args->recv_count), after(plan, received));
    else if (!args->in_place)
        add_copy(plan, send_block(args, args->rank), in_recv(0, args->recv_count), 0);
}

/* --- prices, of gather and scatter --- */

/* The root copies its own block; so does a rank that passes on blocks of others. */
static void binomial_stages(const struct tern_shape *shape, struct tern_stages *stages)
{
    int64_t copies = shape->size > 2 ? 2 : 1;
    tern_stages_add_tree(stages, shape->size, 2, shape->bytes, true, 0);
    tern_stages_add(
        stages, (struct tern_stage){.repeat = 1, .senders = 1, .copied = copies * shape->bytes});
}

static void linear_stages(const struct tern_shape *shape, struct tern_stages *stages)
{
    tern_stages_add_tree(stages, shape->size, shape->size + 1, shape->bytes, false, 0);
    tern_stages_add(stages,
                    (struct tern_stage){.repeat = 1, .senders = 1, .copied = shape->bytes});
}

const struct tern_algorithm tern_gather_algorithms[] = {
    {"board", tern_plan_use_board, tern_plan_fits_board, tern_board_rooted_stages},
    {"binomial", binomial_gather, NULL, binomial_stages},
    {"linear", linear_gather, NULL, linear_stages},
    {"allgather", tern_gather_by_allgather, tern_plan_fits_sequence,
     tern_gather_by_allgather_stages},
    {"hierarchical", tern_hierarchical_gather, tern_plan_fits_levels,
     tern_hierarchical_gather_stages},
    {0},
};

const struct tern_algorithm tern_gatherv_algorithms[] = {
    {"linear", linear_gather, NULL, NULL},
    {0},
};

const struct tern_algorithm tern_scatter_algorithms[] = {
    {"board", tern_plan_use_board, tern_plan_fits_board, tern_board_rooted_stages},
    {"binomial", binomial_scatter, NULL, binomial_stages},
    {"linear", linear_scatter, NULL, linear_stages},
    {"bcast", tern_scatter_by_bcast, tern_plan_fits_sequence, tern_scatter_by_bcast_stages},
    {"hierarchical", tern_hierarchical_scatter, tern_plan_fits_levels,
     tern_hierarchical_scatter_stages},
    {0},
};

const struct tern_algorithm tern_scatterv_algorithms[] = {
    {"linear", linear_scatter, NULL, NULL},
    {0},
};
