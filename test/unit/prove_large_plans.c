/* SPDX-License-Identifier: BSD-3-Clause */

/* Every algorithm of every collective of one group (proof.h) at 100, 127, 128, 300 and 1000 ranks, with the first and the
 * last one as root. The short run has two lengths for 100 ranks, one beyond, and only the last root of 1000; it ends at 128
 * ranks for alltoall, at 300 for collectives whose blocks are of different lengths, or are reduced and scattered. */
#include "proof.h"
#include "suite.h"

#include <check.h>
#include <stdlib.h>

/* Returns the number of lengths to try; 0: not at this size. */
static int lengths(const struct proof *proof)
{
    enum tern_collective c = proof->collective;
    bool to_all = c == TERN_ALLTOALL || c == TERN_ALLTOALLV || c == TERN_ALLTOALLW;
    bool blocks = c == TERN_ALLGATHERV || c == TERN_REDUCE_SCATTER_BLOCK || c == TERN_REDUCE_SCATTER;
    if (getenv("TERN_TEST_LONG"))
        return 3;
    if (proof->n == 300)
        return blocks;
    return proof->n == 1000 ? !to_all && !blocks : proof->n == 100 ? 2 : 1;
}

START_TEST(some_larger_sizes)
{
    static const int sizes[] = {100, 127, 128, 300, 1000};
    struct proof proof = {.collective = (enum tern_collective)_i};
    for (proof.algorithm = tern_plan_algorithms(proof.collective, false); proof.algorithm->name;
         proof.algorithm++)
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
            proof.n = sizes[i];
            const int64_t counts[] = {proof.n + 1, 1, 0};
            int stride = proof_has_root(proof.collective) ? proof.n - 1 : proof.n;
            bool last_alone = proof.n == 1000 && stride < proof.n && !getenv("TERN_TEST_LONG");
            for (proof.root = last_alone ? stride : 0; proof.root < proof.n; proof.root += stride)
                prove_counts(proof, counts, lengths(&proof));
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
