/* SPDX-License-Identifier: BSD-3-Clause */
/* The list of free stretches (lib/node/extents.h) beside a map of single units, and after a kill. */

#include "lib/node/extents.h"
#include "suite.h"

#include <stdlib.h>
#include <string.h>

enum { UNITS = 2000, PIECES = 400, STEPS = 20000 };

static struct tern_extents *new_list(uint32_t most)
{
    struct tern_extents *list = calloc(1, tern_extents_size(most));
    ck_assert_ptr_nonnull(list);
    tern_extents_begin(list, most);
    return list;
}

static uint64_t next_random(uint64_t *seed)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return *seed >> 33;
}

/* Returns the first place of `size` free units between `from` and `to`, or -1. */
static int64_t first_fit(const bool *used, uint64_t size, uint64_t from, uint64_t to)
{
    uint64_t run = 0;
    for (uint64_t at = from; at < to && at < UNITS; at++) {
        run = used[at] ? 0 : run + 1;
        if (run == size)
            return (int64_t)(at + 1 - size);
    }
    return -1;
}

static struct piece {
    uint64_t start, size;
} pieces[PIECES];
static int piece_count;
static bool used[UNITS];

static void take_one(struct tern_extents *list, uint64_t *seed)
{
    uint64_t size = 1 + next_random(seed) % (next_random(seed) % 8 ? 20 : 300), start = 0;
    uint64_t from = next_random(seed) % 3 ? 0 : next_random(seed) % UNITS;
    uint64_t to = from + 1 + next_random(seed) % (UNITS - from);
    int64_t wanted = first_fit(used, size, from, to);
    bool taken = tern_extents_take(list, size, from, to, &start);
    ck_assert_int_eq(taken, wanted >= 0); /* never refuses what fits */
    if (!taken)
        return;
    ck_assert_int_eq((int64_t)start, wanted); /* never overlaps, and takes the first */
    memset(used + start, 1, size);
    pieces[piece_count++] = (struct piece){start, size};
}

static void give_one(struct tern_extents *list, uint64_t *seed)
{
    struct piece *piece = &pieces[next_random(seed) % (uint64_t)piece_count];
    ck_assert(tern_extents_give(list, piece->start, piece->size));
    memset(used + piece->start, 0, piece->size);
    *piece = pieces[--piece_count];
}

START_TEST(takes_what_fits_and_nothing_else)
{
    struct tern_extents *list = new_list(UNITS);
    uint64_t seed = (uint64_t)_i + 1, start;
    piece_count = 0;
    memset(used, 0, sizeof used);
    ck_assert(tern_extents_give(list, 0, UNITS));
    for (int step = 0; step < STEPS; step++) {
        bool takes = piece_count == 0 || (piece_count < PIECES && next_random(&seed) % 2);
        if (takes)
            take_one(list, &seed);
        else
            give_one(list, &seed);
        uint64_t free_units = 0;
        for (int i = 0; i < UNITS; i++)
            free_units += !used[i];
        ck_assert_uint_eq(tern_extents_free(list), free_units);
    }
    while (piece_count)
        give_one(list, &seed);
    ck_assert(tern_extents_take(list, UNITS, 0, UNITS, &start)); /* all have joined again */
    free(list);
}
END_TEST

/* A process that is killed has written some bytes of the copy that does not count, at most. */
START_TEST(a_change_that_was_not_finished_changes_nothing)
{
    struct tern_extents *list = new_list(8);
    uint64_t start;
    ck_assert(tern_extents_give(list, 0, 100));
    ck_assert(tern_extents_take(list, 10, 0, 100, &start));
    memset(list->elements + (list->valid ? 0 : 8), 0xff, 8 * sizeof *list->elements);
    memset(&list->lists[!list->valid], 0xff, sizeof list->lists[0]);
    ck_assert_uint_eq(tern_extents_free(list), 90);
    ck_assert(tern_extents_take(list, 90, 0, 100, &start));
    ck_assert_uint_eq(start, 10);
    ck_assert(tern_extents_give(list, 0, 10));
    ck_assert(tern_extents_give(list, 10, 90));
    ck_assert(tern_extents_take(list, 100, 0, 100, &start));
    free(list);
}
END_TEST

START_TEST(a_full_list_refuses_and_stays_right)
{
    struct tern_extents *list = new_list(2);
    uint64_t start;
    ck_assert(tern_extents_give(list, 0, 10));
    ck_assert(tern_extents_give(list, 20, 10));
    ck_assert(!tern_extents_give(list, 40, 10));
    ck_assert(!tern_extents_take(list, 2, 4, 8, &start)); /* would leave three stretches */
    ck_assert_uint_eq(tern_extents_free(list), 20);
    ck_assert(tern_extents_give(list, 10, 10)); /* joins both */
    ck_assert(tern_extents_take(list, 30, 0, 50, &start));
    free(list);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("extents");
    TCase *test = suite_case(suite, "free stretches");
    tcase_add_loop_test(test, takes_what_fits_and_nothing_else, 0, 5);
    tcase_add_test(test, a_change_that_was_not_finished_changes_nothing);
    tcase_add_test(test, a_full_list_refuses_and_stays_right);
    return suite_run(suite);
}
