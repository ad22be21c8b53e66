/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Intercommunicators (MPI-4.1 section 6.2.3): what one group gives, the other gets. Steps go to the
 * remote group unless they are marked local. Rank 0 of each group leads it: reductions and
 * broadcasts run within a group and between the leaders; the rest is linear.
 */
#include "lib/coll/build.h"

static bool is_root(const struct tern_plan_args *args)
{
    return args->root == TERN_ROOT_ME;
}

static bool beside_root(const struct tern_plan_args *args)
{
    return args->root == TERN_ROOT_BESIDE_ME;
}

/* All have come here, all over there have come: up to the leader, across, down again. */
static void leaders_barrier(struct tern_plan *plan)
{
    struct tern_ref nothing = in_temp(0, 0, 0), result;
    struct tern_team team = team_of(&plan->args);
    int64_t ready;
    tern_plan_add_reduce(plan, team, 0, false, nothing, nothing, nothing, &result, &ready);
    if (team.rank == 0) {
        add_send(plan, 0, nothing, after(plan, ready));
        ready = add_recv(plan, 0, nothing, after(plan, ready));
    }
    tern_plan_add_bcast(plan, team, 0, nothing, ready);
}

static void leaders_bcast(struct tern_plan *plan)
{
    const struct tern_plan_args *args = &plan->args;
    struct tern_ref data = in_recv(0, args->recv_count);
    int64_t received = -1;
    if (beside_root(args))
        return;
    if (is_root(args)) {
        add_send(plan, 0, data, 0);
        return;
    }
    if (args->rank == 0)
        received = add_recv(plan, args->root, data, 0);
    tern_plan_add_bcast(plan, team_of(args), 0, data, received);
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

/* --- reductions --- */

static void leaders_reduce(struct tern_plan *plan)
{
    const struct tern_plan_args *args = &plan->args;
    int64_t count = args->recv_count, ready;
    struct tern_ref sum;
    if (beside_root(args))
        return;
    if (is_root(args)) {
        add_recv(plan, 0, in_recv(0, count), 0);
        return;
    }
    set_temporaries(plan, 2, count, true);
    tern_plan_add_reduce(plan, team_of(args), 0, !args->commutative, in_send(0, count),
                         in_temp(0, 0, count), in_temp(1, 0, count), &sum, &ready);
    if (args->rank == 0)
        add_send(plan, args->root, sum, after(plan, ready));
}

static void leaders_allreduce(struct tern_plan *plan)
{
    const struct tern_plan_args *args = &plan->args;
    int64_t count = args->recv_count, ready;
    struct tern_ref sum;
    set_temporaries(plan, 2, count, true);
    tern_plan_add_reduce(plan, team_of(args), 0, !args->commutative, in_send(0, count),
                         in_temp(0, 0, count), in_temp(1, 0, count), &sum, &ready);
    if (args->rank == 0) {
        add_send(plan, 0, sum, after(plan, ready));
        ready = add_recv(plan, 0, in_recv(0, count), after(plan, ready));
    }
    tern_plan_add_bcast(plan, team_of(args), 0, in_recv(0, count), ready);
}

/* The leader hands out the blocks of the other group's sum. */
static void leaders_reduce_scatter(struct tern_plan *plan)
{
    const struct tern_plan_args *args = &plan->args;
    int64_t total = 0, ready;
    for (int r = 0; r < args->size; r++)
        total += args->blocks ? tern_ints_at(args->blocks->recv_counts, r) : args->recv_count;
    int64_t mine =
        args->blocks ? tern_ints_at(args->blocks->recv_counts, args->rank) : args->recv_count;
    struct tern_ref sum, theirs = in_temp(2, 0, total);
    set_temporaries(plan, 3, total, true);
    tern_plan_add_reduce(plan, team_of(args), 0, !args->commutative, in_send(0, total),
                         in_temp(0, 0, total), in_temp(1, 0, total), &sum, &ready);
    if (args->rank) {
        if (mine) {
            struct tern_step step = step_recv(0, in_recv(0, mine), 0);
            step.flags = TERN_STEP_LOCAL;
            tern_plan_add(plan, step);
        }
        return;
    }
    add_send(plan, 0, sum, after(plan, ready));
    ready = add_recv(plan, 0, theirs, 0);
    add_copy(plan, part(theirs, 0, mine), in_recv(0, mine), after(plan, ready));
    int64_t offset = mine;
    for (int r = 1; r < args->size; r++) {
        int64_t count =
            args->blocks ? tern_ints_at(args->blocks->recv_counts, r) : args->recv_count;
        struct tern_step step = step_send(r, part(theirs, offset, count), after(plan, ready));
        step.flags = TERN_STEP_LOCAL;
        if (count)
            tern_plan_add(plan, step);
        offset += count;
    }
}

const struct tern_algorithm tern_inter_barrier_algorithms[] = {{"leaders", leaders_barrier, NULL, NULL},
                                                               {0}};
const struct tern_algorithm tern_inter_bcast_algorithms[] = {{"leaders", leaders_bcast, NULL, NULL}, {0}};
const struct tern_algorithm tern_inter_gather_algorithms[] = {{"linear", linear_gather, NULL, NULL}, {0}};
const struct tern_algorithm tern_inter_scatter_algorithms[] = {{"linear", linear_scatter, NULL, NULL},
                                                               {0}};
const struct tern_algorithm tern_inter_exchange_algorithms[] = {{"linear", linear_exchange, NULL, NULL},
                                                                {0}};
const struct tern_algorithm tern_inter_reduce_algorithms[] = {{"leaders", leaders_reduce, NULL, NULL},
                                                              {0}};
const struct tern_algorithm tern_inter_allreduce_algorithms[] = {
    {"leaders", leaders_allreduce, NULL, NULL}, {0}};
const struct tern_algorithm tern_inter_reduce_scatter_algorithms[] = {
    {"leaders", leaders_reduce_scatter, NULL, NULL}, {0}};
