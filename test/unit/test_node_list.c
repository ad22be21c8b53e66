/* SPDX-License-Identifier: BSD-3-Clause */
/* Which ranks are on which node, as text. */
#include <check.h>
#include <stdlib.h>

#include "lib/util/node_list.h"

static void is(const char *wanted, const uint32_t *node_of, uint32_t ranks, uint32_t nodes)
{
    char *text = tern_node_list_write(node_of, ranks, nodes);
    ck_assert_str_eq(text, wanted);
    free(text);
}

START_TEST(ranks_are_written_in_runs)
{
    is("0-3;4-7", (uint32_t[]){0, 0, 0, 0, 1, 1, 1, 1}, 8, 2);
    is("0-6/2;1-7/2", (uint32_t[]){0, 1, 0, 1, 0, 1, 0, 1}, 8, 2);
    is("0;1", (uint32_t[]){0, 1}, 2, 2);
    is("0-1,4;2-3", (uint32_t[]){0, 0, 1, 1, 0}, 5, 2);
    is("2;0-1", (uint32_t[]){1, 1, 0}, 3, 2);
}
END_TEST

START_TEST(what_was_written_is_read)
{
    enum { MOST = 40 };
    srand(1);
    for (int round = 0; round < 2000; round++) {
        uint32_t ranks = 1 + rand() % MOST, nodes = 1 + rand() % ranks, node_of[MOST];
        int32_t lowest[MOST], wanted[MOST];
        for (uint32_t rank = 0; rank < ranks; rank++) {
            /* each has one at least */
            node_of[rank] = rank < nodes ? rank : (uint32_t)rand() % nodes;
            uint32_t first = 0;
            while (node_of[first] != node_of[rank])
                first++;
            wanted[rank] = (int32_t)first;
        }
        char *text = tern_node_list_write(node_of, ranks, nodes);
        ck_assert(tern_node_list_read(text, ranks, lowest));
        for (uint32_t rank = 0; rank < ranks; rank++)
            ck_assert_int_eq(lowest[rank], wanted[rank]);
        ck_assert(!tern_node_list_read(text, ranks + 1, (int32_t[MOST + 1]){0}));
        free(text);
    }
}
END_TEST

START_TEST(other_texts_are_refused)
{
    static const char *const bad[] = {"",    ";",     "0-3;",    "0-3;4",     "0-3,0",   "0-3;2-3", "a",    "0-",
                                      "3-0", "0-4/0", "0-4/2/2", "0-99999999", "0-3 ",    "-1",      "1,0,2-3", "0,,1-3"};
    int32_t lowest[4];
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        ck_assert_msg(!tern_node_list_read(bad[i], 4, lowest), "%s", bad[i]);
    ck_assert(tern_node_list_read("0-3", 4, lowest));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("node_list");
    TCase *tests = tcase_create("node_list");
    tcase_add_test(tests, ranks_are_written_in_runs);
    tcase_add_test(tests, what_was_written_is_read);
    tcase_add_test(tests, other_texts_are_refused);
    suite_add_tcase(suite, tests);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed != 0;
}
