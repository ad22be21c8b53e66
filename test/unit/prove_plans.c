/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Every algorithm of every collective of one group (proof.h) at every size from 1 to 64, with blocks of six
 * lengths and the first 16 roots. In the short run, beyond 16 ranks, four of the roots have all lengths, the others one
 * of them in turn.
 */
#include "proof.h"
#include "suite.h"

#include <check.h>
#include <stdlib.h>

static bool has_all_counts(int n, int root, int roots)
{
    bool thorough = n <= 16 || getenv("TERN_TEST_LONG");
    return thorough || root < 2 || root == roots / 2 || root == roots - 1;
}

START_TEST(every_size_up_to_64)
{
    struct proof proof = {.collective = (enum tern_collective)_i};
    for (proof.algorithm = tern_plan_algorithms(proof.collective, false); proof.algorithm->name;
         proof.algorithm++)
        for (proof.n = 1; proof.n <= 64; proof.n++) {
            const int64_t counts[] = {0, 1, proof.n - 1, proof.n, proof.n + 1, 1000};
            int roots = !proof_has_root(proof.collective) ? 1 : proof.n < 16 ? proof.n : 16;
            for (proof.root = 0; proof.root < roots; proof.root++)
                if (has_all_counts(proof.n, proof.root, roots))
                    prove_counts(proof, counts, 6);
                else
                    prove_counts(proof, &counts[1 + (proof.n + proof.root) % 5], 1);
        }
}
END_TEST

int main(void)
{
    proof_keep_memory();
    Suite *suite = suite_create("proofs of plans");
    TCase *tcase = suite_case(suite, "sizes up to 64");
    tcase_set_timeout(tcase, 3600);
    tcase_add_loop_test(tcase, every_size_up_to_64, 0, TERN_NEIGHBOR_ALLGATHER);
    return suite_run(suite);
}
