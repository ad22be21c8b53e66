/* SPDX-License-Identifier: BSD-3-Clause */

/* Every algorithm of every collective of one group (proof.h) at 100, 127 and 128 ranks; in the long
 * run at 1000, too. */
#include "proof.h"

#include <check.h>
#include <stdlib.h>

START_TEST(some_larger_sizes)
{
    static const int sizes[] = {100, 127, 128, 1000};
    int how_many = getenv("TERN_TEST_LONG") ? 4 : 3;
    struct proof proof = {.collective = (enum tern_collective)_i};
    for (proof.algorithm = tern_plan_algorithms(proof.collective, false); proof.algorithm->name;
         proof.algorithm++)
        for (int i = 0; i < how_many; i++) {
            proof.n = sizes[i];
            const int64_t counts[] = {0, 1, proof.n + 1};
            int stride = proof_has_root(proof.collective) ? proof.n - 1 : proof.n;
            for (proof.root = 0; proof.root < proof.n; proof.root += stride)
                prove_counts(proof, counts, 3);
        }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("proofs of large plans");
    TCase *tcase = tcase_create("more than 64 ranks");
    tcase_set_timeout(tcase, 3600);
    tcase_add_loop_test(tcase, some_larger_sizes, 0, TERN_NEIGHBOR_ALLGATHER);
    suite_add_tcase(suite, tcase);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed != 0;
}
