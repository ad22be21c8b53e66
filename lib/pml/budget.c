/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/pml/budget.h"

void tern_budget_begin(struct tern_budget *budget, int64_t quota_us, int64_t period_us,
                       uint32_t ranks, int64_t wall_us, int64_t cpu_us)
{
    int64_t share_us = quota_us / (ranks ? ranks : 1);
    *budget = (struct tern_budget){.quota_us = share_us,
                                   .period_us = period_us,
                                   .left_us = (double)share_us,
                                   .wall_us = wall_us,
                                   .cpu_us = cpu_us};
}

bool tern_budget_spent(struct tern_budget *budget, int64_t wall_us, int64_t cpu_us)
{
    double most_us = (double)budget->quota_us;
    double passed_us = (double)(wall_us - budget->wall_us);
    double arrived_us = passed_us * most_us / (double)budget->period_us;
    double left_us = budget->left_us + arrived_us - (double)(cpu_us - budget->cpu_us);
    budget->left_us = left_us < 0 ? 0 : left_us > most_us ? most_us : left_us;
    budget->wall_us = wall_us;
    budget->cpu_us = cpu_us;
    return left_us <= 0;
}
