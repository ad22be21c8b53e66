/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Every algorithm of every collective of one group, all ranks of it, in the long run at every size
 * from 1 to 64 with up to 16 roots and at some larger ones, otherwise at half of them: executed symbolically (symbolic.h), so that every unit of every result is
 * shown to be what it must be, and that no rank waits for ever though every send is synchronous.
 * Units are bytes; every second shape has a type with gaps, whose units cannot be cut.
 */
#include "lib/coll/coll.h"
#include "lib/type/layout.h"
#include "plan_check.h"
#include "symbolic.h"

#include <check.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct tern_type gap_type; /* a byte, and one of space */

struct proof {
    enum tern_collective collective;
    const struct tern_algorithm *algorithm;
    int n, root;
    int64_t count;
    bool in_place, commutative;
    const struct tern_type *type;
    struct tern_coll *colls;
    struct tern_call *calls;
    struct symbolic_rank *ranks;
    int32_t *counts, *displs; /* of the v forms: per rank, n blocks each of what it sends, and gets */
};

static bool reduces(enum tern_collective c)
{
    return c >= TERN_REDUCE && c <= TERN_EXSCAN;
}

static bool rooted(enum tern_collective c)
{
    return c == TERN_BCAST || c == TERN_GATHER || c == TERN_GATHERV || c == TERN_SCATTER ||
           c == TERN_SCATTERV || c == TERN_REDUCE;
}

static bool has_in_place(enum tern_collective c)
{
    return c != TERN_BARRIER && c != TERN_BCAST;
}

static bool unequal(enum tern_collective c)
{
    return c == TERN_GATHERV || c == TERN_SCATTERV || c == TERN_ALLGATHERV ||
           c == TERN_ALLTOALLV || c == TERN_ALLTOALLW || c == TERN_REDUCE_SCATTER;
}

/* Length of the block that goes from rank a to rank b; b = -1: of a's own. */
static int64_t block(const struct proof *proof, int a, int b)
{
    if (!unequal(proof->collective))
        return proof->count;
    return proof->count * (a + 2 * b + 5) % (2 * proof->count + 1);
}

/* Blocks with one unit of space between, the last one first. Array of proof->n numbers. */
static struct tern_ints lay(struct proof *proof, int32_t *lengths, int32_t *places, int unit)
{
    int64_t at = 0;
    for (int r = proof->n; r--;) {
        places[r] = (int32_t)at * unit;
        at += lengths[r] + 1;
    }
    return (struct tern_ints){places, 4};
}

/* Buffers are never looked at; only their addresses' being different from MPI_IN_PLACE counts. */
static char memory[2];

static int32_t *own_lengths(struct proof *proof, int p)
{
    int32_t *lengths = proof->counts + (size_t)(2 * p + 1) * (size_t)proof->n;
    for (int r = 0; r < proof->n; r++)
        lengths[r] = (int32_t)block(proof, r, -1);
    return lengths;
}

/* --- calls: arguments of rank p, and its input --- */

static void put_input(struct proof *proof, int p, int buffer, int64_t begin, int64_t length,
                      int64_t shift)
{
    content_put(&proof->ranks[p].buffers[buffer],
                (struct piece){begin, begin + length, shift, set_of(p, p + 1)});
}

static void call_collecting(struct proof *proof, int p)
{
    struct tern_call *call = &proof->calls[p];
    struct tern_coll *coll = &proof->colls[p];
    const struct tern_type *type = proof->type;
    enum tern_collective c = proof->collective;
    bool gets = c == TERN_ALLGATHER || c == TERN_ALLGATHERV || p == proof->root;
    bool in_place = proof->in_place && gets;
    const void *send = in_place ? MPI_IN_PLACE : memory;
    int32_t *lengths = own_lengths(proof, p), *places = lengths - proof->n;
    struct tern_ints counts = {lengths, 4}, displs = {NULL, 4};
    int64_t place = p * proof->count;
    if (unequal(c)) {
        displs = lay(proof, lengths, places, 1);
        place = places[p];
    }
    if (c == TERN_GATHER)
        tern_call_gather(call, coll, send, proof->count, type, memory, proof->count, type,
                         proof->root);
    else if (c == TERN_GATHERV)
        tern_call_gatherv(call, coll, send, lengths[p], type, memory, counts, displs, type,
                          proof->root);
    else if (c == TERN_ALLGATHER)
        tern_call_allgather(call, coll, send, proof->count, type, memory, proof->count, type);
    else
        tern_call_allgatherv(call, coll, send, lengths[p], type, memory, counts, displs, type);
    if (in_place)
        put_input(proof, p, TERN_RECV_BUFFER, place, lengths[p], -place);
    else
        put_input(proof, p, TERN_SEND_BUFFER, 0, lengths[p], 0);
}

static void call_scattering(struct proof *proof, int p)
{
    struct tern_call *call = &proof->calls[p];
    struct tern_coll *coll = &proof->colls[p];
    const struct tern_type *type = proof->type;
    bool root = p == proof->root;
    void *recv = root && proof->in_place ? MPI_IN_PLACE : memory;
    int32_t *lengths = own_lengths(proof, p), *places = lengths - proof->n;
    struct tern_ints displs = lay(proof, lengths, places, 1);
    if (proof->collective == TERN_SCATTER)
        tern_call_scatter(call, coll, memory, proof->count, type, recv, proof->count, type,
                          proof->root);
    else
        tern_call_scatterv(call, coll, memory, (struct tern_ints){lengths, 4}, displs, type, recv,
                           lengths[p], type, proof->root);
    if (root)
        put_input(proof, p, TERN_SEND_BUFFER, 0, proof->n * (2 * proof->count + 1), 0);
}

static void call_exchange(struct proof *proof, int p)
{
    struct tern_call *call = &proof->calls[p];
    struct tern_coll *coll = &proof->colls[p];
    const struct tern_type *type = proof->type;
    int n = proof->n;
    bool w = proof->collective == TERN_ALLTOALLW;
    int32_t *out = proof->counts + (size_t)(2 * p) * (size_t)n, *in = out + n;
    int32_t *out_at = proof->displs + (size_t)(2 * p) * (size_t)n, *in_at = out_at + n;
    const void *send = proof->in_place ? MPI_IN_PLACE : memory;
    static const struct tern_type *types[1024];
    for (int r = 0; r < n; r++) {
        /* in place what goes out is as long as what comes in */
        out[r] = (int32_t)(proof->in_place ? block(proof, p < r ? p : r, p < r ? r : p)
                                           : block(proof, p, r));
        in[r] = (int32_t)(proof->in_place ? out[r] : block(proof, r, p));
        types[r] = &tern_type_bytes; /* for alltoallw: a unit is a byte, so displacements agree */
    }
    struct tern_ints sdispls = lay(proof, out, out_at, 1), rdispls = lay(proof, in, in_at, 1);
    struct tern_ints sends = {out, 4}, recvs = {in, 4};
    if (proof->collective == TERN_ALLTOALL)
        tern_call_alltoall(call, coll, send, proof->count, type, memory, proof->count, type);
    else if (w)
        tern_call_alltoallw(call, coll, send, sends, sdispls, types, memory, recvs, rdispls, types);
    else
        tern_call_alltoallv(call, coll, send, sends, sdispls, type, memory, recvs, rdispls, type);
    put_input(proof, p, proof->in_place ? TERN_RECV_BUFFER : TERN_SEND_BUFFER, 0,
              n * (2 * proof->count + 1), 0);
}

static void apply_nothing(const struct tern_reduction *reduction, const void *in, void *inout,
                          int64_t count)
{
    (void)reduction, (void)in, (void)inout, (void)count;
}

static int64_t scattered_before(const struct proof *proof, int rank)
{
    int64_t sum = 0;
    for (int r = 0; r < rank; r++)
        sum += block(proof, r, -1);
    return sum;
}

static void call_reducing(struct proof *proof, int p)
{
    struct tern_call *call = &proof->calls[p];
    struct tern_coll *coll = &proof->colls[p];
    struct tern_reduction reduction = {.commutative = proof->commutative, .apply = apply_nothing};
    enum tern_collective c = proof->collective;
    bool in_place = proof->in_place && (c != TERN_REDUCE || p == proof->root);
    bool scatters = c == TERN_REDUCE_SCATTER || c == TERN_REDUCE_SCATTER_BLOCK;
    const void *send = in_place ? MPI_IN_PLACE : memory;
    int64_t count = proof->count;
    if (c == TERN_REDUCE)
        tern_call_reduce(call, coll, send, memory, count, proof->type, &reduction, proof->root);
    else if (c == TERN_ALLREDUCE)
        tern_call_allreduce(call, coll, send, memory, count, proof->type, &reduction);
    else if (c == TERN_REDUCE_SCATTER)
        tern_call_reduce_scatter(call, coll, send, memory,
                                 (struct tern_ints){own_lengths(proof, p), 4}, proof->type,
                                 &reduction);
    else if (c == TERN_REDUCE_SCATTER_BLOCK)
        tern_call_reduce_scatter_block(call, coll, send, memory, count, proof->type, &reduction);
    else if (c == TERN_SCAN)
        tern_call_scan(call, coll, send, memory, count, proof->type, &reduction);
    else
        tern_call_exscan(call, coll, send, memory, count, proof->type, &reduction);
    put_input(proof, p, in_place ? TERN_RECV_BUFFER : TERN_SEND_BUFFER, 0,
              scatters ? scattered_before(proof, proof->n) : count, 0);
}

static void make_call(struct proof *proof, int p)
{
    switch (proof->collective) {
    case TERN_BARRIER: tern_call_barrier(&proof->calls[p], &proof->colls[p]); break;
    case TERN_BCAST:
        tern_call_bcast(&proof->calls[p], &proof->colls[p], memory, proof->count, proof->type,
                        proof->root);
        if (p == proof->root)
            put_input(proof, p, TERN_RECV_BUFFER, 0, proof->count, 0);
        break;
    case TERN_GATHER:
    case TERN_GATHERV:
    case TERN_ALLGATHER:
    case TERN_ALLGATHERV: call_collecting(proof, p); break;
    case TERN_SCATTER:
    case TERN_SCATTERV: call_scattering(proof, p); break;
    case TERN_ALLTOALL:
    case TERN_ALLTOALLV:
    case TERN_ALLTOALLW: call_exchange(proof, p); break;
    default: call_reducing(proof, p);
    }
}

/* --- results --- */

static bool has(const struct proof *proof, int p, int64_t begin, int64_t length, int64_t index,
                int lo, int hi)
{
    return content_has(&proof->ranks[p].buffers[TERN_RECV_BUFFER],
                       (struct piece){begin, begin + length, index - begin, set_of(lo, hi)});
}

static bool collected(const struct proof *proof, int p)
{
    const struct tern_blocks *blocks = &proof->calls[p].blocks;
    for (int r = 0; r < proof->n; r++) {
        int64_t at = unequal(proof->collective) ? tern_ints_at(blocks->recv_displs, r)
                                                : r * proof->count;
        if (!has(proof, p, at, block(proof, r, -1), 0, r, r + 1))
            return false;
    }
    return true;
}

static bool exchanged(const struct proof *proof, int p)
{
    size_t n = (size_t)proof->n;
    const int32_t *in = proof->counts + (2 * (size_t)p + 1) * n;
    const int32_t *in_at = proof->displs + (2 * (size_t)p + 1) * n;
    for (size_t r = 0; r < n; r++) {
        bool equal = proof->collective == TERN_ALLTOALL;
        /* in place the sender's blocks stand where it receives */
        const int32_t *out_at = proof->displs + 2 * r * n + (proof->in_place ? n : 0);
        int64_t from = equal ? p * proof->count : out_at[p];
        int64_t at = equal ? (int64_t)r * proof->count : in_at[r];
        if (!has(proof, p, at, in[r], from, (int)r, (int)r + 1))
            return false;
    }
    return true;
}

static bool right(const struct proof *proof, int p)
{
    int n = proof->n;
    int64_t count = proof->count;
    bool root = p == proof->root;
    switch (proof->collective) {
    case TERN_BARRIER: return true;
    case TERN_BCAST: return has(proof, p, 0, count, 0, proof->root, proof->root + 1);
    case TERN_GATHER:
    case TERN_GATHERV: return !root || collected(proof, p);
    case TERN_ALLGATHER:
    case TERN_ALLGATHERV: return collected(proof, p);
    case TERN_SCATTER:
        return (root && proof->in_place) ||
               has(proof, p, 0, count, p * count, proof->root, proof->root + 1);
    case TERN_SCATTERV:
        return (root && proof->in_place) ||
               has(proof, p, 0, block(proof, p, -1),
                   tern_ints_at(proof->calls[proof->root].blocks.send_displs, p), proof->root,
                   proof->root + 1);
    case TERN_ALLTOALL:
    case TERN_ALLTOALLV:
    case TERN_ALLTOALLW: return exchanged(proof, p);
    case TERN_REDUCE: return !root || has(proof, p, 0, count, 0, 0, n);
    case TERN_ALLREDUCE: return has(proof, p, 0, count, 0, 0, n);
    case TERN_SCAN: return has(proof, p, 0, count, 0, 0, p + 1);
    case TERN_EXSCAN: return !p || has(proof, p, 0, count, 0, 0, p);
    default:
        return has(proof, p, 0, block(proof, p, -1), scattered_before(proof, p), 0, n);
    }
}

static void prove(struct proof proof)
{
    size_t n = (size_t)proof.n;
    const char *fault = NULL;
    sets_forget();
    proof.colls = calloc(n, sizeof *proof.colls);
    proof.calls = calloc(n, sizeof *proof.calls);
    proof.ranks = calloc(n, sizeof *proof.ranks);
    proof.counts = malloc(2 * n * n * sizeof *proof.counts + 1);
    proof.displs = malloc(2 * n * n * sizeof *proof.displs + 1);
    proof.type = (proof.n + proof.root + proof.count) % 2 ? &gap_type : &tern_type_bytes;
    if (proof.collective == TERN_ALLTOALLW)
        proof.type = &tern_type_bytes;
    for (int p = 0; p < proof.n; p++) {
        proof.colls[p].rank = p;
        proof.colls[p].size = proof.n;
        proof.colls[p].ranks_per_node = proof.n;
        make_call(&proof, p);
        proof.calls[p].args.board = true;
        proof.calls[p].args.segment_bytes = proof.count > 200 ? 150 : 2;
    }
    bool fits = !proof.algorithm->fits || proof.algorithm->fits(&proof.calls[0].args);
    for (int p = 0; p < proof.n && fits && !fault; p++) {
        proof.ranks[p].plan = tern_plan_build(proof.algorithm, &proof.calls[p].args);
        if (proof.n <= 128 || p < 3 || p > proof.n - 3 || p % 61 == 0)
            fault = plan_read(proof.ranks[p].plan);
    }
    if (fits && !fault)
        fault = symbolic_run(proof.ranks, proof.n, reduces(proof.collective) && !proof.commutative);
    for (int p = 0; p < proof.n && fits && !fault; p++)
        if (!right(&proof, p))
            fault = "a wrong result";
    ck_assert_msg(!fault, "%s %s: %s (%d ranks, count %ld, root %d%s%s%s)",
                  tern_plan_collective_name(proof.collective), proof.algorithm->name, fault,
                  proof.n, (long)proof.count, proof.root, proof.in_place ? ", in place" : "",
                  proof.commutative ? "" : ", in order",
                  proof.type == &gap_type ? ", with gaps" : "");
    for (int p = 0; p < proof.n; p++) {
        if (proof.ranks[p].plan)
            tern_plan_release(proof.ranks[p].plan);
        for (int b = 0; b < TERN_BUFFERS; b++)
            free(proof.ranks[p].buffers[b].pieces);
        free(proof.ranks[p].post.pieces);
    }
    free(proof.colls);
    free(proof.calls);
    free(proof.ranks);
    free(proof.counts);
    free(proof.displs);
}

/* In place and not, commutative and not. */
static void prove_forms(struct proof proof)
{
    for (int form = 0; form < 4; form++) {
        proof.in_place = form & 1;
        proof.commutative = !(form & 2);
        if ((proof.in_place && !has_in_place(proof.collective)) ||
            (!proof.commutative && !reduces(proof.collective)))
            continue;
        prove(proof);
    }
}

static void prove_counts(struct proof proof, const int64_t *counts, int how_many)
{
    for (int i = 0; i < how_many; i++) {
        proof.count = counts[i];
        if ((i && counts[i] <= counts[i - 1]) || (proof.collective == TERN_BARRIER && i))
            continue;
        prove_forms(proof);
    }
}

static bool thorough(void)
{
    return getenv("TERN_TEST_LONG");
}

START_TEST(every_size_up_to_64)
{
    struct proof proof = {.collective = (enum tern_collective)_i};
    for (proof.algorithm = tern_plan_algorithms(proof.collective, false); proof.algorithm->name;
         proof.algorithm++)
        for (proof.n = 1; proof.n <= 64; proof.n++) {
            if (!thorough() && proof.n > 20 && proof.n % 8 > 1 && proof.n != 63)
                continue;
            const int64_t counts[] = {0, 1, proof.n - 1, proof.n, proof.n + 1, 1000};
            int roots = !rooted(proof.collective) ? 1 : proof.n < 16 ? proof.n : 16;
            for (proof.root = 0; proof.root < roots; proof.root++)
                if (thorough() || proof.root < 2 || proof.root == proof.n / 2 ||
                    proof.root == roots - 1)
                    prove_counts(proof, counts, 6);
        }
}
END_TEST

START_TEST(some_larger_sizes)
{
    static const int sizes[] = {100, 127, 128, 1000};
    struct proof proof = {.collective = (enum tern_collective)_i};
    for (proof.algorithm = tern_plan_algorithms(proof.collective, false); proof.algorithm->name;
         proof.algorithm++)
        for (int i = 0; i < (thorough() ? 4 : 3); i++) {
            proof.n = sizes[i];
            const int64_t counts[] = {0, 1, proof.n + 1};
            for (proof.root = 0; proof.root < proof.n;
                 proof.root += rooted(proof.collective) ? proof.n - 1 : proof.n)
                prove_counts(proof, counts, 3);
        }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("proofs of plans");
    TCase *tcase = tcase_create("algorithms");
    tcase_set_timeout(tcase, 600);
    tern_type_make_resized(&tern_type_bytes, 0, 2, &gap_type);
    gap_type.committed = true;
    tcase_add_loop_test(tcase, every_size_up_to_64, 0, TERN_NEIGHBOR_ALLGATHER);
    tcase_add_loop_test(tcase, some_larger_sizes, 0, TERN_NEIGHBOR_ALLGATHER);
    suite_add_tcase(suite, tcase);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    tern_type_drop(&gap_type);
    return failed != 0;
}
