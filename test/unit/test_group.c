/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Groups as runs against plain arrays: random groups, regular and irregular ones, go through every
 * operation, and the same is done with arrays by the obvious loops.
 */

#include "lib/mpi/object/group.h"
#include "lib/mpi/procedures.h"
#include "lib/rte/rte.h"
#include "lib/util/base/error.h"
#include "suite.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

enum { WORLD = 97, ME = 13, ROUNDS = 2000 };

/* A group and what it should contain: ranks in MPI_COMM_WORLD. */
struct pair {
    struct tern_group *group;
    int count;
    int ranks[WORLD];
};

static uint64_t random_state = 12345;

static int below(int limit)
{
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return (int)((random_state >> 33) % (uint64_t)limit);
}

static int find(const struct pair *pair, int rank)
{
    for (int i = 0; i < pair->count; i++)
        if (pair->ranks[i] == rank)
            return i;
    return MPI_UNDEFINED;
}

/* Does the group hold what the array says, in all that can be asked of it? */
static void check_pair(const struct pair *pair)
{
    int size, rank;
    ck_assert_int_eq(tern_mpi_group_size(pair->group, &size), 0);
    ck_assert_int_eq(size, pair->count);
    ck_assert_int_eq(tern_mpi_group_rank(pair->group, &rank), 0);
    ck_assert_int_eq(rank, find(pair, ME));
    /* Check writes a word to a file at each assertion; these would be millions. */
    for (int i = 0; i < pair->count; i++) {
        struct tern_process process = tern_group_process(pair->group, i);
        if (process.job != 0 || (int)process.rank != pair->ranks[i])
            ck_abort_msg("place %d: got rank %u of job %u, expected %d of 0", i, process.rank, process.job, pair->ranks[i]);
    }
    for (int r = 0; r < WORLD; r++) {
        int at = tern_group_find(pair->group, (struct tern_process){0, (uint32_t)r});
        if (at != find(pair, r))
            ck_abort_msg("rank %d: found at %d, expected %d", r, at, find(pair, r));
    }
    ck_assert_int_eq(tern_group_find(pair->group, (struct tern_process){1, 0}), MPI_UNDEFINED);
    if (pair->count == 0)
        ck_assert_ptr_eq(pair->group, &tern_group_empty);
}

static void shuffle(int *values, int count)
{
    for (int i = count - 1; i > 0; i--) {
        int k = below(i + 1), value = values[i];
        values[i] = values[k];
        values[k] = value;
    }
}

/* A regular or an irregular group, made from its array. */
static void make_pair(struct pair *pair)
{
    struct tern_group_builder builder;
    int all[WORLD];
    for (int r = 0; r < WORLD; r++)
        all[r] = r;
    pair->count = 0;
    if (below(3) == 0) {
        shuffle(all, WORLD);
        pair->count = below(WORLD + 1);
        memcpy(pair->ranks, all, (size_t)pair->count * sizeof *all);
    } else {
        int stride = 1 + below(7), first = below(WORLD);
        for (int r = first; r < WORLD && below(30); r += stride)
            pair->ranks[pair->count++] = r;
        if (below(2))
            for (int i = 0; i < pair->count / 2; i++) {
                int value = pair->ranks[i];
                pair->ranks[i] = pair->ranks[pair->count - 1 - i];
                pair->ranks[pair->count - 1 - i] = value;
            }
    }
    tern_group_builder_init(&builder);
    for (int i = 0; i < pair->count; i++)
        tern_group_builder_add(&builder, (struct tern_process){0, (uint32_t)pair->ranks[i]});
    ck_assert_int_eq(tern_group_builder_finish(&builder, &pair->group), 0);
    check_pair(pair);
}

static void check_and_free(struct pair *pair)
{
    check_pair(pair);
    ck_assert_int_eq(tern_mpi_group_free(&pair->group), 0);
    ck_assert_ptr_null(pair->group);
}

START_TEST(set_operations_equal_naive_ones)
{
    for (int round = 0; round < ROUNDS; round++) {
        struct pair a, b, both = {0}, common = {0}, only_a = {0};
        make_pair(&a);
        make_pair(&b);
        for (int i = 0; i < a.count; i++) {
            both.ranks[both.count++] = a.ranks[i];
            if (find(&b, a.ranks[i]) != MPI_UNDEFINED)
                common.ranks[common.count++] = a.ranks[i];
            else
                only_a.ranks[only_a.count++] = a.ranks[i];
        }
        for (int i = 0; i < b.count; i++)
            if (find(&a, b.ranks[i]) == MPI_UNDEFINED)
                both.ranks[both.count++] = b.ranks[i];
        ck_assert_int_eq(tern_mpi_group_union(a.group, b.group, &both.group), 0);
        ck_assert_int_eq(tern_mpi_group_intersection(a.group, b.group, &common.group), 0);
        ck_assert_int_eq(tern_mpi_group_difference(a.group, b.group, &only_a.group), 0);
        check_and_free(&both);
        check_and_free(&common);
        check_and_free(&only_a);
        check_and_free(&a);
        check_and_free(&b);
    }
}
END_TEST

START_TEST(incl_and_excl_equal_naive_ones)
{
    for (int round = 0; round < ROUNDS; round++) {
        struct pair a, in = {0}, out = {0};
        int places[WORLD];
        make_pair(&a);
        for (int i = 0; i < a.count; i++)
            places[i] = i;
        if (below(2))
            shuffle(places, a.count);
        int n = below(a.count + 1);
        bool left_out[WORLD] = {false};
        for (int i = 0; i < n; i++) {
            in.ranks[in.count++] = a.ranks[places[i]];
            left_out[places[i]] = true;
        }
        for (int i = 0; i < a.count; i++)
            if (!left_out[i])
                out.ranks[out.count++] = a.ranks[i];
        ck_assert_int_eq(tern_mpi_group_incl(a.group, n, places, &in.group), 0);
        ck_assert_int_eq(tern_mpi_group_excl(a.group, n, places, &out.group), 0);
        check_and_free(&in);
        check_and_free(&out);
        check_and_free(&a);
    }
}
END_TEST

/* Splits 0 .. count-1 into disjoint ranges by giving each a window of its own. */
static int random_ranges(int count, int ranges[][3])
{
    int n = 0;
    for (int from = 0; from < count;) {
        int length = 1 + below(12),
            last = from + length - 1 < count ? from + length - 1 : count - 1;
        int stride = 1 + below(4);
        if (below(4)) {
            bool backwards = below(2);
            ranges[n][0] = backwards ? last : from;
            ranges[n][1] = backwards ? from : last;
            ranges[n][2] = backwards ? -stride : stride;
            n++;
        }
        from = last + 1;
    }
    return n;
}

START_TEST(ranges_equal_naive_ones)
{
    for (int round = 0; round < ROUNDS; round++) {
        struct pair a, in = {0}, out = {0};
        int ranges[WORLD][3];
        bool named[WORLD] = {false};
        make_pair(&a);
        int n = random_ranges(a.count, ranges);
        for (int i = 0; i < n; i++) {
            int stride = ranges[i][2];
            for (int r = ranges[i][0]; stride > 0 ? r <= ranges[i][1] : r >= ranges[i][1];
                 r += stride) {
                in.ranks[in.count++] = a.ranks[r];
                named[r] = true;
            }
        }
        for (int i = 0; i < a.count; i++)
            if (!named[i])
                out.ranks[out.count++] = a.ranks[i];
        ck_assert_int_eq(tern_mpi_group_range_incl(a.group, n, ranges, &in.group), 0);
        ck_assert_int_eq(tern_mpi_group_range_excl(a.group, n, ranges, &out.group), 0);
        check_and_free(&in);
        check_and_free(&out);
        check_and_free(&a);
    }
}
END_TEST

START_TEST(translation_and_comparison_equal_naive_ones)
{
    for (int round = 0; round < ROUNDS; round++) {
        struct pair a, b;
        int places[WORLD + 1], there[WORLD + 1], relation;
        make_pair(&a);
        make_pair(&b);
        for (int i = 0; i < a.count; i++)
            places[i] = i;
        shuffle(places, a.count);
        places[a.count] = MPI_PROC_NULL;
        ck_assert_int_eq(
            tern_mpi_group_translate_ranks(a.group, a.count + 1, places, b.group, there), 0);
        for (int i = 0; i < a.count; i++)
            ck_assert_int_eq(there[i], find(&b, a.ranks[places[i]]));
        ck_assert_int_eq(there[a.count], MPI_PROC_NULL);

        struct pair mixed = {0};
        mixed.count = a.count;
        for (int i = 0; i < a.count; i++)
            mixed.ranks[i] = a.ranks[places[i]];
        ck_assert_int_eq(tern_mpi_group_incl(a.group, a.count, places, &mixed.group), 0);
        ck_assert_int_eq(tern_mpi_group_compare(a.group, mixed.group, &relation), 0);
        bool same = memcmp(a.ranks, mixed.ranks, (size_t)a.count * sizeof *a.ranks) == 0;
        ck_assert_int_eq(relation, same ? MPI_IDENT : MPI_SIMILAR);

        bool all_there = a.count == b.count;
        for (int i = 0; i < a.count; i++)
            all_there = all_there && find(&b, a.ranks[i]) != MPI_UNDEFINED;
        ck_assert_int_eq(tern_mpi_group_compare(a.group, b.group, &relation), 0);
        ck_assert_int_eq(relation != MPI_UNEQUAL, all_there);
        check_and_free(&mixed);
        check_and_free(&a);
        check_and_free(&b);
    }
}
END_TEST

START_TEST(regular_groups_take_one_run)
{
    struct tern_group *world, *part;
    const struct tern_run run = {.first = 0, .stride = 1, .count = 1000000};
    int every_third[1][3] = {{999999, 0, -3}};
    ck_assert_int_eq(tern_group_from_runs(&run, 1, &world), 0);
    ck_assert_int_eq(tern_mpi_group_range_incl(world, 1, every_third, &part), 0);
    ck_assert_int_eq(part->size, 333334);
    ck_assert_int_eq(part->run_count, 1);
    ck_assert_int_eq((int)tern_group_process(part, 333333).rank, 0);
    tern_group_release(part);
    tern_group_release(world);
}
END_TEST

START_TEST(equal_order_is_seen_through_different_runs)
{
    struct tern_group *whole, *parts;
    const struct tern_run one = {.first = 4, .stride = 2, .count = 6};
    const struct tern_run two[] = {{.first = 4, .stride = 0, .count = 1},
                                   {.first = 6, .stride = 2, .count = 5}};
    ck_assert_int_eq(tern_group_from_runs(&one, 1, &whole), 0);
    ck_assert_int_eq(tern_group_from_runs(two, 2, &parts), 0);
    ck_assert(tern_group_equal(whole, parts));
    tern_group_release(whole);
    tern_group_release(parts);
}
END_TEST

/* Two jobs may have the same ranks. */
START_TEST(jobs_are_kept_apart)
{
    struct tern_group *both;
    const struct tern_run runs[] = {{.job = 0, .first = 0, .stride = 1, .count = 20},
                                    {.job = 1, .first = 0, .stride = 1, .count = 20}};
    ck_assert_int_eq(tern_group_from_runs(runs, 2, &both), 0);
    ck_assert_int_eq(both->size, 40);
    ck_assert_int_eq(both->rank, ME);
    for (int rank = 0; rank < 40; rank++) {
        struct tern_process process = tern_group_process(both, rank);
        ck_assert_int_eq((int)process.job, rank / 20);
        ck_assert_int_eq((int)process.rank, rank % 20);
        ck_assert_int_eq(tern_group_find(both, process), rank);
    }
    tern_group_release(both);
}
END_TEST

START_TEST(wrong_arguments_are_refused)
{
    struct tern_group *world, *none = NULL;
    const struct tern_run run = {.first = 0, .stride = 1, .count = 8};
    int twice[] = {3, 5, 3}, outside[] = {0, 8}, negative[] = {-1}, ranks[3];
    int no_stride[][3] = {{0, 4, 0}}, away[][3] = {{4, 0, 1}}, far[][3] = {{0, 9, 3}},
        overlap[][3] = {{0, 4, 2}, {7, 4, -1}};
    ck_assert_int_eq(tern_group_from_runs(&run, 1, &world), 0);
    ck_assert_int_eq(tern_mpi_group_incl(world, 3, twice, &none), TERN_ERR_RANK);
    ck_assert_int_eq(tern_mpi_group_incl(world, 2, outside, &none), TERN_ERR_RANK);
    ck_assert_int_eq(tern_mpi_group_excl(world, 1, negative, &none), TERN_ERR_RANK);
    ck_assert_int_eq(tern_mpi_group_excl(world, -1, negative, &none), TERN_ERR_ARG);
    ck_assert_int_eq(tern_mpi_group_range_incl(world, 1, no_stride, &none), TERN_ERR_RANK);
    ck_assert_int_eq(tern_mpi_group_range_incl(world, 1, away, &none), TERN_ERR_RANK);
    ck_assert_int_eq(tern_mpi_group_range_excl(world, 1, far, &none), TERN_ERR_RANK);
    ck_assert_int_eq(tern_mpi_group_range_incl(world, 2, overlap, &none), TERN_ERR_RANK);
    ck_assert_int_eq(tern_mpi_group_translate_ranks(world, 2, outside, world, ranks),
                     TERN_ERR_RANK);
    ck_assert_int_eq(tern_mpi_group_incl(&tern_group_empty, 1, outside, &none), TERN_ERR_RANK);
    ck_assert_ptr_null(none);
    tern_group_release(world);
}
END_TEST

int main(void)
{
    tern_rte.rank = ME;
    tern_rte.size = WORLD;
    Suite *suite = suite_create("group");
    TCase *tests = suite_case(suite, "group");
    tcase_set_timeout(tests, 600);
    tcase_add_test(tests, set_operations_equal_naive_ones);
    tcase_add_test(tests, incl_and_excl_equal_naive_ones);
    tcase_add_test(tests, ranges_equal_naive_ones);
    tcase_add_test(tests, translation_and_comparison_equal_naive_ones);
    tcase_add_test(tests, regular_groups_take_one_run);
    tcase_add_test(tests, equal_order_is_seen_through_different_runs);
    tcase_add_test(tests, jobs_are_kept_apart);
    tcase_add_test(tests, wrong_arguments_are_refused);
    return suite_run(suite);
}
