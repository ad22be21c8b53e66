/* SPDX-License-Identifier: BSD-3-Clause */

/* How often a thread looks that only watches whether another one works. */

#include "lib/util/base/pause.h"
#include "suite.h"

START_TEST(looks_become_rare_but_never_late)
{
    unsigned watched_us = 0, looks = 0;
    while (watched_us < TERN_PAUSE_PART * TERN_PAUSE_MOST_US) {
        unsigned before_us = watched_us, pause_us = tern_pause(&watched_us);
        ck_assert_uint_ge(pause_us, TERN_PAUSE_LEAST_US);
        ck_assert_uint_le(pause_us, TERN_PAUSE_MOST_US);
        if (pause_us > TERN_PAUSE_LEAST_US)
            ck_assert_uint_le(pause_us, before_us / TERN_PAUSE_PART);
        looks++;
    }
    ck_assert_uint_le(looks, 50); /* in 40 ms, and from then on ... */
    ck_assert_uint_eq(tern_pause(&watched_us), TERN_PAUSE_MOST_US);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("pause");
    TCase *tests = suite_case(suite, "pause");
    tcase_add_test(tests, looks_become_rare_but_never_late);
    return suite_run(suite);
}
