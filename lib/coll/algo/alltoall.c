/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * All to all, also with unequal blocks and types. Only `bruck` and `k_bruck` need equal blocks.
 * Blocks without data are not sent.
 */
#include "lib/coll/plan/build.h"
#include "lib/coll/algo/hierarchy.h"

static int64_t add_own_block(struct tern_plan *plan)
{
    const struct tern_plan_args *args = &plan->args;
    return add_copy(plan, send_block(args, args->rank), recv_block(args, args->rank), 0);
}

static int64_t recv_block_bytes(const struct tern_plan_args *args, int r)
{
    return data_bytes(args, recv_block(args, r));
}

/* Round k: receives from the rank k below, sends to the rank k above, so that the ranks do not all
 * send to one rank. */
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
 * In place, every pair of ranks exchanges its blocks by way of a temporary. In round k rank p meets
 * rank k - p, which meets rank p in this round too. There are two temporaries, so that a send may
 * still be in flight one round later.
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
    case 0: /* the send two rounds ago has freed the temporary */
        *ret_step = step_copy(block, temp, places_before(5));
        break;
    case 1: *ret_step = step_send(peer, temp, places_before(1)); break;
    default: /* into the place of the block that was copied */
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

/* All at once, as far as the window permits. */
static void linear(struct tern_plan *plan)
{
    if (plan->args.in_place) {
        exchange(plan);
        return;
    }
    add_own_block(plan);
    set_tail(plan, 2 * (int64_t)(plan->args.size - 1), rounds_step);
}

/* Few rounds in flight, for large blocks: more rounds would only compete for the memory's
 * bandwidth. */
enum { PAIRWISE_ROUNDS = 2 };

static void pairwise(struct tern_plan *plan)
{
    linear(plan);
    plan->window = PAIRWISE_ROUNDS * (plan->args.in_place ? 3 : 2);
}

/*
 * Bruck et al. 1997: about log n rounds. Each block travels in steps that are the digits, to the
 * base `radix`, of its distance. Place d of temporary 0 holds the block that must (still) travel d
 * ranks. In round k the blocks with digit z travel z * radix^k ranks, together. Places are `block`
 * bytes long.
 */
struct bruck {
    int radix;
    int64_t block;
};

/* Copies the places with digit `z` at `unit` between temporary 0 and temporary `packed`, in which
 * they lie one after the other from `at` on. Returns where they end. */
static int64_t copy_digit(struct tern_plan *plan, struct bruck bruck, int64_t unit, int z,
                          int packed, int64_t at, bool pack)
{
    int n = plan->args.size;
    for (int64_t d = z * unit; d < n; d += bruck.radix * unit) {
        int64_t bytes = (d + unit <= n ? unit : n - d) * bruck.block;
        struct tern_ref places = in_temp(0, d * bruck.block, bytes);
        struct tern_ref row = in_temp(packed, at, bytes);
        add_copy(plan, pack ? places : row, pack ? row : places, 0);
        at += bytes;
    }
    return at;
}

static void add_bruck(struct tern_plan *plan, struct bruck bruck)
{
    const struct tern_plan_args *args = &plan->args;
    int n = args->size;
    set_temporaries(plan, 3, n * bruck.block, false);
    for (int d = 0; d < n; d++) {
        struct tern_ref block = send_block(args, wrap((int64_t)args->rank + d, n));
        add_copy(plan, block, in_temp(0, d * bruck.block, bruck.block), 0);
    }
    for (int64_t unit = 1; unit < n; unit *= bruck.radix) {
        int64_t ends[8] = {0};
        add_fence(plan);
        for (int z = 1; z < bruck.radix; z++)
            ends[z] = copy_digit(plan, bruck, unit, z, 1, ends[z - 1], true);
        add_fence(plan);
        for (int z = 1; z < bruck.radix; z++) {
            int64_t begin = ends[z - 1], bytes = ends[z] - begin;
            if (!bytes)
                continue;
            add_recv(plan, wrap(args->rank - z * unit, n), in_temp(2, begin, bytes), 0);
            add_send(plan, wrap(args->rank + z * unit, n), in_temp(1, begin, bytes), 0);
        }
        add_fence(plan);
        for (int z = 1; z < bruck.radix; z++)
            copy_digit(plan, bruck, unit, z, 2, ends[z - 1], false);
    }
    add_fence(plan);
    for (int d = 0; d < n; d++) {
        struct tern_ref block = recv_block(args, wrap((int64_t)args->rank - d, n));
        add_copy(plan, in_temp(0, d * bruck.block, bruck.block), block, 0);
    }
}

static void bruck_of(struct tern_plan *plan, int radix)
{
    const struct tern_plan_args *args = &plan->args;
    struct bruck bruck = {radix, recv_block_bytes(args, 0)};
    if (args->in_place)
        exchange(plan);
    else if (bruck.block)
        add_bruck(plan, bruck);
}

static void bruck(struct tern_plan *plan)
{
    bruck_of(plan, 2);
}

static void k_bruck(struct tern_plan *plan)
{
    bruck_of(plan, 4);
}

/* --- prices --- */

static void linear_stages(const struct tern_shape *shape, struct tern_stages *stages)
{
    tern_stages_add(stages, (struct tern_stage){.repeat = 1,
                                                .messages = shape->size - 1,
                                                .bytes = shape->bytes,
                                                .distance = shape->size,
                                                .senders = shape->size,
                                                .copied = shape->bytes});
}

static void pairwise_stages(const struct tern_shape *shape, struct tern_stages *stages)
{
    int64_t others = shape->size - 1, flying = others < PAIRWISE_ROUNDS ? others : PAIRWISE_ROUNDS;
    /* 0 / 0 would raise the flag IEEE_INVALID, which a Fortran program reports when it stops */
    tern_stages_add(stages, (struct tern_stage){.repeat = flying ? (double)others / (double)flying
                                                                 : 0,
                                                .messages = flying,
                                                .bytes = shape->bytes,
                                                .distance = shape->size,
                                                .senders = shape->size});
    tern_stages_add(stages, (struct tern_stage){
                                .repeat = 1, .senders = shape->size, .copied = shape->bytes});
}

static void bruck_stages_of(const struct tern_shape *shape, struct tern_stages *stages, int radix)
{
    tern_stages_add(stages, (struct tern_stage){.repeat = 1,
                                                .senders = shape->size,
                                                .copied = 2 * shape->bytes * shape->size});
    for (int64_t unit = 1; unit < shape->size; unit *= radix) {
        int64_t told = (shape->size - 1) / unit < radix - 1 ? (shape->size - 1) / unit : radix - 1;
        int64_t places = told == radix - 1 ? shape->size / radix : shape->size / (told + 1);
        tern_stages_add(stages, (struct tern_stage){.repeat = 1,
                                                    .messages = told,
                                                    .bytes = places * shape->bytes,
                                                    .distance = told * unit,
                                                    .senders = shape->size,
                                                    .copied = 2 * told * places * shape->bytes});
    }
}

static void bruck_stages(const struct tern_shape *shape, struct tern_stages *stages)
{
    bruck_stages_of(shape, stages, 2);
}

static void k_bruck_stages(const struct tern_shape *shape, struct tern_stages *stages)
{
    bruck_stages_of(shape, stages, 4);
}

const struct tern_algorithm tern_alltoall_algorithms[] = {
    {"board", tern_plan_use_board, tern_plan_fits_board, tern_board_apart_stages},
    {"linear", linear, NULL, linear_stages},
    {"pairwise", pairwise, NULL, pairwise_stages},
    {"bruck", bruck, NULL, bruck_stages},
    {"k_bruck", k_bruck, NULL, k_bruck_stages},
    {"hierarchical", tern_hierarchical_alltoall, tern_plan_fits_levels,
     tern_hierarchical_alltoall_stages},
    {0},
};

const struct tern_algorithm tern_alltoallv_algorithms[] = {
    {"linear", linear, NULL, NULL},
    {"pairwise", pairwise, NULL, NULL},
    {0},
};
