/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Intercommunicators (MPI-4.1 section 6.2.3): what one group gives, the other gets. Steps go to the
 * remote group unless they are marked local. Three ways:
 *
 * - linear: everybody with everybody who has something for it;
 * - leaders: rank 0 of each group collects, talks to the other one, and hands out;
 * - spread: data cross in pieces, every byte once, to all ranks of the other group at the same
 *   time, and are collected or handed out within it.
 *
 * Within a group that is any collective, chosen by price (compose.h). Both groups must choose the
 * same way, so prices are by what both know.
 */
#include "lib/coll/compose.h"

#include <stdlib.h>

static bool is_root(const struct tern_plan_args *args)
{
    return args->root == TERN_ROOT_ME;
}

static bool beside_root(const struct tern_plan_args *args)
{
    return args->root == TERN_ROOT_BESIDE_ME;
}

/* A phase of the whole local group. */
static struct tern_phase *add_local(struct tern_plan *plan, enum tern_collective collective)
{
    return tern_plan_add_phase(plan, collective, tern_subgroup_local(&plan->args));
}

/* Steps of its own to the remote group, made by `algorithm`, from `send` to `recv`. NULL: the plan
 * fails. */
static struct tern_phase *add_across(struct tern_plan *plan, const struct tern_algorithm *algorithm,
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

/* Between leaders, or those of the same rank. */
static void build_swap(struct tern_plan *plan)
{
    add_recv(plan, plan->args.root, in_recv(0, plan->args.recv_count), 0);
    add_send(plan, plan->args.root, in_send(0, plan->args.send_count), 0);
}

static const struct tern_algorithm receive = {"receive", build_receive, NULL, NULL},
                                   give = {"send", build_send, NULL, NULL},
                                   swap = {"swap", build_swap, NULL, NULL};

static const struct tern_ref nothing = {0, 0, -1, TERN_TEMPORARY};

/* `count` units from unit `at` on, cut evenly among the local group, are its blocks. */
static void set_even_blocks(struct tern_plan *plan, struct tern_phase *phase, int64_t count)
{
    int n = plan->args.size;
    int64_t *numbers = tern_phase_set_blocks(plan, phase, n, false);
    for (int r = 0; numbers && r < n; r++) {
        numbers[n + r] = cut(count, n, r);
        numbers[r] = cut(count, n, r + 1) - numbers[n + r];
    }
}

static struct tern_ref even_block(struct tern_ref whole, int parts, int64_t i)
{
    int64_t begin = cut(whole.count, parts, i);
    return part(whole, begin, cut(whole.count, parts, i + 1) - begin);
}

/* All have come here, all over there have come: up to the leader, across, down again. */
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

static void bcast_locally(struct tern_plan *plan, struct tern_ref data)
{
    struct tern_phase *phase = add_local(plan, TERN_BCAST);
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
        add_across(plan, &receive, nothing, data);
    bcast_locally(plan, data);
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

/* Pieces of the message, which is bytes. */
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

/* A piece from the root, which may be none. */
static void build_piece(struct tern_plan *plan)
{
    if (plan->args.recv_count)
        build_receive(plan);
}

static const struct tern_algorithm pieces = {"pieces", build_pieces, NULL, NULL},
                                   piece = {"piece", build_piece, NULL, NULL};

/* Barnett et al. 1994: a scatter, then all gather. */
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
        add_across(plan, &pieces, whole, nothing);
        tern_plan_finish(plan);
        return;
    }
    add_across(plan, &piece, nothing, even_block(whole, args->size, args->rank));
    struct tern_phase *phase = add_local(plan, TERN_ALLGATHERV);
    if (phase) {
        phase->args.in_place = true;
        tern_phase_recv(plan, phase, part(whole, 0, 0));
        set_even_blocks(plan, phase, bytes);
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
    struct tern_phase *phase = add_local(plan, TERN_GATHER);
    if (phase) {
        tern_phase_send(plan, phase, in_send(0, args->send_count));
        tern_phase_recv(plan, phase, in_kept(0, block));
    }
    if (!args->rank)
        add_across(plan, &give, in_kept(0, args->size * block), nothing);
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
        add_across(plan, &receive, nothing, in_kept(0, args->size * block));
    struct tern_phase *phase = add_local(plan, TERN_SCATTER);
    if (phase) {
        tern_phase_send(plan, phase, in_kept(0, block));
        tern_phase_recv(plan, phase, in_recv(0, args->recv_count));
    }
    tern_plan_finish(plan);
}

/* Only the root of the v forms knows the counts. */
static bool equal_blocks(const struct tern_plan_args *args)
{
    return args->collective == TERN_GATHER || args->collective == TERN_SCATTER;
}

/* --- everybody with everybody over there --- */

/*
 * In round t ranks a and b meet if a + b = t, modulo the larger size: every pair once, the same for
 * both, and everybody goes through its rounds upwards. So whatever the window, the earliest
 * unfinished round can always go on.
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
    struct tern_phase *phase = add_local(plan, TERN_GATHER);
    if (phase) {
        tern_phase_send(plan, phase, in_send(0, args->send_count));
        tern_phase_recv(plan, phase, in_kept(0, block));
    }
    if (!args->rank)
        add_across(plan, &swap, in_kept(0, args->size * block), theirs);
    bcast_locally(plan, theirs);
    tern_plan_finish(plan);
}

/*
 * The blocks of the other group, cut into as many ranges as this one has ranks: each gets the
 * blocks of its range. `blocks` NULL: they are equal and arrive in their places; else packed.
 */
static void range_step(const struct tern_plan *plan, int64_t i, struct tern_step *ret_step)
{
    const struct tern_plan_args *args = &plan->args;
    int peer = (int)(cut(args->remote_size, args->size, args->rank) + i);
    bool last = i == plan->step_count - plan->head_count - 1; /* this rank's own block */
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
    add_across(plan, &range, in_send(0, args->send_count), in_recv(0, args->recv_count));
    struct tern_phase *phase = add_local(plan, m % n ? TERN_ALLGATHERV : TERN_ALLGATHER);
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

/* Packed blocks to where the user wants them. */
static void unpack_step(const struct tern_plan *plan, int64_t i, struct tern_step *ret_step)
{
    const struct tern_plan_args *args = &plan->args;
    struct tern_ref block = recv_block(args, (int)i);
    *ret_step = step_copy(in_send(plan->offsets[i], data_bytes(args, block)), block, 0);
}

/* Where blocks begin when they are packed, one after the other. */
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
        add_across(plan, &range, in_send(0, args->send_count), in_kept(0, 0));
    int64_t *numbers = phase ? tern_phase_set_blocks(plan, phase, m, false) : NULL;
    for (int r = 0; numbers && r < m; r++) {
        numbers[r] = offsets[r + 1] - offsets[r];
        numbers[m + r] = offsets[r];
    }
    phase = add_local(plan, TERN_ALLGATHERV);
    if (phase) {
        phase->args.in_place = true;
        tern_phase_recv(plan, phase, in_kept(0, 0));
        numbers = tern_phase_set_blocks(plan, phase, n, false);
        for (int r = 0; numbers && r < n; r++) {
            numbers[n + r] = offsets[cut(m, n, r)];
            numbers[r] = offsets[cut(m, n, r + 1)] - numbers[n + r];
        }
    }
    phase = add_across(plan, &unpack, in_kept(0, offsets[m]), in_recv(0, 0));
    if (phase)
        phase->args.blocks = args->blocks;
    free(offsets);
    tern_plan_finish(plan);
}

/* Each rank hands all it has to its like over there, and they all to all. */
static void spread_alltoall(struct tern_plan *plan)
{
    const struct tern_plan_args *args = &plan->args;
    int64_t block = args->recv_count * args->recv_size;
    tern_plan_compose(plan, args->size * block);
    struct tern_phase *phase = add_across(plan, &swap, in_send(0, args->size * args->send_count),
                                          in_kept(0, args->size * block));
    if (phase)
        phase->args.root = args->rank;
    phase = add_local(plan, TERN_ALLTOALL);
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

/* --- reductions --- */

/* The group's sum of `count` units comes to `sum` at its rank 0. */
static void reduce_locally(struct tern_plan *plan, int64_t count, struct tern_ref sum)
{
    struct tern_phase *phase = add_local(plan, TERN_REDUCE);
    if (!phase)
        return;
    tern_phase_send(plan, phase, in_send(0, count));
    tern_phase_recv(plan, phase, sum);
}

/* Each rank's part of it, the vector being cut evenly, to `part`. */
static void scatter_sum(struct tern_plan *plan, int64_t count, struct tern_ref part_of_sum)
{
    struct tern_phase *phase = add_local(plan, TERN_REDUCE_SCATTER);
    if (!phase)
        return;
    tern_phase_send(plan, phase, in_send(0, count));
    tern_phase_recv(plan, phase, part_of_sum);
    set_even_blocks(plan, phase, count);
}

static void leaders_reduce(struct tern_plan *plan)
{
    const struct tern_plan_args *args = &plan->args;
    struct tern_ref sum = in_kept(0, args->recv_count);
    if (beside_root(args))
        return;
    if (is_root(args)) {
        add_recv(plan, 0, in_recv(0, args->recv_count), 0);
        return;
    }
    tern_plan_compose(plan, args->rank ? 0 : args->recv_count);
    reduce_locally(plan, args->recv_count, sum);
    if (!args->rank)
        add_across(plan, &give, sum, nothing);
    tern_plan_finish(plan);
}

static void part_step(const struct tern_plan *plan, int64_t i, struct tern_step *ret_step)
{
    const struct tern_plan_args *args = &plan->args;
    struct tern_ref block = even_block(in_recv(0, args->recv_count), args->remote_size, i);
    *ret_step = block.count ? step_recv((int)i, block, 0) : step_none();
}

static void spread_reduce(struct tern_plan *plan)
{
    const struct tern_plan_args *args = &plan->args;
    int64_t count = args->recv_count;
    struct tern_ref mine = in_kept(0, even_block(in_recv(0, count), args->size, args->rank).count);
    if (beside_root(args))
        return;
    if (is_root(args)) {
        set_tail(plan, args->remote_size, part_step);
        return;
    }
    tern_plan_compose(plan, mine.count);
    scatter_sum(plan, count, mine);
    if (mine.count)
        add_across(plan, &give, mine, nothing);
    tern_plan_finish(plan);
}

static void leaders_allreduce(struct tern_plan *plan)
{
    const struct tern_plan_args *args = &plan->args;
    struct tern_ref result = in_recv(0, args->recv_count), sum = in_kept(0, args->recv_count);
    tern_plan_compose(plan, args->rank ? 0 : args->recv_count);
    reduce_locally(plan, args->recv_count, sum);
    if (!args->rank)
        add_across(plan, &swap, sum, result);
    bcast_locally(plan, result);
    tern_plan_finish(plan);
}

/*
 * Both groups have cut a vector evenly, each rank having a part: it sends its part of one and gets
 * its part of the other, from and to whom their parts overlap. Upwards, so that the first pair that
 * is not done can always go on. The counts are the whole vector's, the buffers this rank's part.
 */
static void overlap_step(const struct tern_plan *plan, int64_t i, struct tern_step *ret_step)
{
    const struct tern_plan_args *args = &plan->args;
    int64_t total = args->recv_count, begin = cut(total, args->size, args->rank);
    int64_t end = cut(total, args->size, args->rank + 1);
    int64_t peer = part_of(total, args->remote_size, begin) + i / 2;
    int64_t low = cut(total, args->remote_size, peer);
    int64_t high = cut(total, args->remote_size, peer + 1);
    low = low > begin ? low : begin;
    high = high < end ? high : end;
    if (i % 2 == 0)
        *ret_step = step_recv((int)peer, in_recv(low - begin, high - low), 0);
    else
        *ret_step = step_send((int)peer, in_send(low - begin, high - low), 0);
}

static void build_overlap(struct tern_plan *plan)
{
    const struct tern_plan_args *args = &plan->args;
    int64_t total = args->recv_count, begin = cut(total, args->size, args->rank);
    int64_t end = cut(total, args->size, args->rank + 1);
    if (begin < end)
        set_tail(plan,
                 2 * (part_of(total, args->remote_size, end - 1) -
                      part_of(total, args->remote_size, begin) + 1),
                 overlap_step);
}

static const struct tern_algorithm overlap = {"overlap", build_overlap, NULL, NULL};

static void spread_allreduce(struct tern_plan *plan)
{
    const struct tern_plan_args *args = &plan->args;
    int64_t count = args->recv_count;
    struct tern_ref result = even_block(in_recv(0, count), args->size, args->rank);
    struct tern_ref mine = in_kept(0, result.count);
    tern_plan_compose(plan, mine.count);
    scatter_sum(plan, count, mine);
    add_across(plan, &overlap, part(mine, 0, count), part(result, 0, count));
    struct tern_phase *phase = add_local(plan, TERN_ALLGATHERV);
    if (phase) {
        phase->args.in_place = true;
        tern_phase_recv(plan, phase, in_recv(0, 0));
        set_even_blocks(plan, phase, count);
    }
    tern_plan_finish(plan);
}

static int64_t block_count(const struct tern_plan_args *args, int rank)
{
    return args->blocks ? tern_ints_at(args->blocks->recv_counts, rank) : args->recv_count;
}

static int64_t total_count(const struct tern_plan_args *args)
{
    int64_t total = 0;
    for (int r = 0; r < args->size; r++)
        total += block_count(args, r);
    return total;
}

/* The leader hands out the blocks of the other group's sum. */
static void leaders_reduce_scatter(struct tern_plan *plan)
{
    const struct tern_plan_args *args = &plan->args;
    int64_t total = total_count(args), at = 0;
    struct tern_ref sum = in_kept(0, total), theirs = in_kept(total, total);
    tern_plan_compose(plan, args->rank ? 0 : 2 * total);
    reduce_locally(plan, total, sum);
    if (!args->rank)
        add_across(plan, &swap, sum, theirs);
    struct tern_phase *phase = add_local(plan, TERN_SCATTERV);
    if (phase) {
        tern_phase_send(plan, phase, theirs);
        tern_phase_recv(plan, phase, in_recv(0, block_count(args, args->rank)));
        int64_t *numbers = args->rank ? NULL : tern_phase_set_blocks(plan, phase, args->size, true);
        for (int r = 0; numbers && r < args->size; at += numbers[r++]) {
            numbers[r] = block_count(args, r);
            numbers[args->size + r] = at;
        }
    }
    tern_plan_finish(plan);
}

/* What the group's rank `from` has of a vector cut evenly, and belongs to the block begin .. end -
 * 1: units and where they begin in the vector. */
static int64_t common(int64_t total, int size, int from, int64_t begin, int64_t end,
                      int64_t *ret_begin)
{
    int64_t low = cut(total, size, from), high = cut(total, size, from + 1);
    *ret_begin = low > begin ? low : begin;
    high = high < end ? high : end;
    return high > *ret_begin ? high - *ret_begin : 0;
}

static void spread_reduce_scatter(struct tern_plan *plan)
{
    const struct tern_plan_args *args = &plan->args;
    int n = args->size, p = args->rank;
    int64_t total = total_count(args), first = cut(total, n, p), at = 0, begin;
    int64_t length = cut(total, n, p + 1) - first;
    struct tern_ref mine = in_kept(0, length), theirs = in_kept(length, length);
    tern_plan_compose(plan, 2 * length);
    scatter_sum(plan, total, mine);
    add_across(plan, &overlap, part(mine, 0, total), part(theirs, 0, total));
    struct tern_phase *phase = add_local(plan, TERN_ALLTOALLV);
    if (!phase)
        return;
    tern_phase_send(plan, phase, theirs);
    tern_phase_recv(plan, phase, in_recv(0, 0));
    int64_t *out = tern_phase_set_blocks(plan, phase, n, true);
    int64_t *in = tern_phase_set_blocks(plan, phase, n, false);
    for (int r = 0; out && in && r < n; r++) {
        int64_t count = block_count(args, r);
        out[r] = common(total, n, p, at, at + count, &begin);
        out[n + r] = out[r] ? begin - first : 0;
        for (int q = 0; r == p && q < n; q++) {
            in[q] = common(total, n, q, at, at + count, &begin);
            in[n + q] = in[q] ? begin - at : 0;
        }
        at += count;
    }
    tern_plan_finish(plan);
}

/* --- prices: shape->size is the larger group --- */

/* Messages side by side across, from `senders` ranks. */
static void add_messages(struct tern_stages *stages, const struct tern_shape *shape,
                         int64_t messages, int64_t bytes, int64_t senders)
{
    tern_stages_add(stages, (struct tern_stage){.repeat = 1,
                                                .messages = messages,
                                                .bytes = bytes,
                                                .distance = shape->size,
                                                .senders = senders});
}

static void add_local_stages(struct tern_stages *stages, const struct tern_shape *shape,
                             enum tern_collective collective, int64_t bytes)
{
    tern_stages_add_phase(stages, shape, collective, TERN_LEVEL_GROUP, 1, bytes);
}

/* From or to one root. */
static void linear_stages(const struct tern_shape *shape, struct tern_stages *stages)
{
    add_messages(stages, shape, shape->size, shape->bytes, 1);
}

static void linear_exchange_stages(const struct tern_shape *shape, struct tern_stages *stages)
{
    add_messages(stages, shape, shape->size, shape->bytes, shape->size + shape->other_size);
}

static void leaders_bcast_stages(const struct tern_shape *shape, struct tern_stages *stages)
{
    add_messages(stages, shape, 1, shape->bytes, 1);
    add_local_stages(stages, shape, TERN_BCAST, shape->bytes);
}

static void spread_bcast_stages(const struct tern_shape *shape, struct tern_stages *stages)
{
    add_messages(stages, shape, shape->size, shape->bytes / shape->size, 1);
    add_local_stages(stages, shape, TERN_ALLGATHERV, shape->bytes / shape->size);
}

/* Of gather; scatter is the same backwards. */
static void leaders_gather_stages(const struct tern_shape *shape, struct tern_stages *stages)
{
    add_local_stages(stages, shape, TERN_GATHER, shape->bytes);
    add_messages(stages, shape, 1, shape->size * shape->bytes, 1);
}

static void leaders_allgather_stages(const struct tern_shape *shape, struct tern_stages *stages)
{
    add_local_stages(stages, shape, TERN_GATHER, shape->bytes);
    add_messages(stages, shape, 1, shape->size * shape->bytes, 2);
    add_local_stages(stages, shape, TERN_BCAST, shape->size * shape->bytes);
}

static void spread_allgather_stages(const struct tern_shape *shape, struct tern_stages *stages)
{
    int64_t each = (shape->size + shape->other_size - 1) / shape->other_size;
    add_messages(stages, shape, each, shape->bytes, shape->size + shape->other_size);
    add_local_stages(stages, shape, TERN_ALLGATHERV, shape->bytes);
}

static void spread_alltoall_stages(const struct tern_shape *shape, struct tern_stages *stages)
{
    add_messages(stages, shape, 1, shape->size * shape->bytes, 2 * shape->size);
    add_local_stages(stages, shape, TERN_ALLTOALL, shape->bytes);
}

static void leaders_reduce_stages(const struct tern_shape *shape, struct tern_stages *stages)
{
    add_local_stages(stages, shape, TERN_REDUCE, shape->bytes);
    add_messages(stages, shape, 1, shape->bytes, 1);
}

static void spread_reduce_stages(const struct tern_shape *shape, struct tern_stages *stages)
{
    add_local_stages(stages, shape, TERN_REDUCE_SCATTER, shape->bytes / shape->size);
    add_messages(stages, shape, shape->size, shape->bytes / shape->size, 1);
}

static void leaders_allreduce_stages(const struct tern_shape *shape, struct tern_stages *stages)
{
    leaders_reduce_stages(shape, stages);
    add_local_stages(stages, shape, TERN_BCAST, shape->bytes);
}

static void spread_allreduce_stages(const struct tern_shape *shape, struct tern_stages *stages)
{
    int64_t part_bytes = shape->bytes / shape->size;
    add_local_stages(stages, shape, TERN_REDUCE_SCATTER, part_bytes);
    add_messages(stages, shape, 1, shape->bytes / shape->other_size,
                 shape->size + shape->other_size);
    add_local_stages(stages, shape, TERN_ALLGATHERV, part_bytes);
}

/* Of reduce_scatter; the bytes are the whole vector's. */
static void leaders_scatter_stages(const struct tern_shape *shape, struct tern_stages *stages)
{
    leaders_reduce_stages(shape, stages);
    add_local_stages(stages, shape, TERN_SCATTER, shape->bytes / shape->size);
}

static void spread_scatter_stages(const struct tern_shape *shape, struct tern_stages *stages)
{
    int64_t part_bytes = shape->bytes / shape->size;
    add_local_stages(stages, shape, TERN_REDUCE_SCATTER, part_bytes);
    add_messages(stages, shape, 1, shape->bytes / shape->other_size,
                 shape->size + shape->other_size);
    add_messages(stages, shape, 2, part_bytes / 2, shape->size);
}

const struct tern_algorithm tern_inter_barrier_algorithms[] = {
    {"leaders", leaders_barrier, NULL, NULL},
    {0},
};
const struct tern_algorithm tern_inter_bcast_algorithms[] = {
    {"linear", linear_bcast, NULL, linear_stages},
    {"leaders", leaders_bcast, NULL, leaders_bcast_stages},
    {"spread", spread_bcast, NULL, spread_bcast_stages},
    {0},
};
const struct tern_algorithm tern_inter_gather_algorithms[] = {
    {"linear", linear_gather, NULL, linear_stages},
    {"leaders", leaders_gather, equal_blocks, leaders_gather_stages},
    {0},
};
const struct tern_algorithm tern_inter_scatter_algorithms[] = {
    {"linear", linear_scatter, NULL, linear_stages},
    {"leaders", leaders_scatter, equal_blocks, leaders_gather_stages},
    {0},
};
const struct tern_algorithm tern_inter_allgather_algorithms[] = {
    {"linear", linear_exchange, NULL, linear_exchange_stages},
    {"leaders", leaders_allgather, NULL, leaders_allgather_stages},
    {"spread", spread_allgather, NULL, spread_allgather_stages},
    {0},
};
const struct tern_algorithm tern_inter_allgatherv_algorithms[] = {
    {"linear", linear_exchange, NULL, linear_exchange_stages},
    {"spread", spread_allgatherv, NULL, spread_allgather_stages},
    {0},
};
const struct tern_algorithm tern_inter_alltoall_algorithms[] = {
    {"linear", linear_exchange, NULL, linear_exchange_stages},
    {"spread", spread_alltoall, equal_groups, spread_alltoall_stages},
    {0},
};
const struct tern_algorithm tern_inter_alltoallv_algorithms[] = {
    {"linear", linear_exchange, NULL, NULL},
    {0},
};
const struct tern_algorithm tern_inter_reduce_algorithms[] = {
    {"leaders", leaders_reduce, NULL, leaders_reduce_stages},
    {"spread", spread_reduce, NULL, spread_reduce_stages},
    {0},
};
const struct tern_algorithm tern_inter_allreduce_algorithms[] = {
    {"leaders", leaders_allreduce, NULL, leaders_allreduce_stages},
    {"spread", spread_allreduce, NULL, spread_allreduce_stages},
    {0},
};
const struct tern_algorithm tern_inter_reduce_scatter_algorithms[] = {
    {"leaders", leaders_reduce_scatter, NULL, leaders_scatter_stages},
    {"spread", spread_reduce_scatter, NULL, spread_scatter_stages},
    {0},
};
