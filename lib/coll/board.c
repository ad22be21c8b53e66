/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Short collectives of one node: every rank posts what others need on the board, and takes what it
 * needs from it. One cache line each way and no message; where ranks share cores, each of them needs
 * the core once.
 *
 * Reductions take in rank order, from the right to the left: right for any operation, and the same
 * bits everywhere.
 */
#include "lib/btl/shm/board.h"
#include "lib/coll/build.h"

static void add_post(struct tern_plan *plan, struct tern_ref from)
{
    tern_plan_add(plan, (struct tern_step){TERN_STEP_POST, 0, -1, AFTER_ALL, from, {0, 0, -1, 0}});
}

/* `bytes`: where it begins in the post. */
static void add_take(struct tern_plan *plan, int peer, int64_t bytes, struct tern_ref to)
{
    tern_plan_add(
        plan, (struct tern_step){TERN_STEP_TAKE, 0, peer, AFTER_ALL, {bytes, 0, -1, 0}, to});
}

static void take_blocks(struct tern_plan *plan, int64_t bytes)
{
    const struct tern_plan_args *args = &plan->args;
    for (int i = 0; i < args->size; i++) { /* not all the same one first */
        int r = wrap((int64_t)args->rank + i, args->size);
        add_take(plan, r, bytes, recv_block(args, r));
    }
}

/* The sum of ranks 0 .. last, of their posts from `bytes` on, goes to the receive buffer. */
static void take_sum(struct tern_plan *plan, int last, int64_t bytes, int64_t count)
{
    struct tern_ref sum = in_recv(0, count), arriving = in_temp(0, 0, count);
    set_temporaries(plan, 1, count, true);
    add_take(plan, last, bytes, sum);
    for (int r = last - 1; r >= 0; r--) {
        add_take(plan, r, bytes, arriving);
        add_reduce(plan, arriving, sum, AFTER_ALL);
    }
}

static void reduce_on_board(struct tern_plan *plan)
{
    const struct tern_plan_args *args = &plan->args;
    int n = args->size, p = args->rank;
    int64_t count = args->recv_count;
    bool block = args->collective == TERN_REDUCE_SCATTER_BLOCK;
    add_post(plan, in_input(args, 0, block ? n * count : count));
    if (args->collective == TERN_SCAN)
        take_sum(plan, p, 0, count);
    else if (args->collective == TERN_EXSCAN && p)
        take_sum(plan, p - 1, 0, count);
    else if (args->collective == TERN_EXSCAN)
        return; /* the first rank's receive buffer is none */
    else if (block)
        take_sum(plan, n - 1, p * count * args->recv_size, count);
    else if (args->collective == TERN_ALLREDUCE || p == args->root)
        take_sum(plan, n - 1, 0, count);
}

static void move_on_board(struct tern_plan *plan)
{
    const struct tern_plan_args *args = &plan->args;
    int n = args->size, p = args->rank;
    bool root = p == args->root;
    int64_t count = args->recv_count, bytes = count * args->recv_size;
    switch (args->collective) {
    case TERN_BARRIER:
        add_post(plan, in_temp(0, 0, 0));
        for (int i = 1; i < n; i++)
            add_take(plan, wrap((int64_t)p + i, n), 0, in_temp(0, 0, 0));
        break;
    case TERN_BCAST:
        if (root)
            add_post(plan, in_recv(0, count));
        else
            add_take(plan, args->root, 0, in_recv(0, count));
        break;
    case TERN_SCATTER:
        if (root)
            add_post(plan, in_send(0, n * args->send_count));
        if (!root || !args->in_place)
            add_take(plan, args->root, p * bytes, in_recv(0, count));
        break;
    case TERN_ALLTOALL:
        add_post(plan, args->in_place ? in_recv(0, n * count) : in_send(0, n * args->send_count));
        take_blocks(plan, p * bytes);
        break;
    default: /* gather and allgather */
        add_post(plan, args->in_place ? recv_block(args, p) : in_send(0, args->send_count));
        if (args->collective == TERN_ALLGATHER || root)
            take_blocks(plan, 0);
    }
}

void tern_plan_use_board(struct tern_plan *plan)
{
    plan->board = true;
    if (plan->args.collective >= TERN_REDUCE)
        reduce_on_board(plan);
    else
        move_on_board(plan);
}

/* Bytes that the one with most to say posts; the same on all ranks. */
static int64_t posted_bytes(const struct tern_plan_args *args)
{
    int64_t bytes = args->recv_count * args->recv_size;
    bool sends = (args->rank == args->root) != (args->collective == TERN_GATHER);
    switch (args->collective) {
    case TERN_GATHER: return sends ? args->send_count * args->send_size : bytes;
    case TERN_SCATTER: return args->size * (sends ? args->send_count * args->send_size : bytes);
    case TERN_ALLTOALL:
    case TERN_REDUCE_SCATTER_BLOCK: return args->size * bytes;
    default: return bytes;
    }
}

bool tern_plan_fits_board(const struct tern_plan_args *args)
{
    return args->board && args->collective != TERN_REDUCE_SCATTER &&
           posted_bytes(args) <= TERN_BOARD_BYTES;
}

/* Whoever posts looks at all the others, whether they sleep; data is copied in once and out once. */
void tern_board_stages(const struct tern_shape *shape, struct tern_stages *stages)
{
    tern_stages_add(stages, (struct tern_stage){.repeat = 1,
                                                .messages = shape->size - 1,
                                                .bytes = shape->bytes,
                                                .senders = shape->size,
                                                .copied = shape->bytes * shape->size,
                                                .board = true});
}

void tern_board_root_stages(const struct tern_shape *shape, struct tern_stages *stages)
{
    tern_stages_add(stages, (struct tern_stage){.repeat = 1,
                                                .messages = shape->size - 1,
                                                .bytes = shape->bytes,
                                                .senders = 1,
                                                .copied = 2 * shape->bytes,
                                                .board = true});
}
