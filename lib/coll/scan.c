/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Prefix reductions (Hillis, Steele 1986): before round k a rank has the sum of the 2^k ranks up to
 * itself; it hands it 2^k ranks on, and puts what comes from 2^k ranks below to the left of its
 * own.
 */
#include "lib/coll/build.h"

static void scan_doubling(struct tern_plan *plan)
{
    const struct tern_plan_args *args = &plan->args;
    int64_t count = args->recv_count, ready = -1, freed[2] = {-1, -1};
    struct tern_ref sum = in_recv(0, count);
    set_temporaries(plan, 2, count, true);
    if (!args->in_place)
        ready = add_copy(plan, in_send(0, count), sum, 0);
    int round = 0;
    for (int64_t far = 1; far < args->size; far *= 2, round ^= 1) {
        int64_t sent = -1;
        if (args->rank + far < args->size)
            sent = add_send(plan, (int)(args->rank + far), sum, after(plan, ready));
        if (args->rank - far < 0)
            continue;
        struct tern_ref below = in_temp(round, 0, count);
        int64_t received =
            add_recv(plan, (int)(args->rank - far), below, after(plan, freed[round]));
        ready = freed[round] = add_reduce(
            plan, below, sum, after(plan, received) | after(plan, sent) | after(plan, ready));
    }
}

/* The same with a second sum that never gets this rank's own input. */
static void exscan_doubling(struct tern_plan *plan)
{
    const struct tern_plan_args *args = &plan->args;
    int64_t count = args->recv_count, freed[2] = {-1, -1}, result = -1;
    struct tern_ref sum = in_temp(2, 0, count);
    set_temporaries(plan, 3, count, true);
    int64_t ready = add_copy(plan, in_input(args, 0, count), sum, 0), copied = ready;
    int round = 0;
    for (int64_t far = 1; far < args->size; far *= 2, round ^= 1) {
        int64_t sent = -1;
        if (args->rank + far < args->size)
            sent = add_send(plan, (int)(args->rank + far), sum, after(plan, ready));
        if (args->rank - far < 0)
            continue;
        struct tern_ref below = in_temp(round, 0, count);
        int64_t received =
            add_recv(plan, (int)(args->rank - far), below, after(plan, freed[round]));
        if (result < 0)
            result = add_copy(plan, below, in_recv(0, count),
                              after(plan, received) | after(plan, copied));
        else
            result = add_reduce(plan, below, in_recv(0, count),
                                after(plan, received) | after(plan, result));
        ready = freed[round] = add_reduce(plan, below, sum,
                                          after(plan, received) | after(plan, sent) |
                                              after(plan, ready) | after(plan, result));
    }
}

const struct tern_algorithm tern_scan_algorithms[] = {
    {"recursive_doubling", scan_doubling, NULL},
    {0},
};

const struct tern_algorithm tern_exscan_algorithms[] = {
    {"recursive_doubling", exscan_doubling, NULL},
    {0},
};
