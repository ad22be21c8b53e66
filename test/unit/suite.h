/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SUITE_H
#define SUITE_H

/* What the main functions of unit tests have in common: a suite of cases, of which main lists the tests. */

#include <check.h>

/* A new case of the suite, which owns it. Cases run in the order in which they are made. */
static inline TCase *suite_case(Suite *suite, const char *name)
{
    TCase *tcase = tcase_create(name);
    suite_add_tcase(suite, tcase);
    return tcase;
}

/* Runs all tests and frees the suite: what main returns, 0 if all are passed. */
static inline int suite_run(Suite *suite)
{
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed != 0;
}

#endif
