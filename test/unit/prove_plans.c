/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Every algorithm of every collective of one group (proof.h) at every size from 1 to 64, with blocks of six lengths and the
 * first 16 roots. In the short run, beyond 9 ranks, four of the roots have all lengths, the others one of them in turn; and
 * beyond 17 ranks nine sizes stand for all, powers of two and of three among them.
 */
#include "proof.h"
#include "suite.h"

#include <check.h>
#include <stdlib.h>

static bool has_all_counts(int n, int root, int roots)
{
    bool thorough = n <= 9 || getenv("TERN_TEST_LONG");
    return thorough || root < 2 || root == roots / 2 || root == roots - 1;
}

static int next_size(int n)
{
    static const int beyond[] = {20, 24, 27, 31, 32, 33, 47, 63, 64, 65};
    if (n < 17 || getenv("TERN_TEST_LONG"))
        return n + 1;
    int i = 0;
    while (beyond[i] <= n)
        i++;
    return beyond[i];
}

START_TEST(every_size_up_to_64)
{
    struct proof proof = {.collective = (enum tern_collective)_i};
    for (proof.algorithm = tern_plan_algorithms(proof.collective, false); proof.algorithm->name;
         proof.algorithm++)
        for (proof.n = 1; proof.n <= 64; proof.n = next_size(proof.n)) {
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

/* Plans for devices, whose ranks stand in another order. */
START_TEST(an_order_of_places)
{
    static const enum tern_collective collectives[] = {TERN_BCAST, TERN_REDUCE, TERN_ALLREDUCE, TERN_ALLGATHER,
                                                       TERN_ALLTOALL, TERN_REDUCE_SCATTER_BLOCK};
    int32_t rank_at[20], place_of[20];
    struct tern_device_order order = {.rank_at = rank_at, .place_of = place_of};
    struct proof proof = {.collective = collectives[_i], .order = &order, .without_board = true};
    for (proof.algorithm = tern_plan_algorithms(proof.collective, false); proof.algorithm->name; proof.algorithm++)
        for (proof.n = order.size = proof_wants_nodes(proof.algorithm) ? 21 : 2; proof.n <= 20; order.size = ++proof.n) {
            const int64_t counts[] = {1, proof.n + 1, 1000};
            for (int i = 0; i < proof.n; i++) /* a step that has no common divisor with n */
                rank_at[i] = (1 + i * (proof.n > 5 ? proof.n % 5 ? 5 : proof.n % 7 ? 7 : 3 : 1)) % proof.n;
            for (int i = 0; i < proof.n; i++)
                place_of[rank_at[i]] = i;
            for (proof.root = 0; proof.root < (proof_has_root(proof.collective) ? proof.n : 1); proof.root++)
                prove_counts(proof, counts, 3);
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
    tcase_add_loop_test(tcase, an_order_of_places, 0, 6);
    return suite_run(suite);
}
