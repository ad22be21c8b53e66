/* SPDX-License-Identifier: BSD-3-Clause */

/* For how long ranks spin where a control group limits their processor time: a simulated group, in which the clocks go
 * as the test says. */

#include "lib/pml/budget.h"
#include "suite.h"

enum { PERIOD_US = 100000, LOOK_US = 250, PERIODS = 50 };

/* A rank in the group. */
struct rank {
    struct tern_budget budget;
    int64_t cpu_us, spun_us;
    int64_t computes_us; /* of each period, at its start */
    bool spent;
};

/* Runs the ranks for many periods. The kernel stops all of them when the group has used its quota, until the period
 * ends. A rank that neither computes nor may spin sleeps. Returns for how long the group was stopped. */
static int64_t run(struct rank *ranks, int count, int64_t quota_us)
{
    int64_t used_us = 0, stopped_us = 0;
    for (int i = 0; i < count; i++)
        tern_budget_begin(&ranks[i].budget, quota_us, PERIOD_US, (uint32_t)count, 0, 0);
    for (int64_t wall_us = 0; wall_us < PERIODS * PERIOD_US; wall_us += LOOK_US) {
        if (wall_us % PERIOD_US == 0)
            used_us = 0;
        if (used_us >= quota_us) {
            stopped_us += LOOK_US;
            continue;
        }
        for (int i = 0; i < count; i++) {
            bool computes = wall_us % PERIOD_US < ranks[i].computes_us;
            ranks[i].spent = tern_budget_spent(&ranks[i].budget, wall_us, ranks[i].cpu_us);
            if (!computes && ranks[i].spent)
                continue;
            ranks[i].spun_us += computes ? 0 : LOOK_US;
            ranks[i].cpu_us += LOOK_US;
            used_us += LOOK_US;
        }
    }
    return stopped_us;
}

/* Half a processor, two ranks that exchange messages all the time: they spin until the kernel stops them, a quarter of
 * the time each. */
START_TEST(two_ranks_spin_on_half_a_processor)
{
    struct rank ranks[2] = {{.cpu_us = 0}};
    run(ranks, 2, PERIOD_US / 2);
    for (int i = 0; i < 2; i++) {
        ck_assert_int_ge(ranks[i].spun_us, PERIODS * PERIOD_US / 4 * 9 / 10);
        ck_assert_int_le(ranks[i].spun_us, PERIODS * PERIOD_US / 4 * 11 / 10);
    }
}
END_TEST

/* A rank that waits for one that computes spins on its own share, and leaves the other's alone. */
START_TEST(a_rank_that_waits_leaves_the_others_share)
{
    struct rank ranks[4] = {{.computes_us = PERIOD_US}};
    run(ranks, 4, PERIOD_US);
    for (int i = 1; i < 4; i++)
        ck_assert_int_le(ranks[i].spun_us, PERIODS * PERIOD_US / 4 * 11 / 10);
    ck_assert_int_ge(ranks[0].cpu_us, PERIODS * PERIOD_US / 4 * 9 / 10);
}
END_TEST

/* A rank that computes for its whole share has nothing left for spinning; so nothing is taken from its computing. */
START_TEST(a_rank_that_computes_has_nothing_left)
{
    struct rank ranks[2] = {{.computes_us = PERIOD_US / 4}, {.computes_us = PERIOD_US / 4}};
    run(ranks, 2, PERIOD_US / 2);
    for (int i = 0; i < 2; i++) {
        ck_assert_int_ge(ranks[i].cpu_us - ranks[i].spun_us, PERIODS * (PERIOD_US / 4) * 9 / 10);
        ck_assert_int_le(ranks[i].spun_us, PERIODS * PERIOD_US / 40);
    }
}
END_TEST

START_TEST(a_whole_processor_for_each_is_never_spent)
{
    struct rank ranks[3] = {{.cpu_us = 0}};
    ck_assert_int_eq(run(ranks, 3, 3 * PERIOD_US), 0);
    for (int i = 0; i < 3; i++)
        ck_assert_int_eq(ranks[i].spun_us, PERIODS * PERIOD_US);
}
END_TEST

/* A rank that slept long has the share of one period, no more. */
START_TEST(what_was_not_used_is_lost)
{
    struct tern_budget budget;
    tern_budget_begin(&budget, 50000, PERIOD_US, 2, 0, 0);
    ck_assert(!tern_budget_spent(&budget, 1000 * PERIOD_US, 0));
    ck_assert(!tern_budget_spent(&budget, 1000 * PERIOD_US + 20000, 20000));
    ck_assert(tern_budget_spent(&budget, 1000 * PERIOD_US + 40000, 40000));
    /* and one that has used too much need not pay it back: the kernel has stopped it already */
    ck_assert(tern_budget_spent(&budget, 1000 * PERIOD_US + 90000, 90000));
    ck_assert(!tern_budget_spent(&budget, 1000 * PERIOD_US + 91000, 90000));
}
END_TEST

/* Parts of a microsecond are not lost, however often the rank looks. */
START_TEST(frequent_looks_count_as_much_as_rare_ones)
{
    struct tern_budget budget;
    tern_budget_begin(&budget, 10000, PERIOD_US, 1, 0, 0);
    ck_assert(tern_budget_spent(&budget, 0, 10000));
    for (int us = 1; us <= 1000; us++)
        tern_budget_spent(&budget, us, 10000);
    ck_assert(!tern_budget_spent(&budget, 1000, 10099));
    ck_assert(tern_budget_spent(&budget, 1000, 10101));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("budget");
    TCase *tests = suite_case(suite, "budget");
    tcase_add_test(tests, two_ranks_spin_on_half_a_processor);
    tcase_add_test(tests, a_rank_that_waits_leaves_the_others_share);
    tcase_add_test(tests, a_rank_that_computes_has_nothing_left);
    tcase_add_test(tests, a_whole_processor_for_each_is_never_spent);
    tcase_add_test(tests, what_was_not_used_is_lost);
    tcase_add_test(tests, frequent_looks_count_as_much_as_rare_ones);
    return suite_run(suite);
}
