/* SPDX-License-Identifier: BSD-3-Clause */

/* Context ids never run out: they wrap, pass over those that are open, and never are those of MPI_COMM_WORLD and the
 * other communicators that need no agreement. */

#include "lib/pml/context.h"
#include "lib/pml/lane.h"
#include "lib/rte/rte.h"

#include <check.h>
#include <stdlib.h>

enum { OPEN = 3, LEAST = 32 };
static const uint64_t ROUND = (uint64_t)1 << 27;

START_TEST(ids_wrap_and_pass_over_open_ones)
{
    static struct tern_context contexts[OPEN];
    uint64_t open[OPEN], first, id;
    struct tern_peers *peers = tern_peers_new(1);
    tern_rte.rank = 5;
    tern_lanes_init();
    first = tern_context_new_id();
    ck_assert_uint_ge(first, LEAST);
    for (int i = 0; i < OPEN; i++) {
        open[i] = tern_context_new_id();
        /* one as point to point, the others as collective contexts */
        ck_assert_int_eq(tern_context_open(&contexts[i], open[i] + (i > 0), 0, peers, NULL), 0);
    }
    uint64_t count = 1 + OPEN;
    do {
        id = tern_context_new_id();
        if (id % 2 || (id & (2 * ROUND - 1)) < LEAST || id == open[0] || id == open[1] || id == open[2])
            ck_abort_msg("id %#lx after %lu others", (long)id, (long)count);
        count++;
    } while (id != first && count < 3 * ROUND);
    ck_assert_uint_eq(id, first);
    ck_assert_uint_gt(count, ROUND - 2 * LEAST); /* all others came in between */
    ck_assert_uint_gt(tern_context_new_id(), open[OPEN - 1]);
    for (int i = 0; i < OPEN; i++)
        tern_context_close(&contexts[i]);
    tern_peers_release(peers);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("context");
    TCase *tests = tcase_create("context");
    tcase_set_timeout(tests, 600);
    tcase_add_test(tests, ids_wrap_and_pass_over_open_ones);
    suite_add_tcase(suite, tests);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed > 0;
}
