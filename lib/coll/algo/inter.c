/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Intercommunicators (MPI-4.1 section 6.2.3): what one group gives, the other gets. Steps go to the
 * remote group unless they are marked local. There are three ways:
 *
 * - linear: every rank exchanges messages with every remote rank that has something for it;
 * - leaders: rank 0 of each group collects, exchanges messages with the other group's rank 0, and
 *   distributes;
 * - spread: data cross in pieces, every byte once, to all ranks of the other group at the same
 *   time, and are collected or distributed within that group.
 *
 * Within a group this is any collective, chosen by price (compose.h). Both groups must choose one
 * way, so prices depend only on what both groups know.
 */
#include "lib/coll/algo/inter.h"

#include <stdlib.h>

struct tern_phase *tern_inter_add_local(struct tern_plan *plan, enum tern_collective collective)
{
    return tern_plan_add_phase(plan, collective, tern_subgroup_local(&plan->args));
}

struct tern_phase *tern_inter_add_across(struct tern_plan *plan,
                                         const struct tern_algorithm *algorithm,
                                         struct tern_ref send, struct tern_ref recv)
{
    struct tern_phase *phase = tern_plan_add_phase(
        plan, (enum tern_collective)plan->args.collective, tern_subgroup_of_all(&plan->args));
    if (!phase)
        return NULL;
    phase->algorithm = algorithm;
    phase->args.root = plan->args.root;
    tern_phase_send(plan, phase, send);
    tern_phase_recv(plan, phase, recv);
    return phase;
}

static void build_receive(struct tern_plan *plan)
{
    add_recv(plan, plan->args.root, in_recv(0, plan->args.recv_count), 0);
}

static void build_send(struct tern_plan *plan)
{
    add_send(plan, plan->args.root, in_send(0, plan->args.send_count), 0);
}

/* Between leaders, or ranks of equal number. */
static void build_swap(struct tern_plan *plan)
{
    add_recv(plan, plan->args.root, in_recv(0, plan->args.recv_count), 0);
    add_send(plan, plan->args.root, in_send(0, plan->args.send_count), 0);
}

static const struct tern_algorithm receive = {"receive", build_receive, NULL, NULL};
const struct tern_algorithm tern_inter_give = {"send", build_send, NULL, NULL},
                            tern_inter_swap = {"swap", build_swap, NULL, NULL};

void tern_inter_set_even_blocks(struct tern_plan *plan, struct tern_phase *phase, int64_t count)
{
    int n = plan->args.size;
    int64_t *numbers = tern_phase_set_blocks(plan, phase, n, false);
    for (int r = 0; numbers && r < n; r++) {
        numbers[n + r] = cut(count, n, r);
        numbers[r] = cut(count, n, r + 1) - numbers[n + r];
    }
}

/* Reduces to the leader: all of this group have come. The leaders exchange messages: all of the
 * other group have come. Then the leader broadcasts. */
static void leaders_barrier(struct tern_plan *plan)
{
    struct tern_ref empty = in_temp(0, 0, 0), result;
    struct tern_team team = team_of(&plan->args);
    int64_t ready;
    tern_plan_add_reduce(plan, team, 0, false, empty, empty, empty, &result, &ready);
    if (team.rank == 0) {
        add_send(plan, 0, empty, after(plan, ready));
        ready = add_recv(plan, 0, empty, after(plan, ready));
    }
    tern_plan_add_bcast(plan, team, 0, empty, ready);
}

/* --- bcast --- */

void tern_inter_add_bcast(struct tern_plan *plan, struct tern_ref data)
{
    struct tern_phase *phase = tern_inter_add_local(plan, TERN_BCAST);
    if (phase)
        tern_phase_recv(plan, phase, data);
}

static void leaders_bcast(struct tern_plan *plan)
{
    const struct tern_plan_args *args = &plan->args;
    struct tern_ref data = in_recv(0, args->recv_count);
    if (beside_root(args))
        return;
    if (is_root(args)) {
        add_send(plan, 0, data, 0);
        return;
    }
    tern_plan_compose(plan, 0);
    if (args->rank == 0)
        tern_inter_add_across(plan, &receive, nothing, data);
    tern_inter_add_bcast(plan, data);
    tern_plan_finish(plan);
}

static void tell_step(const struct tern_plan *plan, int64_t i, struct tern_step *ret_step)
{
    *ret_step = step_send((int)i, in_recv(0, plan->args.recv_count), 0);
}

static void linear_bcast(struct tern_plan *plan)
{
    const struct tern_plan_args *args = &plan->args;
    if (is_root(args))
        set_tail(plan, args->remote_size, tell_step);
    else if (!beside_root(args))
        add_recv(plan, args->root, in_recv(0, args->recv_count), 0);
}

/* Sends pieces of the message, which is bytes. */
static void piece_step(const struct tern_plan *plan, int64_t i, struct tern_step *ret_step)
{
    const struct tern_plan_args *args = &plan->args;
    struct tern_ref piece = even_block(in_send(0, args->send_count), args->remote_size, i);
    *ret_step = piece.count ? step_send((int)i, piece, 0) : step_none();
}

static void build_pieces(struct tern_plan *plan)
{
    set_tail(plan, plan->args.remote_size, piece_step);
}

/* Receives a piece from the root, which may be empty. */
static void build_piece(struct tern_plan *plan)
{
    if (plan->args.recv_count)
        build_receive(plan);
}

static const struct tern_algorithm pieces = {"pieces", build_pieces, NULL, NULL},
                                   piece = {"piece", build_piece, NULL, NULL};

/* Barnett et al. 1994: a scatter, then an allgather. */
static void spread_bcast(struct tern_plan *plan)
{
    const struct tern_plan_args *args = &plan->args;
    int64_t bytes = args->recv_count * args->recv_size;
    bool packed = !args->recv_bytes;
    struct tern_ref data = in_recv(0, args->recv_count);
    struct tern_ref whole = packed ? in_kept(0, bytes) : data;
    if (beside_root(args))
        return;
    tern_plan_compose(plan, packed ? bytes : 0);
    if (is_root(args)) {
        if (packed)
            tern_plan_add_copy_phase(plan, data, whole);
        tern_inter_add_across(plan, &pieces, whole, nothing);
        tern_plan_finish(plan);
        return;
    }
    tern_inter_add_across(plan, &piece, nothing, even_block(whole, args->size, args->rank));
    struct tern_phase *phase = tern_inter_add_local(plan, TERN_ALLGATHERV);
    if (phase) {
        phase->args.in_place = true;
        tern_phase_recv(plan, phase, part(whole, 0, 0));
        tern_inter_set_even_blocks(plan, phase, bytes);
    }
    if (packed)
        tern_plan_add_copy_phase(plan, whole, data);
    tern_plan_finish(plan);
}

/* --- gather, scatter --- */

static void gather_step(const struct tern_plan *plan, int64_t i, struct tern_step *ret_step)
{
    struct tern_ref block = recv_block(&plan->args, (int)i);
    *ret_step = step_recv((int)i, block, 0);
    if (!data_bytes(&plan->args, block))
        ret_step->kind = TERN_STEP_NONE;
}

static void linear_gather(struct tern_plan *plan)
{
    const struct tern_plan_args *args = &plan->args;
    struct tern_ref mine = in_send(0, args->send_count);
    if (is_root(args))
        set_tail(plan, args->remote_size, gather_step);
    else if (!beside_root(args) && data_bytes(args, mine))
        add_send(plan, args->root, mine, 0);
}

static void leaders_gather(struct tern_plan *plan)
{
    const struct tern_plan_args *args = &plan->args;
    int64_t block = args->send_count * args->send_size;
    if (beside_root(args))
        return;
    if (is_root(args)) {
        add_recv(plan, 0, in_recv(0, args->remote_size * args->recv_count), 0);
        return;
    }
    tern_plan_compose(plan, args->rank ? 0 : args->size * block);
    struct tern_phase *phase = tern_inter_add_local(plan, TERN_GATHER);
    if (phase) {
        tern_phase_send(plan, phase, in_send(0, args->send_count));
        tern_phase_recv(plan, phase, in_kept(0, block));
    }
    if (!args->rank)
        tern_inter_add_across(plan, &tern_inter_give, in_kept(0, args->size * block), nothing);
    tern_plan_finish(plan);
}

static void scatter_step(const struct tern_plan *plan, int64_t i, struct tern_step *ret_step)
{
    struct tern_ref block = send_block(&plan->args, (int)i);
    *ret_step = step_send((int)i, block, 0);
    if (!data_bytes(&plan->args, block))
        ret_step->kind = TERN_STEP_NONE;
}

static void linear_scatter(struct tern_plan *plan)
{
    const struct tern_plan_args *args = &plan->args;
    struct tern_ref mine = in_recv(0, args->recv_count);
    if (is_root(args))
        set_tail(plan, args->remote_size, scatter_step);
    else if (!beside_root(args) && data_bytes(args, mine))
        add_recv(plan, args->root, mine, 0);
}

static void leaders_scatter(struct tern_plan *plan)
{
    const struct tern_plan_args *args = &plan->args;
    int64_t block = args->recv_count * args->recv_size;
    if (beside_root(args))
        return;
    if (is_root(args)) {
        add_send(plan, 0, in_send(0, args->remote_size * args->send_count), 0);
        return;
    }
    tern_plan_compose(plan, args->rank ? 0 : args->size * block);
    if (!args->rank)
        tern_inter_add_across(plan, &receive, nothing, in_kept(0, args->size * block));
    struct tern_phase *phase = tern_inter_add_local(plan, TERN_SCATTER);
    if (phase) {
        tern_phase_send(plan, phase, in_kept(0, block));
        tern_phase_recv(plan, phase, in_recv(0, args->recv_count));
    }
    tern_plan_finish(plan);
}

/* Returns true if all ranks know the length of a block. In the v forms only the root does. */
static bool equal_blocks(const struct tern_plan_args *args)
{
    return args->collective == TERN_GATHER || args->collective == TERN_SCATTER;
}

/* --- every rank with every remote rank --- */

/*
 * In round t ranks a and b meet if a + b = t, modulo the larger size. So every pair meets once, in
 * one round for both, and every rank goes through its rounds upwards. With any window, the earliest
 * unfinished round can always proceed.
 */
static void meet_step(const struct tern_plan *plan, int64_t i, struct tern_step *ret_step)
{
    const struct tern_plan_args *args = &plan->args;
    int larger = args->size > args->remote_size ? args->size : args->remote_size;
    int peer = wrap(i / 2 - args->rank, larger);
    *ret_step = step_none();
    if (peer >= args->remote_size)
        return;
    bool same_for_all = args->collective == TERN_ALLGATHER || args->collective == TERN_ALLGATHERV;
    struct tern_ref block = i % 2 == 0     ? recv_block(args, peer)
                            : same_for_all ? in_send(0, args->send_count)
                                           : send_block(args, peer);
    if (data_bytes(args, block))
        *ret_step = i % 2 == 0 ? step_recv(peer, block, 0) : step_send(peer, block, 0);
}

static void linear_exchange(struct tern_plan *plan)
{
    const struct tern_plan_args *args = &plan->args;
    int larger = args->size > args->remote_size ? args->size : args->remote_size;
    set_tail(plan, 2 * (int64_t)larger, meet_step);
}

/* --- allgather --- */

static void leaders_allgather(struct tern_plan *plan)
{
    const struct tern_plan_args *args = &plan->args;
    int64_t block = args->send_count * args->send_size;
    struct tern_ref theirs = in_recv(0, args->remote_size * args->recv_count);
    tern_plan_compose(plan, args->rank ? 0 : args->size * block);
    struct tern_phase *phase = tern_inter_add_local(plan, TERN_GATHER);
    if (phase) {
        tern_phase_send(plan, phase, in_send(0, args->send_count));
        tern_phase_recv(plan, phase, in_kept(0, block));
    }
    if (!args->rank)
        tern_inter_add_across(plan, &tern_inter_swap, in_kept(0, args->size * block), theirs);
    tern_inter_add_bcast(plan, theirs);
    tern_plan_finish(plan);
}

/*
 * The blocks of the other group are cut into as many ranges as this group has ranks. Each rank gets
 * the blocks of its range. If `blocks` is NULL, the blocks are equal and arrive in their places;
 * else they arrive packed.
 */
static void range_step(const struct tern_plan *plan, int64_t i, struct tern_step *ret_step)
{
    const struct tern_plan_args *args = &plan->args;
    int peer = (int)(cut(args->remote_size, args->size, args->rank) + i);
    bool last = i == plan->step_count - plan->head_count - 1; /* sends this rank's own block */
    struct tern_ref block = last ? in_send(0, args->send_count) : recv_block(args, peer);
    if (last)
        *ret_step = step_send((int)part_of(args->size, args->remote_size, args->rank), block, 0);
    else
        *ret_step = step_recv(peer, block, 0);
    if (!data_bytes(args, block))
        ret_step->kind = TERN_STEP_NONE;
}

static void build_range(struct tern_plan *plan)
{
    const struct tern_plan_args *args = &plan->args;
    set_tail(plan,
             cut(args->remote_size, args->size, args->rank + 1) -
                 cut(args->remote_size, args->size, args->rank) + 1,
             range_step);
}

static const struct tern_algorithm range = {"range", build_range, NULL, NULL};

static void spread_allgather(struct tern_plan *plan)
{
    const struct tern_plan_args *args = &plan->args;
    int n = args->size, m = args->remote_size;
    tern_plan_compose(plan, 0);
    tern_inter_add_across(plan, &range, in_send(0, args->send_count), in_recv(0, args->recv_count));
    struct tern_phase *phase = tern_inter_add_local(plan, m % n ? TERN_ALLGATHERV : TERN_ALLGATHER);
    if (phase) {
        phase->args.in_place = true;
        tern_phase_recv(plan, phase, in_recv(0, m / n * args->recv_count));
        int64_t *numbers = m % n ? tern_phase_set_blocks(plan, phase, n, false) : NULL;
        for (int r = 0; numbers && r < n; r++) {
            numbers[n + r] = cut(m, n, r) * args->recv_count;
            numbers[r] = cut(m, n, r + 1) * args->recv_count - numbers[n + r];
        }
    }
    tern_plan_finish(plan);
}

/* Copies packed blocks to where the user wants them. */
static void unpack_step(const struct tern_plan *plan, int64_t i, struct tern_step *ret_step)
{
    const struct tern_plan_args *args = &plan->args;
    struct tern_ref block = recv_block(args, (int)i);
    *ret_step = step_copy(in_send(plan->offsets[i], data_bytes(args, block)), block, 0);
}

/* Returns where blocks begin if they are packed, one after the other. The caller frees the array.
 * Returns NULL if there is no memory. */
static int64_t *packed_offsets(const struct tern_plan_args *args, int blocks)
{
    int64_t *offsets = calloc((size_t)blocks + 1, sizeof *offsets);
    for (int r = 0; offsets && r < blocks; r++)
        offsets[r + 1] = offsets[r] + data_bytes(args, recv_block(args, r));
    return offsets;
}

static void build_unpack(struct tern_plan *plan)
{
    plan->offsets = packed_offsets(&plan->args, plan->args.remote_size);
    if (plan->offsets)
        set_tail(plan, plan->args.remote_size, unpack_step);
    else
        plan->failed = true;
}

static const struct tern_algorithm unpack = {"unpack", build_unpack, NULL, NULL};

static void spread_allgatherv(struct tern_plan *plan)
{
    const struct tern_plan_args *args = &plan->args;
    int n = args->size, m = args->remote_size;
    int64_t *offsets = packed_offsets(args, m);
    if (!offsets) {
        plan->failed = true;
        return;
    }
    tern_plan_compose(plan, offsets[m]);
    struct tern_phase *phase =
        tern_inter_add_across(plan, &range, in_send(0, args->send_count), in_kept(0, 0));
    int64_t *numbers = phase ? tern_phase_set_blocks(plan, phase, m, false) : NULL;
    for (int r = 0; numbers && r < m; r++) {
        numbers[r] = offsets[r + 1] - offsets[r];
        numbers[m + r] = offsets[r];
    }
    phase = tern_inter_add_local(plan, TERN_ALLGATHERV);
    if (phase) {
        phase->args.in_place = true;
        tern_phase_recv(plan, phase, in_kept(0, 0));
        numbers = tern_phase_set_blocks(plan, phase, n, false);
        for (int r = 0; numbers && r < n; r++) {
            numbers[n + r] = offsets[cut(m, n, r)];
            numbers[r] = offsets[cut(m, n, r + 1)] - numbers[n + r];
        }
    }
    phase = tern_inter_add_across(plan, &unpack, in_kept(0, offsets[m]), in_recv(0, 0));
    if (phase)
        phase->args.blocks = args->blocks;
    free(offsets);
    tern_plan_finish(plan);
}

/* Each rank sends all its blocks to the remote rank of equal number. Then each group does an all to
 * all. */
static void spread_alltoall(struct tern_plan *plan)
{
    const struct tern_plan_args *args = &plan->args;
    int64_t block = args->recv_count * args->recv_size;
    tern_plan_compose(plan, args->size * block);
    struct tern_phase *phase =
        tern_inter_add_across(plan, &tern_inter_swap, in_send(0, args->size * args->send_count),
                              in_kept(0, args->size * block));
    if (phase)
        phase->args.root = args->rank;
    phase = tern_inter_add_local(plan, TERN_ALLTOALL);
    if (phase) {
        tern_phase_send(plan, phase, in_kept(0, block));
        tern_phase_recv(plan, phase, in_recv(0, args->recv_count));
    }
    tern_plan_finish(plan);
}

static bool equal_groups(const struct tern_plan_args *args)
{
    return args->size == args->remote_size;
}

const struct tern_algorithm tern_inter_barrier_algorithms[] = {
    {"leaders", leaders_barrier, NULL, NULL},
    {0},
};
const struct tern_algorithm tern_inter_bcast_algorithms[] = {
    {"linear", linear_bcast, NULL, tern_inter_linear_stages},
    {"leaders", leaders_bcast, NULL, tern_inter_leaders_bcast_stages},
    {"spread", spread_bcast, NULL, tern_inter_spread_bcast_stages},
    {0},
};
const struct tern_algorithm tern_inter_gather_algorithms[] = {
    {"linear", linear_gather, NULL, tern_inter_linear_stages},
    {"leaders", leaders_gather, equal_blocks, tern_inter_leaders_gather_stages},
    {0},
};
const struct tern_algorithm tern_inter_scatter_algorithms[] = {
    {"linear", linear_scatter, NULL, tern_inter_linear_stages},
    {"leaders", leaders_scatter, equal_blocks, tern_inter_leaders_gather_stages},
    {0},
};
const struct tern_algorithm tern_inter_allgather_algorithms[] = {
    {"linear", linear_exchange, NULL, tern_inter_linear_exchange_stages},
    {"leaders", leaders_allgather, NULL, tern_inter_leaders_allgather_stages},
    {"spread", spread_allgather, NULL, tern_inter_spread_allgather_stages},
    {0},
};
const struct tern_algorithm tern_inter_allgatherv_algorithms[] = {
    {"linear", linear_exchange, NULL, tern_inter_linear_exchange_stages},
    {"spread", spread_allgatherv, NULL, tern_inter_spread_allgather_stages},
    {0},
};
const struct tern_algorithm tern_inter_alltoall_algorithms[] = {
    {"linear", linear_exchange, NULL, tern_inter_linear_exchange_stages},
    {"spread", spread_alltoall, equal_groups, tern_inter_spread_alltoall_stages},
    {0},
};
const struct tern_algorithm tern_inter_alltoallv_algorithms[] = {
    {"linear", linear_exchange, NULL, NULL},
    {0},
};
