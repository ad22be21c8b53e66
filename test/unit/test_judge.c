/* SPDX-License-Identifier: BSD-3-Clause */

/* Measured figures are believed when they are possible, go together, and come again. */
#include "tools/measure_judge.h"
#include "suite.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

/* As idle machines have them; two cores with a common cache. */
static const struct tern_figure good[] = {
    {"coll_node_latency", 114},    {"coll_node_overhead", 30},      {"coll_node_gap", 31},
    {"coll_node_rendezvous", 410}, {"coll_package_latency", 114},   {"coll_package_gap", 31},
    {"coll_machine_latency", 114}, {"coll_machine_gap", 31},        {"coll_memory_gap", 62},
    {"coll_uncached_gap", 124},    {"coll_cache_bytes", 1048576},   {"coll_last_cache_bytes", 33554432}, {"coll_cores_per_cache", 2},
    {"coll_cores_per_package", 2}, {"coll_board_latency", 95},      {"coll_board_overhead", 20},
    {"coll_reduce_gap", 40},       {"coll_copy_gap", 24},           {"coll_switch", 1250},
    {"coll_switch_crowded", 2210}, {"coll_cold", 60},               {"coll_call", 41},
    {"coll_board_gap", 58},        {"shm_again_gap", 373},         {"shm_take_gap", 52},         {"shm_turns_gap", 59},
    {"shm_prepared", 1024},
};

/* Recorded on a quiet virtual machine whose cores were near to each other. */
static const struct tern_figure near_cores[][2] = {
    {{"coll_node_latency", 48}, {"coll_node_latency", 53}},
    {{"coll_node_overhead", 24}, {"coll_node_overhead", 26}},
    {{"coll_node_gap", 58}, {"coll_node_gap", 61}},
    {{"coll_node_rendezvous", 516}, {"coll_node_rendezvous", 561}},
    {{"coll_memory_gap", 102}, {"coll_memory_gap", 96}},
    {{"coll_uncached_gap", 123}, {"coll_uncached_gap", 128}},
    {{"coll_board_latency", 13}, {"coll_board_latency", 16}},
    {{"coll_board_overhead", 16}, {"coll_board_overhead", 16}},
    {{"coll_board_gap", 88}, {"coll_board_gap", 112}},
    {{"coll_reduce_gap", 22}, {"coll_reduce_gap", 22}},
    {{"coll_copy_gap", 18}, {"coll_copy_gap", 18}},
    {{"coll_switch", 2031}, {"coll_switch", 1945}},
    {{"coll_switch_crowded", 3200}, {"coll_switch_crowded", 2650}},
    {{"coll_cold", 110}, {"coll_cold", 63}},
    {{"coll_call", 74}, {"coll_call", 76}},
    {{"shm_again_gap", 88}, {"shm_again_gap", 373}}, /* near, and then far */
    {{"shm_take_gap", 22}, {"shm_take_gap", 52}},
    {{"shm_turns_gap", 44}, {"shm_turns_gap", 60}},
    {{"shm_prepared", 1024}, {"shm_prepared", 4096}},
};

enum { COUNT = sizeof good / sizeof *good };

static struct tern_figure figures[COUNT];
static char why[256];

/* The good ones, but for one. */
static const struct tern_figure *with(const char *name, int64_t value)
{
    int changed = 0;
    memcpy(figures, good, sizeof good);
    for (int i = 0; i < COUNT; i++)
        if (strcmp(figures[i].name, name) == 0) {
            figures[i].value = value;
            changed++;
        }
    ck_assert_int_eq(changed, 1);
    return figures;
}

static void expect_words(const char *name, const char *found)
{
    ck_assert_msg(strstr(why, name) == why, "another figure is named: %s", why);
    ck_assert_msg(strstr(why, found), "what was found is not said: %s", why);
    ck_assert_msg(strstr(why, "expected"), "what was expected is not said: %s", why);
}

START_TEST(good_figures_are_believed)
{
    ck_assert_int_eq(tern_judge_figures(good, COUNT, why, sizeof why), 0);
    ck_assert_int_eq(tern_judge_agreement(good, good, COUNT, why, sizeof why), 0);
    enum { RECORDED = sizeof near_cores / sizeof *near_cores };
    struct tern_figure first[RECORDED], second[RECORDED];
    for (int i = 0; i < RECORDED; i++) {
        first[i] = near_cores[i][0];
        second[i] = near_cores[i][1];
    }
    ck_assert_int_eq(tern_judge_figures(first, RECORDED, why, sizeof why), 0);
    ck_assert_int_eq(tern_judge_figures(second, RECORDED, why, sizeof why), 0);
    ck_assert_int_eq(tern_judge_agreement(first, second, RECORDED, why, sizeof why), 0);
}
END_TEST

START_TEST(figures_are_possible)
{
    static const struct {
        const char *name;
        int64_t value;
        const char *found;
    } rows[] = {
        {"coll_board_latency", 1, "1 ns"}, /* was stored once: taken for the rest of a barrier when a post seemed dear */
        {"coll_node_latency", 4, "4 ns"},
        {"coll_node_latency", 4000000, "4000000 ns"},
        {"coll_node_gap", 1, "1 ps/byte"},
        {"coll_switch", 1, "1 ns"},
        {"coll_switch", 4000000, "4000000 ns"},
        {"coll_call", 0, "0 ns"},
        {"coll_copy_gap", 50000, "50000 ps/byte"},
        {"shm_again_gap", 50000, "50000 ps/byte"},
        {"shm_take_gap", 0, "0 ps/byte"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        ck_assert_int_eq(tern_judge_figures(with(rows[i].name, rows[i].value), COUNT, why, sizeof why), -1);
        expect_words(rows[i].name, rows[i].found);
    }
}
END_TEST

START_TEST(the_farther_is_not_the_faster)
{
    static const struct {
        const char *name;
        int64_t wrong, near_enough;
    } rows[] = {{"coll_package_latency", 40, 90}, {"coll_machine_latency", 50, 80}, {"coll_memory_gap", 12, 25}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        ck_assert_int_eq(tern_judge_figures(with(rows[i].name, rows[i].wrong), COUNT, why, sizeof why), -1);
        expect_words(rows[i].name, "no less than coll_");
        ck_assert_int_eq(tern_judge_figures(with(rows[i].name, rows[i].near_enough), COUNT, why, sizeof why), 0);
    }
}
END_TEST

START_TEST(figures_come_again)
{
    static const struct {
        const char *name;
        int64_t value;
        const char *found;
    } rows[] = {
        {"coll_node_rendezvous", 3469, "410 ns, and then 3469"}, /* was stored once: another program ran meanwhile */
        {"coll_node_latency", 260, "114 ns, and then 260"},
        {"coll_board_latency", 12, "95 ns, and then 12"},
        {"coll_node_gap", 90, "31 ps/byte, and then 90"},
        {"coll_switch", 600, "1250 ns, and then 600"},
        {"shm_take_gap", 200, "52 ps/byte, and then 200"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        ck_assert_int_eq(tern_judge_agreement(good, with(rows[i].name, rows[i].value), COUNT, why, sizeof why), -1);
        expect_words(rows[i].name, rows[i].found);
    }
}
END_TEST

/* A difference of two times varies more than they do; and what is counted is not measured. */
START_TEST(small_differences_are_none)
{
    static const struct {
        const char *name;
        int64_t value;
    } rows[] = {{"coll_node_rendezvous", 120}, {"coll_node_rendezvous", 700}, {"coll_node_latency", 150},
                {"coll_node_overhead", 15},  {"coll_cold", 0},              {"coll_cold", 200},
                {"coll_cache_bytes", 1}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        ck_assert_msg(tern_judge_agreement(good, with(rows[i].name, rows[i].value), COUNT, why, sizeof why) == 0,
                      "%s", why);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("judge");
    TCase *tests = suite_case(suite, "figures");
    tcase_add_test(tests, good_figures_are_believed);
    tcase_add_test(tests, figures_are_possible);
    tcase_add_test(tests, the_farther_is_not_the_faster);
    tcase_add_test(tests, figures_come_again);
    tcase_add_test(tests, small_differences_are_none);
    return suite_run(suite);
}
