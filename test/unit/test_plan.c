/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Every algorithm of every collective, all ranks of it, without processes: the real executor over
 * simulated messages.
 *
 * Sends are synchronous, so whatever gets through here cannot lock up under any protocol. Elements
 * carry where they come from: moved ones are compared with what must stand there; contributions to
 * a sum are random numbers (a part counted twice or not at all shows), and where order matters they
 * are spans of ranks that only add up side by side, lower one left. Apart from that each plan is
 * read for races: a step may not touch what an earlier one may still be reading or writing, as far
 * as the plan's own dependencies go.
 */
#include "lib/coll/price/topology.h"
#include "lib/type/layout.h"
#include "lib/settings/param.h"
#include "lib/settings/value.h"
#include "plan_job.h"
#include "suite.h"

#include <check.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- the grid --- */

static bool thorough(void)
{
    static int known = -1; /* it is asked for in the innermost loops */
    if (known < 0)
        known = getenv("TERN_TEST_LONG") != NULL;
    return known;
}

static const int sizes[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 11, 12, 13, 15, 16, 17, 31, 32, 33, 64};

static bool in_short_run(int n)
{
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
        if (sizes[i] == n)
            return true;
    return false;
}

/* In place or not, commutative or not, with gaps or not, polled or blocking. Neighbouring shapes get different parts of
 * the combinations: a third of them, or in the long run of the smaller ones every one of the first two with half of the
 * others. What must hold for all plans is proven in prove_plans.c; this shows that the executor does what they say. */
static void run_shape(struct job job)
{
    bool reduces = job_kinds[job.collective].reduces,
         in_place = job_kinds[job.collective].in_place && !job.m;
    for (int choice = 0; choice < 16; choice++) {
        job.in_place = choice & 1;
        job.commutative = !(choice & 2);
        job.gappy = choice & 4;
        job.way = choice & 8 ? SIM_BLOCKING : SIM_POLLED;
        if ((job.in_place && !in_place) || (!job.commutative && !reduces) ||
            (job.way == SIM_BLOCKING && !job.m && !in_short_run(job.n)))
            continue;
        int64_t shape = job.n + job.m + job.count + job.root;
        if (thorough() && job.n <= 20 ? ((choice >> 2 ^ choice >> 3) + shape) & 1 : (choice * 5 + shape) % 3)
            continue;
        job_run(job);
    }
}

static void run_counts(struct job job)
{
    int n = job.n + job.m;
    const int64_t counts[] = {0, 1, n - 1, n, n + 1, thorough() ? 1000 : 100};
    for (int c = 0; c < 6; c++) {
        job.count = counts[c];
        if ((c && counts[c] <= counts[c - 1]) || (n > 40 && c > 1 && c != 4 && !thorough()))
            continue;
        if (counts[c] == 1000 && n > 16 && (job.root > 1 || !in_short_run(n)))
            continue; /* a long vector from two roots will do */
        run_shape(job);
    }
}

static void run_roots(struct job job)
{
    int roots = job_kinds[job.collective].rooted || job.collective == TERN_BARRIER ? job.n : 1;
    for (job.root = 0; job.root < roots; job.root++) {
        bool few = job.root < 2 || job.root == roots / 2 || job.root == roots - 1;
        if (few || (thorough() && roots <= 8))
            run_counts(job);
    }
}

static void run_sizes(struct job job)
{
    if (thorough())
        for (job.n = 1; job.n <= 64; job.n++)
            run_roots(job);
    else
        for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
            job.n = sizes[i];
            run_roots(job);
        }
}

START_TEST(every_algorithm_is_right_for_one_group)
{
    struct job job = {.collective = (enum tern_collective)_i};
    if (!job_kinds[_i].call)
        return;
    make_gappy_type();
    for (job.algorithm = tern_plan_algorithms(job.collective, false); job.algorithm->name;
         job.algorithm++)
        run_sizes(job);
    tern_type_drop(&gappy_type);
}
END_TEST

START_TEST(every_algorithm_is_right_for_two_groups)
{
    static const int pairs[][2] = {{1, 1}, {1, 2}, {2, 1}, {3, 2},  {2, 3},  {4, 4},
                                   {1, 9}, {7, 5}, {5, 8}, {40, 3}, {3, 40}, {33, 35}};
    struct job job = {.collective = (enum tern_collective)_i};
    if (!job_kinds[_i].inter)
        return;
    make_gappy_type();
    for (job.algorithm = tern_plan_algorithms(job.collective, true); job.algorithm->name;
         job.algorithm++)
        for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
            job.n = pairs[i][0];
            job.m = pairs[i][1];
            run_roots(job);
        }
    tern_type_drop(&gappy_type);
}
END_TEST

/* A program in which the ranks are roots in turn builds no plan twice. */
START_TEST(plans_of_all_roots_are_kept)
{
    enum { RANKS = 16 };
    static const enum tern_collective collectives[] = {TERN_BCAST, TERN_REDUCE};
    struct tern_plan_cache *cache = NULL;
    struct tern_plan *kept[2 * RANKS];
    for (int i = 0; i < 4 * RANKS; i++) {
        struct tern_plan_args args = {.collective = (uint8_t)collectives[i / RANKS % 2],
                                      .commutative = true,
                                      .rank = 3,
                                      .size = RANKS,
                                      .root = i % RANKS,
                                      .recv_count = 8,
                                      .recv_size = 1,
                                      .recv_bytes = true,
                                      .ranks_per_node = RANKS,
                                      .segment_bytes = 64 << 10};
        struct tern_plan *plan = tern_plan_get(&cache, &args);
        ck_assert_ptr_nonnull(plan);
        ck_assert_int_eq(plan->args.root, args.root);
        if (i < 2 * RANKS)
            kept[i] = plan;
        else
            ck_assert_ptr_eq(plan, kept[i - 2 * RANKS]);
    }
    for (int i = 0; i < 4 * RANKS; i++)
        tern_plan_release(kept[i % (2 * RANKS)]);
    tern_plan_cache_free(cache);
}
END_TEST

static struct tern_plan *get_unequal(struct tern_plan_cache **cache, struct tern_plan_blocks *blocks,
                                     enum tern_collective collective)
{
    struct tern_plan_args args = {.collective = (uint8_t)collective,
                                  .rank = 1,
                                  .size = 3,
                                  .send_size = 1,
                                  .recv_size = 1,
                                  .ranks_per_node = 3,
                                  .segment_bytes = 64 << 10,
                                  .blocks = blocks};
    struct tern_plan *plan = tern_plan_get(cache, &args);
    ck_assert_ptr_nonnull(plan);
    ck_assert_ptr_eq(plan->args.blocks, blocks);
    return plan;
}

/* Unequal blocks, too: a plan comes again for the same numbers in other arrays, is another one for other numbers or types of
 * other sizes, and belongs to one run at a time, whose arrays it reads. */
START_TEST(plans_of_unequal_blocks_are_kept)
{
    enum tern_collective collective = (enum tern_collective)_i;
    bool types = collective == TERN_ALLTOALLW;
    struct tern_type other = tern_type_bytes;
    other.size = 2;
    const struct tern_type *same[] = {&tern_type_bytes, &tern_type_bytes, &tern_type_bytes},
                           *changed[] = {&tern_type_bytes, &tern_type_bytes, &other};
    int32_t counts[] = {4, 5, 6}, displs[] = {0, 4, 9}, more[] = {4, 5, 7};
    int64_t wide[] = {4, 5, 6}, wide_displs[] = {0, 4, 9};
    struct tern_ints c = {counts, 4}, d = {displs, 4};
    struct tern_plan_blocks a = {.send_counts = c, .send_displs = d, .recv_counts = c, .recv_displs = d, .send_units = 1, .recv_units = 1}, b = a, longer = a;
    if (types)
        a.send_types = a.recv_types = b.send_types = b.recv_types = longer.send_types = longer.recv_types = same;
    b.recv_counts = b.send_counts = (struct tern_ints){wide, 8};
    b.recv_displs = b.send_displs = (struct tern_ints){wide_displs, 8};
    longer.recv_counts = (struct tern_ints){more, 4};
    struct tern_plan_cache *cache = NULL;
    struct tern_plan *first = get_unequal(&cache, &a, collective);
    tern_plan_release(first);
    ck_assert_ptr_eq(get_unequal(&cache, &b, collective), first);
    struct tern_plan *second = get_unequal(&cache, &a, collective);
    ck_assert_ptr_ne(second, first); /* which still runs */
    ck_assert_ptr_eq(first->args.blocks, &b);
    tern_plan_release(first);
    tern_plan_release(second);
    struct tern_plan *third = get_unequal(&cache, &longer, collective);
    ck_assert_ptr_ne(third, second);
    tern_plan_release(third);
    second = get_unequal(&cache, &a, collective);
    tern_plan_release(second);
    if (types) {
        b.recv_types = changed;
        third = get_unequal(&cache, &b, collective);
        ck_assert_ptr_ne(third, second);
        tern_plan_release(third);
    }
    tern_plan_cache_free(cache);
}
END_TEST

/* What a rank has done before, as root or not, leaves it with the choice of the others. */
START_TEST(ranks_choose_alike_whoever_is_root)
{
    enum { RANKS = 3 };
    static const enum tern_collective collectives[] = {TERN_BCAST, TERN_REDUCE};
    static const int64_t counts[] = {1, 2, 7, 100, 3000, 40000, 1000000};
    for (int commutative = 0; commutative < 2; commutative++)
        for (int c = 0; c < 7; c++) {
            struct tern_plan_cache *caches[RANKS] = {NULL};
            for (int root = 0; root < RANKS; root++) {
                const struct tern_algorithm *chosen = NULL;
                for (int rank = 0; rank < RANKS; rank++) {
                    struct tern_plan_args args = {.collective = (uint8_t)collectives[_i],
                                                  .commutative = commutative,
                                                  .rank = rank,
                                                  .size = RANKS,
                                                  .root = root,
                                                  .send_count = counts[c],
                                                  .send_size = 8,
                                                  .recv_count = counts[c],
                                                  .recv_size = 8,
                                                  .ranks_per_node = RANKS,
                                                  .sheet = 64 << 10,
                                                  .segment_bytes = 64 << 10};
                    struct tern_plan *plan = tern_plan_get(&caches[rank], &args);
                    ck_assert_ptr_nonnull(plan);
                    ck_assert_msg(!chosen || plan->algorithm == chosen,
                                  "root %d, %ld elements: rank %d has %s, rank 0 %s", root,
                                  (long)counts[c], rank, plan->algorithm->name, rank ? chosen->name : "");
                    chosen = plan->algorithm;
                    tern_plan_release(plan);
                }
            }
            for (int rank = 0; rank < RANKS; rank++)
                tern_plan_cache_free(caches[rank]);
        }
}
END_TEST

/* Returns the algorithm for a collective of ranks on two nodes or more, with buffers in device memory. */
static const char *choice_on_devices(enum tern_collective collective, const struct tern_topology *topology,
                                     int64_t bytes)
{
    int size = topology->nodes * (int)topology->largest;
    struct tern_plan_args args = {.collective = (uint8_t)collective,
                                  .commutative = true,
                                  .size = size,
                                  .send_count = bytes / 8,
                                  .send_size = 8,
                                  .recv_count = bytes / 8,
                                  .recv_size = 8,
                                  .topology = topology,
                                  .ranks_per_node = (int)topology->largest,
                                  .on_device = true,
                                  .segment_bytes = 64 << 10};
    struct tern_plan_cache *cache = NULL;
    struct tern_plan *plan = tern_plan_get(&cache, &args);
    ck_assert_ptr_nonnull(plan);
    const char *name = plan->algorithm->name;
    tern_plan_release(plan);
    tern_plan_cache_free(cache);
    return name;
}

/* The board of a node is in host memory: whether there is one does not matter for buffers on devices. */
START_TEST(devices_are_chosen_for_without_the_board)
{
    static const enum tern_collective collectives[] = {TERN_BCAST, TERN_REDUCE, TERN_ALLREDUCE,
                                                       TERN_ALLGATHER, TERN_REDUCE_SCATTER_BLOCK};
    for (int nodes = 2; nodes <= 4; nodes++)
        for (int ranks = 2; ranks <= 16; ranks *= 2) {
            int32_t ids[64];
            for (int r = 0; r < nodes * ranks; r++)
                ids[r] = r / ranks;
            struct tern_topology *topology = tern_topology_make(nodes * ranks, ids);
            for (int64_t bytes = 8; bytes <= 1 << 20; bytes *= 2) {
                ck_assert_int_eq(tern_param_write("coll_board", "true"), 0);
                const char *with = choice_on_devices(collectives[_i], topology, bytes);
                ck_assert_int_eq(tern_param_write("coll_board", "false"), 0);
                const char *without = choice_on_devices(collectives[_i], topology, bytes);
                ck_assert_msg(with == without, "%d nodes of %d ranks, %ld bytes: %s with the board, %s without",
                              nodes, ranks, (long)bytes, with, without);
            }
            tern_topology_free(topology);
        }
}
END_TEST

/* People and tools choose among what the parameter names: everything that there is, and nothing else. */
START_TEST(every_algorithm_is_a_choice_of_its_parameter)
{
    char name[64], choice[64];
    snprintf(name, sizeof name, "coll_%s_algorithm", tern_plan_collective_name(_i));
    const struct tern_algorithm *row = tern_plan_algorithms((enum tern_collective)_i, false);
    const struct tern_setting *param = tern_param_at(tern_param_index(name), NULL);
    if (!param) {
        ck_assert_msg(!row[1].name, "no parameter chooses among the algorithms of %s", name);
        return;
    }
    int count = 0;
    for (; row->name; row++, count++)
        ck_assert_msg(tern_param_find_choice(name, row->name) > 0, "%s is no choice of %s",
                      row->name, name);
    ck_assert(tern_param_choice_name(param, 0, choice, sizeof choice));
    ck_assert_str_eq(choice, ""); /* by size */
    ck_assert(tern_param_choice_name(param, count, choice, sizeof choice));
    ck_assert(!tern_param_choice_name(param, count + 1, choice, sizeof choice));
}
END_TEST

int main(void)
{
    mallopt(M_MMAP_THRESHOLD, 1 << 30); /* what was given back stays: the next job takes as much */
    mallopt(M_TRIM_THRESHOLD, 1 << 30);
    Suite *suite = suite_create("plan");
    TCase *tcase = suite_case(suite, "algorithms");
    tcase_set_timeout(tcase, thorough() ? 3600 : 600);
    tcase_add_loop_test(tcase, every_algorithm_is_right_for_one_group, 0, TERN_COLLECTIVES);
    tcase_add_loop_test(tcase, every_algorithm_is_right_for_two_groups, 0, TERN_COLLECTIVES);
    tcase_add_loop_test(tcase, every_algorithm_is_a_choice_of_its_parameter, 0, TERN_COLLECTIVES);
    TCase *kept = suite_case(suite, "kept");
    tcase_add_test(kept, plans_of_all_roots_are_kept);
    tcase_add_loop_test(kept, plans_of_unequal_blocks_are_kept, TERN_ALLTOALLV, TERN_ALLTOALLW + 1);
    tcase_add_loop_test(kept, devices_are_chosen_for_without_the_board, 0, 5);
    tcase_add_loop_test(kept, ranks_choose_alike_whoever_is_root, 0, 2);
    return suite_run(suite);
}
