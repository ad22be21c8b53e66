/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Intercommunicators (MPI-4.1 section 6.2.3): what one group gives, the other gets. Steps go to the
 * remote group unless they are marked local. There are two ways:
 *
 * - linear: every rank exchanges messages with every remote rank that has something for it;
 * - leaders: rank 0 of each group collects, exchanges messages with the other group's rank 0, and
 *   distributes.
 *
 * Within a group this is any collective, chosen by price (compose.h). Both groups must choose one
 * way, so prices depend only on what both groups know.
 */
#include "lib/coll/algo/inter.h"

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

/* --- prices; shape->size is the larger group --- */

/* Adds messages to the remote group, at the same time, from `senders` ranks. */
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

static void exchange_stages(const struct tern_shape *shape, struct tern_stages *stages)
{
    add_messages(stages, shape, shape->size, shape->bytes, shape->size + shape->other_size);
}

static void leaders_bcast_stages(const struct tern_shape *shape, struct tern_stages *stages)
{
    add_messages(stages, shape, 1, shape->bytes, 1);
    add_local_stages(stages, shape, TERN_BCAST, shape->bytes);
}

/* Gather; scatter is its reverse. */
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

const struct tern_algorithm tern_inter_barrier_algorithms[] = {
    {"leaders", leaders_barrier, NULL, NULL},
    {0},
};
const struct tern_algorithm tern_inter_bcast_algorithms[] = {
    {"linear", linear_bcast, NULL, linear_stages},
    {"leaders", leaders_bcast, NULL, leaders_bcast_stages},
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
    {"linear", linear_exchange, NULL, exchange_stages},
    {"leaders", leaders_allgather, NULL, leaders_allgather_stages},
    {0},
};
/* Of these no rank knows all lengths, or every rank has something for every other: one way. */
const struct tern_algorithm tern_inter_exchange_algorithms[] = {
    {"linear", linear_exchange, NULL, NULL},
    {0},
};
