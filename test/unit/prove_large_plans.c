/* SPDX-License-Identifier: BSD-3-Clause */

/* Every algorithm of every collective of one group (proof.h) at 100, 127, 128 and 1000 ranks, with the first and the last
 * one as root. What goes from each of 1000 ranks to each has blocks of several lengths in the long run only. */
#include "proof.h"
#include "suite.h"

#include <check.h>
#include <stdlib.h>

static bool is_long(const struct proof *proof)
{
    enum tern_collective c = proof->collective;
    bool to_all = c == TERN_ALLTOALL || c == TERN_ALLTOALLV || c == TERN_ALLTOALLW;
    return to_all && proof->n == 1000 && !getenv("TERN_TEST_LONG");
}

START_TEST(some_larger_sizes)
{
    static const int sizes[] = {100, 127, 128, 1000};
    struct proof proof = {.collective = (enum tern_collective)_i};
    for (proof.algorithm = tern_plan_algorithms(proof.collective, false); proof.algorithm->name;
         proof.algorithm++)
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
            proof.n = sizes[i];
            const int64_t counts[] = {0, 1, proof.n + 1};
            int stride = proof_has_root(proof.collective) ? proof.n - 1 : proof.n;
            for (proof.root = 0; proof.root < proof.n; proof.root += stride)
                if (is_long(&proof))
                    prove_counts(proof, &counts[1], 1);
                else
                    prove_counts(proof, counts, 3);
        }
}
END_TEST

int main(void)
{
    proof_keep_memory();
    Suite *suite = suite_create("proofs of large plans");
    TCase *tcase = suite_case(suite, "more than 64 ranks");
    tcase_set_timeout(tcase, 3600);
    tcase_add_loop_test(tcase, some_larger_sizes, 0, TERN_NEIGHBOR_ALLGATHER);
    return suite_run(suite);
}
