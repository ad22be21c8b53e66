/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Every algorithm of every collective on intercommunicators, all ranks of both groups, executed
 * symbolically (symbolic.h): groups of 1 to 16 ranks, in the short run some of them; blocks of one
 * group as long as those of the other or not; under models of which each has other algorithms for
 * what is done within a group. A process is a rank of the first group, or that group's size + a
 * rank of the second one; the root is in the first one.
 */
#include "lib/coll/run/coll.h"
#include "plan_check.h"
#include "symbolic.h"
#include "suite.h"

#include <check.h>
#include <stdlib.h>

enum { MOST = 16 };

struct inter_proof {
    enum tern_collective collective;
    const struct tern_algorithm *algorithm;
    int n, m, root;
    int64_t count;
    bool commutative;
    struct tern_model model;
    struct tern_coll colls[2 * MOST];
    struct tern_call calls[2 * MOST];
    struct symbolic_rank ranks[2 * MOST];
    /* per process, of the v forms */
    int32_t sends[2 * MOST][MOST], send_places[2 * MOST][MOST];
    int32_t recvs[2 * MOST][MOST], recv_places[2 * MOST][MOST];
};

static struct inter_proof proof; /* the one at hand: large */

static bool second(int p)
{
    return p >= proof.n;
}

static int rank_of(int p)
{
    return second(p) ? p - proof.n : p;
}

static int size_here(int p)
{
    return second(p) ? proof.m : proof.n;
}

static int size_there(int p)
{
    return second(p) ? proof.n : proof.m;
}

static int first_there(int p)
{
    return second(p) ? 0 : proof.n;
}

static bool reduces(void)
{
    return proof.collective >= TERN_REDUCE;
}

static bool rooted(void)
{
    enum tern_collective c = proof.collective;
    return c == TERN_BCAST || c == TERN_GATHER || c == TERN_GATHERV || c == TERN_SCATTER ||
           c == TERN_SCATTERV || c == TERN_REDUCE;
}

/* Length of what process a sends process b; b = -1: anybody. */
static int64_t block(int a, int b)
{
    switch (proof.collective) {
    case TERN_ALLGATHER:
    case TERN_ALLTOALL:
        return second(a) ? proof.count / 2 + 1 : proof.count;
    case TERN_GATHERV:
    case TERN_SCATTERV:
    case TERN_ALLGATHERV:
    case TERN_ALLTOALLV:
    case TERN_ALLTOALLW:
        return (a + 2 * b) % 5 == 3 ? 0 : proof.count * (a + 2 * b + 5) % (2 * proof.count + 1);
    default:
        return proof.count;
    }
}

/* Length of rank r's block in the group of process p, of a scattered sum; both have the same total. */
static int64_t sum_block(int p, int r)
{
    if (proof.collective == TERN_REDUCE_SCATTER_BLOCK)
        return proof.count * size_there(p);
    int64_t each = proof.count / size_here(p) / 2;
    if (r)
        return r % 3 ? each : 0;
    int64_t rest = proof.count;
    for (int q = 1; q < size_here(p); q++)
        rest -= q % 3 ? each : 0;
    return rest;
}

static int64_t sum_before(int p, int r)
{
    int64_t sum = 0;
    for (int q = 0; q < r; q++)
        sum += sum_block(p, q);
    return sum;
}

/* --- calls --- */

static char memory[1]; /* never looked at */

static const struct tern_type *type_of(int p)
{
    bool gaps = reduces() ? proof.count % 2 : (p + proof.count) % 3 == 0;
    return gaps && proof.collective != TERN_ALLTOALLW ? &gap_type : &tern_type_bytes;
}

static int root_for(int p)
{
    if (second(p))
        return proof.root;
    return p == proof.root ? TERN_ROOT_ME : TERN_ROOT_BESIDE_ME;
}

/* Blocks with a unit of space between, the last one first. */
static struct tern_ints lay(const int32_t *lengths, int32_t *places, int count)
{
    int32_t at = 0;
    for (int r = count; r--;) {
        places[r] = at;
        at += lengths[r] + 1;
    }
    return (struct tern_ints){places, 4};
}

static void apply_nothing(const struct tern_reduction *reduction, const void *in, void *inout,
                          int64_t count)
{
    (void)reduction, (void)in, (void)inout, (void)count;
}

static int64_t call_reducing(int p)
{
    struct tern_call *call = &proof.calls[p];
    struct tern_coll *coll = &proof.colls[p];
    struct tern_reduction reduction = {.commutative = proof.commutative, .apply = apply_nothing};
    const struct tern_type *type = type_of(p);
    switch (proof.collective) {
    case TERN_REDUCE:
        tern_call_reduce(call, coll, memory, memory, proof.count, type, &reduction, root_for(p));
        return second(p) ? proof.count : 0;
    case TERN_ALLREDUCE:
        tern_call_allreduce(call, coll, memory, memory, proof.count, type, &reduction);
        return proof.count;
    case TERN_REDUCE_SCATTER:
        for (int r = 0; r < size_here(p); r++)
            proof.recvs[p][r] = (int32_t)sum_block(p, r);
        tern_call_reduce_scatter(call, coll, memory, memory, (struct tern_ints){proof.recvs[p], 4},
                                 type, &reduction);
        break;
    default:
        tern_call_reduce_scatter_block(call, coll, memory, memory, sum_block(p, 0), type,
                                       &reduction);
    }
    return sum_before(p, size_here(p));
}

/* Makes the call; returns the length of the input. */
static int64_t make_call(int p)
{
    struct tern_call *call = &proof.calls[p];
    struct tern_coll *coll = &proof.colls[p];
    const struct tern_type *type = type_of(p);
    int there = size_there(p), root = root_for(p);
    static const struct tern_type *types[MOST];
    for (int r = 0; r < there; r++) {
        int other = first_there(p) + r;
        bool same = proof.collective == TERN_GATHERV || proof.collective == TERN_ALLGATHERV;
        proof.sends[p][r] = (int32_t)block(p, other);
        proof.recvs[p][r] = (int32_t)block(other, same ? -1 : p);
        types[r] = &tern_type_bytes;
    }
    struct tern_ints sends = {proof.sends[p], 4}, recvs = {proof.recvs[p], 4};
    struct tern_ints send_places = lay(proof.sends[p], proof.send_places[p], there);
    struct tern_ints recv_places = lay(proof.recvs[p], proof.recv_places[p], there);
    int64_t mine = block(p, -1), whole = there * (2 * proof.count + 2);
    int64_t from_root = second(p) ? block(proof.root, p) : 0;
    switch (proof.collective) {
    case TERN_BARRIER:
        tern_call_barrier(call, coll);
        return 0;
    case TERN_BCAST:
        tern_call_bcast(call, coll, memory, proof.count, type, root);
        return 0;
    case TERN_GATHER:
        tern_call_gather(call, coll, memory, mine, type, memory, proof.count, type, root);
        return mine;
    case TERN_GATHERV:
        tern_call_gatherv(call, coll, memory, mine, type, memory, recvs, recv_places, type, root);
        return mine;
    case TERN_SCATTER:
        tern_call_scatter(call, coll, memory, proof.count, type, memory, proof.count, type, root);
        return whole;
    case TERN_SCATTERV:
        tern_call_scatterv(call, coll, memory, sends, send_places, type, memory, from_root, type,
                           root);
        return whole;
    case TERN_ALLGATHER:
        tern_call_allgather(call, coll, memory, mine, type, memory, block(first_there(p), -1),
                            type);
        return mine;
    case TERN_ALLGATHERV:
        tern_call_allgatherv(call, coll, memory, mine, type, memory, recvs, recv_places, type);
        return mine;
    case TERN_ALLTOALL:
        tern_call_alltoall(call, coll, memory, mine, type, memory, block(first_there(p), -1),
                           type);
        return whole;
    case TERN_ALLTOALLV:
        tern_call_alltoallv(call, coll, memory, sends, send_places, type, memory, recvs,
                            recv_places, type);
        return whole;
    case TERN_ALLTOALLW:
        tern_call_alltoallw(call, coll, memory, sends, send_places, types, memory, recvs,
                            recv_places, types);
        return whole;
    default:
        return call_reducing(p);
    }
}

/* --- results --- */

/* Process p has there units index .. of the inputs of processes lo .. hi - 1. */
static bool has(int p, int64_t begin, int64_t length, int64_t index, int lo, int hi)
{
    return content_has(&proof.ranks[p].buffers[TERN_RECV_BUFFER],
                       (struct piece){(int32_t)begin, (int32_t)(begin + length), (int32_t)(index - begin),
                                      set_of(lo, hi)});
}

/* What comes from every process over there: from its input as a whole, or from its block for p. */
static bool collected(int p, bool for_all)
{
    for (int r = 0; r < size_there(p); r++) {
        int from = first_there(p) + r;
        bool equal = !proof.calls[p].args.blocks;
        int64_t length = equal ? block(from, -1) : proof.recvs[p][r];
        int64_t at = equal ? r * length : proof.recv_places[p][r];
        int64_t index = for_all ? 0
                        : equal ? rank_of(p) * length
                                : proof.send_places[from][rank_of(p)];
        if (!has(p, at, length, index, from, from + 1))
            return false;
    }
    return true;
}

static bool right(int p)
{
    int lo = first_there(p), hi = lo + size_there(p), root = proof.root;
    int64_t before;
    switch (proof.collective) {
    case TERN_BARRIER: return true;
    case TERN_BCAST: return !second(p) || has(p, 0, proof.count, 0, root, root + 1);
    case TERN_GATHER:
    case TERN_GATHERV: return p != root || collected(p, true);
    case TERN_SCATTER:
        return !second(p) ||
               has(p, 0, proof.count, rank_of(p) * proof.count, root, root + 1);
    case TERN_SCATTERV:
        return !second(p) || has(p, 0, block(root, p), proof.send_places[root][rank_of(p)], root,
                                 root + 1);
    case TERN_ALLGATHER:
    case TERN_ALLGATHERV: return collected(p, true);
    case TERN_ALLTOALL:
    case TERN_ALLTOALLV:
    case TERN_ALLTOALLW: return collected(p, false);
    case TERN_REDUCE: return p != root || has(p, 0, proof.count, 0, lo, hi);
    case TERN_ALLREDUCE: return has(p, 0, proof.count, 0, lo, hi);
    default:
        before = sum_before(p, rank_of(p));
        return has(p, 0, sum_block(p, rank_of(p)), before, lo, hi);
    }
}

/* --- a case --- */

static void begin_case(void)
{
    static const struct tern_wire wires[] = {{100, 50, 0.1, 1000}, {1, 1, 100, 1}, {1, 900, 1, 1},
                                             {900, 1, 1, 1}};
    const struct tern_wire *wire = &wires[(proof.n + proof.m + proof.count) % 4];
    proof.model = (struct tern_model){
        .node = *wire,
        .network = *wire,
        .package = {wire->latency_ns, wire->gap_ns},
        .machine = {wire->latency_ns, wire->gap_ns},
        .reduce_gap_ns = 1,
        .copy_gap_ns = 1,
        .cache_bytes = 1 << 20,
        .cores_per_cache = 64,
        .cores_per_package = 64,
        .ranks_per_node = 64,
        .cores_per_node = 64,
        .nics_per_node = 1,
        .eager_bytes = 16384,
    };
    for (int p = 0; p < proof.n + proof.m; p++) {
        proof.colls[p] = (struct tern_coll){
            .rank = rank_of(p), .size = size_here(p), .remote_size = size_there(p)};
        int64_t length = make_call(p);
        proof.calls[p].args.segment_bytes = proof.count > 200 ? 150 : 2;
        proof.calls[p].args.model = &proof.model;
        proof.ranks[p] = (struct symbolic_rank){.local_first = second(p) ? proof.n : 0,
                                                .remote_first = first_there(p)};
        bool bcasts = proof.collective == TERN_BCAST;
        int64_t units = bcasts && p == proof.root ? proof.count : length;
        content_put(&proof.ranks[p].buffers[bcasts ? TERN_RECV_BUFFER : TERN_SEND_BUFFER],
                    (struct piece){0, (int32_t)units, 0, set_of(p, p + 1)});
    }
}

static const char *fault_of_case(void)
{
    int processes = proof.n + proof.m;
    for (int p = 0; p < processes; p++) {
        proof.ranks[p].plan = tern_plan_build(proof.algorithm, &proof.calls[p].args);
        const char *fault = plan_read(proof.ranks[p].plan);
        if (fault)
            return fault;
    }
    for (int late = 0; proof.collective == TERN_BARRIER && late < processes; late++) {
        const char *fault = symbolic_run_without(proof.ranks, processes, late);
        if (fault)
            return fault;
    }
    const char *fault = symbolic_run(proof.ranks, processes, reduces() && !proof.commutative);
    for (int p = 0; p < processes && !fault; p++)
        if (!right(p))
            fault = "a wrong result";
    return fault;
}

static void prove(void)
{
    sets_forget();
    begin_case();
    bool fits = true;
    for (int p = 0; p < proof.n + proof.m; p++) {
        bool this_fits = !proof.algorithm->fits || proof.algorithm->fits(&proof.calls[p].args);
        ck_assert_msg(!p || this_fits == fits, "ranks differ in whether %s fits",
                      proof.algorithm->name);
        fits = this_fits;
    }
    const char *fault = fits ? fault_of_case() : NULL;
    ck_assert_msg(!fault, "%s %s: %s (groups of %d and %d ranks, count %ld, root %d%s)",
                  tern_plan_collective_name(proof.collective), proof.algorithm->name, fault,
                  proof.n, proof.m, (long)proof.count, proof.root,
                  proof.commutative ? "" : ", in order");
    for (int p = 0; p < proof.n + proof.m; p++)
        symbolic_release(&proof.ranks[p]);
}

static void prove_counts(void)
{
    static const int64_t counts[] = {0, 1, 7, 17, 100, 1000};
    for (int i = 0; i < (proof.collective == TERN_BARRIER ? 1 : 6); i++) {
        proof.count = counts[i];
        for (proof.root = 0; proof.root < proof.n; proof.root += rooted() ? 3 : proof.n)
            for (int ordered = 0; ordered <= reduces(); ordered++) {
                proof.commutative = !ordered;
                prove();
            }
    }
}

START_TEST(every_algorithm_between_two_groups)
{
    static const bool short_sizes[MOST + 1] = {[1] = true, [2] = true, [3] = true, [5] = true,
                                               [8] = true, [13] = true, [16] = true};
    bool all = getenv("TERN_TEST_LONG");
    proof.collective = (enum tern_collective)_i;
    proof.algorithm = tern_plan_algorithms(proof.collective, true);
    for (; proof.algorithm && proof.algorithm->name; proof.algorithm++)
        for (proof.n = 1; proof.n <= MOST; proof.n++)
            for (proof.m = 1; proof.m <= MOST; proof.m++)
                if (all || (short_sizes[proof.n] && short_sizes[proof.m]))
                    prove_counts();
}
END_TEST

/* Both groups, and every rank of them, must choose the same. */
START_TEST(all_choose_the_same)
{
    proof.collective = (enum tern_collective)_i;
    if (!tern_plan_algorithms(proof.collective, true))
        return;
    for (proof.n = 1; proof.n <= MOST; proof.n++)
        for (proof.m = 1; proof.m <= MOST; proof.m++)
            for (proof.count = 1; proof.count <= 1000; proof.count *= 10) {
                const struct tern_algorithm *chosen = NULL;
                proof.root = proof.n - 1;
                proof.commutative = true;
                sets_forget();
                begin_case();
                for (int p = 0; p < proof.n + proof.m; p++) {
                    const struct tern_algorithm *mine =
                        tern_plan_choose(&proof.calls[p].args, &proof.model);
                    symbolic_release(&proof.ranks[p]);
                    if (rooted() && !second(p) && p != proof.root)
                        continue; /* has nothing to do */
                    ck_assert_msg(!chosen || mine == chosen,
                                  "%s: %s and %s are chosen (groups of %d and %d, count %ld)",
                                  tern_plan_collective_name(proof.collective),
                                  chosen ? chosen->name : "", mine->name, proof.n, proof.m,
                                  (long)proof.count);
                    chosen = mine;
                }
            }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("proofs of plans between groups");
    TCase *tcase = suite_case(suite, "two groups");
    tcase_set_timeout(tcase, 3600);
    tcase_add_loop_test(tcase, every_algorithm_between_two_groups, 0, TERN_SCAN);
    tcase_add_loop_test(tcase, all_choose_the_same, 0, TERN_SCAN);
    return suite_run(suite);
}
