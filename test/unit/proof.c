/* SPDX-License-Identifier: BSD-3-Clause */
#include "proof.h"

#include "lib/coll/price/topology.h"
#include "lib/type/layout.h"
#include "plan_check.h"

#include <check.h>
#include <malloc.h>
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

void proof_keep_memory(void)
{
    mallopt(M_MMAP_THRESHOLD, 1 << 30);
    mallopt(M_TRIM_THRESHOLD, 1 << 30);
}

bool proof_reduces(enum tern_collective c)
{
    return c >= TERN_REDUCE && c <= TERN_EXSCAN;
}

bool proof_has_root(enum tern_collective c)
{
    return c == TERN_BCAST || c == TERN_GATHER || c == TERN_GATHERV || c == TERN_SCATTER ||
           c == TERN_SCATTERV || c == TERN_REDUCE;
}

bool proof_has_in_place(enum tern_collective c)
{
    return c != TERN_BARRIER && c != TERN_BCAST;
}

bool proof_wants_nodes(const struct tern_algorithm *algorithm)
{
    return !strcmp(algorithm->name, "hierarchical") || !strcmp(algorithm->name, "multi_leader");
}

static bool unequal(enum tern_collective c)
{
    return c == TERN_GATHERV || c == TERN_SCATTERV || c == TERN_ALLGATHERV || c == TERN_ALLTOALLV ||
           c == TERN_ALLTOALLW || c == TERN_REDUCE_SCATTER;
}

/* Length of the block that goes from rank a to rank b; b = -1: of a's own. */
static int64_t block(const struct proof *proof, int a, int b)
{
    if (!unequal(proof->collective))
        return proof->count;
    return (a + 2 * b) % 7 == 3 ? 0 : proof->count * (a + 2 * b + 5) % (2 * proof->count + 1);
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
                (struct piece){(int32_t)begin, (int32_t)(begin + length), (int32_t)shift, set_of(p, p + 1)});
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
    case TERN_BARRIER:
        tern_call_barrier(&proof->calls[p], &proof->colls[p]);
        break;
    case TERN_BCAST:
        tern_call_bcast(&proof->calls[p], &proof->colls[p], memory, proof->count, proof->type,
                        proof->root);
        if (p == proof->root)
            put_input(proof, p, TERN_RECV_BUFFER, 0, proof->count, 0);
        break;
    case TERN_GATHER:
    case TERN_GATHERV:
    case TERN_ALLGATHER:
    case TERN_ALLGATHERV:
        call_collecting(proof, p);
        break;
    case TERN_SCATTER:
    case TERN_SCATTERV:
        call_scattering(proof, p);
        break;
    case TERN_ALLTOALL:
    case TERN_ALLTOALLV:
    case TERN_ALLTOALLW:
        call_exchange(proof, p);
        break;
    default:
        call_reducing(proof, p);
    }
}

/* --- results --- */

static bool has(const struct proof *proof, int p, int64_t begin, int64_t length, int64_t index,
                int lo, int hi)
{
    return content_has(&proof->ranks[p].buffers[TERN_RECV_BUFFER],
                       (struct piece){(int32_t)begin, (int32_t)(begin + length), (int32_t)(index - begin),
                                      set_of(lo, hi)});
}

static bool collected(const struct proof *proof, int p)
{
    const struct tern_plan_blocks *blocks = &proof->calls[p].blocks;
    for (int r = 0; r < proof->n; r++) {
        int64_t at =
            unequal(proof->collective) ? tern_ints_at(blocks->recv_displs, r) : r * proof->count;
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
    case TERN_BARRIER:
        return true;
    case TERN_BCAST:
        return has(proof, p, 0, count, 0, proof->root, proof->root + 1);
    case TERN_GATHER:
    case TERN_GATHERV:
        return !root || collected(proof, p);
    case TERN_ALLGATHER:
    case TERN_ALLGATHERV:
        return collected(proof, p);
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
    case TERN_ALLTOALLW:
        return exchanged(proof, p);
    case TERN_REDUCE:
        return !root || has(proof, p, 0, count, 0, 0, n);
    case TERN_ALLREDUCE:
        return has(proof, p, 0, count, 0, 0, n);
    case TERN_SCAN:
        return has(proof, p, 0, count, 0, 0, p + 1);
    case TERN_EXSCAN:
        return !p || has(proof, p, 0, count, 0, 0, p);
    default:
        return has(proof, p, 0, block(proof, p, -1), scattered_before(proof, p), 0, n);
    }
}

/* Units of the result; where there is none the receive buffer is not significant. */
static int64_t result_units(const struct proof *proof, int p)
{
    int64_t n = proof->n, count = proof->count, units = 0;
    bool root = p == proof->root;
    switch (proof->collective) {
    case TERN_BARRIER:
        return 0;
    case TERN_BCAST:
    case TERN_ALLREDUCE:
    case TERN_SCAN:
        return count;
    case TERN_SCATTER:
        return root && proof->in_place ? 0 : count;
    case TERN_SCATTERV:
        return root && proof->in_place ? 0 : block(proof, p, -1);
    case TERN_REDUCE:
        return root ? count : 0;
    case TERN_EXSCAN:
        return p ? count : 0;
    case TERN_ALLGATHER:
    case TERN_ALLTOALL:
        return n * count;
    case TERN_GATHER:
        return root ? n * count : 0;
    case TERN_REDUCE_SCATTER:
    case TERN_REDUCE_SCATTER_BLOCK:
        return block(proof, p, -1);
    case TERN_ALLTOALLV:
    case TERN_ALLTOALLW:
        for (int r = 0; r < n; r++)
            units += block(proof, r, p);
        return units;
    default:
        for (int r = 0; r < n && (root || proof->collective == TERN_ALLGATHERV); r++)
            units += block(proof, r, -1);
        return units;
    }
}

/* The result is right; is nothing else written to the receive buffer? In place the input stands
 * there. */
static bool nothing_else(const struct proof *proof, int p)
{
    const struct content *content = &proof->ranks[p].buffers[TERN_RECV_BUFFER];
    int64_t units = 0;
    for (int i = 0; i < content->count; i++)
        units += content->pieces[i].end - content->pieces[i].begin;
    return proof->calls[p].args.in_place || units == result_units(proof, p);
}

/* --- how ranks stand on nodes, and by what the parts of a plan are chosen --- */

static int node_of(int layout, int rank, int n)
{
    switch (layout) {
    case 1:
    case 2:
    case 3: return rank / (layout + 1);          /* blocks of 2, 3, 4, and a rest */
    case 4: return rank / 11;                    /* of 11 */
    case 5: return rank % 9 / 4 + rank / 9 * 3;  /* of 4, 4, 1, 4, 4, 1 ... */
    case 6: return rank % 3;                     /* dealt to three */
    case 7: return rank % (n / 2 ? n / 2 : 1);   /* two or three on each, dealt */
    case 8: return 0;                            /* on one */
    case 9: return rank;                         /* each on its own */
    default: return (int)(rank * 2654435761u >> 7) % 5; /* anyhow */
    }
}

static struct tern_topology *topology_of(int layout, int n)
{
    int32_t *ids = malloc((size_t)n * sizeof *ids);
    for (int r = 0; r < n; r++)
        ids[r] = node_of(layout, r, n);
    struct tern_topology *topology = tern_topology_make(n, ids);
    free(ids);
    return topology;
}

/* Latency, overhead, bytes or work matter most; different numbers of network cards. */
static struct tern_model model_of(const struct proof *proof)
{
    static const struct tern_wire wires[][2] = {
        {{100, 50, 0.1, 1000}, {4000, 600, 0.4, 8000}},
        {{1, 1, 100, 1}, {1, 1, 400, 1}},
        {{1, 900, 1, 1}, {1, 9000, 1, 1}},
        {{900, 1, 1, 1}, {9000, 1, 1, 1}},
        {{900, 1, 9, 1}, {90, 9, 9, 1}},
    };
    int64_t i = (proof->n + proof->count + proof->root + proof->layout) % 5;
    return (struct tern_model){
        .node = wires[i][0],
        .network = wires[i][1],
        .package = {wires[i][0].latency_ns, wires[i][0].gap_ns},
        .machine = {wires[i][0].latency_ns, wires[i][0].gap_ns},
        .reduce_gap_ns = 1,
        .copy_gap_ns = i == 4 ? 100 : 1,
        .switch_ns = 1000,
        .switch_crowded_ns = 2000,
        .cold_ns = 50,
        .cache_bytes = 1 << 20,
        .cores_per_cache = 64,
        .cores_per_package = 64,
        .ranks_per_node = 1,
        .cores_per_node = 64,
        .nics_per_node = 1 + i,
        .eager_bytes = 16384,
    };
}

/* The ranks of each node share a board. */
static void find_mates(struct proof *proof)
{
    const struct tern_topology *topology = proof->topology;
    proof->mates = malloc((size_t)proof->n * sizeof *proof->mates);
    for (int p = 0; p < proof->n && topology; p++) {
        const struct tern_node *node = &topology->node[tern_topology_node(topology, p)];
        proof->ranks[p].mates = proof->mates + node->before;
        proof->ranks[p].mate_count = node->size;
        proof->mates[node->before + tern_topology_local_rank(topology, p)] = p;
    }
}

/* So that pipelines have many segments, of n blocks up to four times as many as may be in flight. */
static int64_t segment_bytes(const struct proof *proof)
{
    int64_t least = proof->count > 200 ? 150 : 2;
    enum tern_collective c = proof->collective;
    bool blocks = c != TERN_BCAST && c != TERN_REDUCE && c != TERN_ALLREDUCE && c != TERN_SCAN && c != TERN_EXSCAN;
    int64_t wanted = blocks ? proof->n * proof->count / (4 * TERN_PLAN_WINDOW) : 0;
    return wanted > least ? wanted : least;
}

static void begin_proof(struct proof *proof)
{
    size_t n = (size_t)proof->n;
    sets_forget();
    proof->colls = calloc(n, sizeof *proof->colls);
    proof->calls = calloc(n, sizeof *proof->calls);
    proof->ranks = calloc(n, sizeof *proof->ranks);
    proof->counts = malloc(2 * n * n * sizeof *proof->counts + 1);
    proof->displs = malloc(2 * n * n * sizeof *proof->displs + 1);
    proof->type = (proof->n + proof->root + proof->count) % 2 ? &gap_type : &tern_type_bytes;
    if (proof->collective == TERN_ALLTOALLW)
        proof->type = &tern_type_bytes;
    find_mates(proof);
    for (int p = 0; p < proof->n; p++) {
        proof->colls[p].rank = p;
        proof->colls[p].size = proof->n;
        proof->colls[p].ranks_per_node = proof->n;
        make_call(proof, p);
        proof->calls[p].args.topology = proof->topology;
        proof->calls[p].args.node_sheet =
            proof->topology ? tern_coll_sheet_for(proof->topology->largest) : 0;
        proof->calls[p].args.model = &proof->model;
        proof->calls[p].args.order = proof->order;
        proof->calls[p].args.sheet = proof->without_board || proof->ranks[p].mate_count == 1 ? 0 : 4096;
        proof->calls[p].args.segment_bytes = segment_bytes(proof);
        if (proof->collective == TERN_REDUCE_SCATTER && !strcmp(proof->algorithm->name, "board"))
            proof->calls[p].args.segment_bytes = proof->n + 3; /* all blocks are in a post */
    }
}

static void end_proof(struct proof *proof)
{
    for (int p = 0; p < proof->n; p++)
        symbolic_release(&proof->ranks[p]);
    free(proof->colls);
    free(proof->calls);
    free(proof->ranks);
    free(proof->mates);
    free(proof->counts);
    free(proof->displs);
    tern_topology_free(proof->topology);
}

/* Steps are made once, as long as all ranks' together do not need too much memory. */
enum { STEPS_AT_ONCE = 1 << 19 };

/* Of many ranks some plans are read. */
static const char *read_plan(const struct proof *proof, int p)
{
    int n = proof->n;
    bool wanted = n <= 128 || p < 3 || p > n - 3 || p % 61 == 0;
    return wanted ? plan_read(proof->ranks[p].plan) : NULL;
}

/* Plans that nobody alters are read as soon as they are built, while they are in the caches. */
static void build_plans(struct proof *proof)
{
    int64_t steps = 0;
    for (int p = 0; p < proof->n; p++) {
        struct tern_plan *plan = proof->ranks[p].plan = tern_plan_build(proof->algorithm, &proof->calls[p].args);
        steps += plan->step_count;
        if (steps <= STEPS_AT_ONCE)
            plan_flatten(plan, 0);
        if (!proof->alter && !proof->fault)
            proof->fault = read_plan(proof, p);
    }
    if (proof->alter)
        proof->alter(proof->ranks, proof->n, proof->how);
    for (int p = 0; p < proof->n && proof->alter && !proof->fault; p++)
        proof->fault = read_plan(proof, p);
}

/* Nobody may leave a barrier that somebody has not entered. */
static const char *prove_barrier(struct proof *proof)
{
    int step = proof->n <= 64 ? 1 : 61;
    for (int late = 0; late < proof->n; late += step) {
        const char *fault = symbolic_run_without(proof->ranks, proof->n, late);
        if (fault)
            return fault;
    }
    return NULL;
}

/* Begins a case; false: it cannot be done. */
static bool prepare_case(struct proof *proof)
{
    proof->model = model_of(proof);
    if (proof->layout)
        proof->topology = topology_of(proof->layout, proof->n);
    begin_proof(proof);
    return !proof->algorithm->fits || proof->algorithm->fits(&proof->calls[0].args);
}

/* Begins a case and builds its plans; false: it cannot be done. */
static bool begin_case(struct proof *proof)
{
    if (!prepare_case(proof))
        return false;
    build_plans(proof);
    return true;
}

/* Runs the plans. */
static const char *fault_of_run(struct proof *proof)
{
    const char *fault = proof->collective == TERN_BARRIER ? prove_barrier(proof) : NULL;
    if (!fault)
        fault = symbolic_run(proof->ranks, proof->n, proof_reduces(proof->collective) && !proof->commutative);
    for (int p = 0; p < proof->n && !fault; p++) {
        if (!right(proof, p))
            fault = "a wrong result";
        else if (!nothing_else(proof, p))
            fault = "more than the result is written";
    }
    return fault;
}

static const char *fault_of_case(struct proof *proof)
{
    return proof->fault ? proof->fault : fault_of_run(proof);
}

const char *proof_fault(struct proof proof)
{
    const char *fault = begin_case(&proof) ? fault_of_case(&proof) : NULL;
    end_proof(&proof);
    return fault;
}

bool proof_begin(struct proof *proof)
{
    if (!begin_case(proof))
        return false;
    proof->inputs = calloc((size_t)proof->n, sizeof *proof->inputs);
    for (int p = 0; p < proof->n; p++)
        for (int b = 0; b < PROOF_INPUTS; b++)
            content_copy(&proof->inputs[p][b], &proof->ranks[p].buffers[b]);
    return true;
}

const char *proof_fault_again(struct proof *proof, int rank)
{
    for (int p = 0; p < proof->n; p++)
        for (int b = 0; b < TERN_BUFFERS; b++)
            content_copy(&proof->ranks[p].buffers[b],
                         b < PROOF_INPUTS ? &proof->inputs[p][b] : &(struct content){0});
    const char *fault = plan_read(proof->ranks[rank].plan);
    return fault ? fault : fault_of_run(proof);
}

void proof_end(struct proof *proof)
{
    for (int p = 0; p < proof->n && proof->inputs; p++)
        for (int b = 0; b < PROOF_INPUTS; b++)
            content_release(&proof->inputs[p][b]);
    free(proof->inputs);
    end_proof(proof);
}

static void say(const struct proof *proof, const char *fault)
{
    ck_assert_msg(!fault, "%s %s: %s (%d ranks, layout %d%s, count %ld, root %d%s%s)",
                  tern_plan_collective_name(proof->collective), proof->algorithm->name, fault,
                  proof->n, proof->layout, proof->without_board ? " without boards" : "", (long)proof->count, proof->root,
                  proof->in_place ? ", in place" : "",
                  proof->commutative ? "" : ", in order");
}

/* Are the plans that would be built for `proof` those of `other`? One at a time, for the next one takes its memory. */
static bool same_plans(const struct proof *proof, const struct proof *other)
{
    bool same = true;
    for (int p = 0; p < proof->n && same; p++) {
        struct tern_plan *plan = tern_plan_build(proof->algorithm, &proof->calls[p].args);
        same = plan_same(plan, other->ranks[p].plan);
        tern_plan_release(plan);
    }
    return same;
}

/* What is right in the order of ranks is right in any: of a commutative operation only plans that are others than
 * those of one that is not are read and run. */
static void prove_reduction(struct proof proof)
{
    struct proof ordered = proof;
    ordered.commutative = false;
    proof.commutative = true;
    bool fits_ordered = begin_case(&ordered);
    say(&ordered, fits_ordered ? fault_of_case(&ordered) : NULL);
    if (prepare_case(&proof) && !(fits_ordered && same_plans(&proof, &ordered))) {
        build_plans(&proof);
        say(&proof, fault_of_case(&proof));
    }
    end_proof(&proof);
    end_proof(&ordered);
}

static void prove(struct proof proof)
{
    if (proof_reduces(proof.collective))
        prove_reduction(proof);
    else
        say(&proof, proof_fault(proof));
}

static void prove_layouts(struct proof proof)
{
    if (!proof_wants_nodes(proof.algorithm)) {
        prove(proof);
        return;
    }
    static const int in_short_run[] = {3, 5, 6};
    bool all = getenv("TERN_TEST_LONG") || proof.n <= 16;
    for (proof.layout = 1; proof.layout < PROOF_LAYOUTS; proof.layout++)
        for (int board = 0; board < 2; board++) {
            bool boards_turn = (proof.n + proof.count + proof.root + proof.in_place + board) % 2;
            proof.without_board = !board;
            if (all || (proof.layout == in_short_run[proof.n % 3] && boards_turn))
                prove(proof);
        }
}

static void prove_forms(struct proof proof)
{
    proof.commutative = true;
    prove_layouts(proof);
    proof.in_place = true;
    if (proof_has_in_place(proof.collective))
        prove_layouts(proof);
}

void prove_counts(struct proof proof, const int64_t *counts, int how_many)
{
    for (int i = 0; i < how_many; i++) {
        proof.count = counts[i];
        if ((i && counts[i] <= counts[i - 1]) || (proof.collective == TERN_BARRIER && i))
            continue;
        prove_forms(proof);
    }
}
