/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_BUDGET_H
#define TERN_BUDGET_H

/*
 * The processor time that a rank may spend on spinning where a control group limits the time of all
 * ranks of the node: a quota in each period. A group that has used its quota is stopped until the
 * period ends, so a rank that spins may take the time in which another rank would compute.
 *
 * Each rank has an equal share of the quota. The share arrives little by little, and the rank keeps
 * at most the share of one period. All of the rank's processor time counts: a rank that computes
 * has nothing left for spinning. Pure functions: the caller reads the clocks.
 */

#include <stdbool.h>
#include <stdint.h>

struct tern_budget {
    int64_t quota_us, period_us; /* of this rank alone */
    double left_us;
    int64_t wall_us, cpu_us; /* the clocks at the last look */
};

/* Begins with a full share. `quota_us` of `period_us` is the limit for `ranks` ranks together.
 * `wall_us` is the time of any steady clock, `cpu_us` this process's processor time. */
void tern_budget_begin(struct tern_budget *budget, int64_t quota_us, int64_t period_us,
                       uint32_t ranks, int64_t wall_us, int64_t cpu_us);

/* Returns true if the rank has used its share, and must not spin. The clocks are those of
 * tern_budget_begin. */
bool tern_budget_spent(struct tern_budget *budget, int64_t wall_us, int64_t cpu_us);

#endif
