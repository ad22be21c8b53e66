/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Every algorithm of every collective, all ranks of it, without processes: the real executor over
 * simulated messages.
 *
 * Sends are synchronous, so whatever gets through here cannot lock up under any protocol. Elements
 * carry where they come from: moved ones are compared with what must stand there; contributions to
 * a sum are random numbers (a part counted twice or not at all shows), and where order matters they
 * are spans of ranks that only add up side by side, lower one left. Apart from that each plan is
 * read for races: a step may not touch what an earlier one may still be reading or writing, as far
 * as the plan's own dependencies go.
 */
#include "lib/type/layout.h"
#include "lib/util/param.h"
#include "plan_check.h"
#include "sim_pml.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- spans of ranks: word 0 is {lo, hi}, word 1 (at the type's second place) the sum of values ---
 */

struct span {
    int32_t lo, hi; /* ranks lo .. hi - 1 */
    uint64_t sum;
};

static int64_t second_word(const struct tern_type *type)
{
    return type == &gappy_type ? 16 : 8;
}

static struct span get_span(const char *base, const struct tern_type *type, int64_t i)
{
    struct span span;
    memcpy(&span, base + i * type->extent, 8);
    memcpy(&span.sum, base + i * type->extent + second_word(type), 8);
    return span;
}

static void put_span(char *base, const struct tern_type *type, int64_t i, struct span span)
{
    memcpy(base + i * type->extent, &span, 8);
    memcpy(base + i * type->extent + second_word(type), &span.sum, 8);
}

static void join_spans(const struct tern_reduction *reduction, const void *in, void *inout,
                       int64_t count)
{
    const struct tern_type *type = reduction->datatype;
    for (int64_t i = 0; i < count; i++) {
        struct span a = get_span(in, type, i), b = get_span(inout, type, i);
        bool side_by_side = a.hi == b.lo && a.lo < a.hi && b.lo < b.hi;
        put_span(inout, type, i,
                 side_by_side ? (struct span){a.lo, b.hi, a.sum + b.sum}
                              : (struct span){-1, -1, 0});
    }
}

static const struct tern_type span_type = {
    .size = 16,
    .extent = 16,
    .true_extent = 16,
    .elements = 2,
    .alignment = 8,
    .basic = TERN_BASIC_UINT64,
    .gapless = true,
    .contiguous = true,
    .committed = true,
};

/* --- one case --- */

struct job {
    enum tern_collective collective;
    const struct tern_algorithm *algorithm;
    int n, m; /* sizes of the groups; m = 0: one group */
    int64_t count;
    int root; /* in the first group, which has the root where there are two */
    bool in_place, commutative, gappy;
    enum sim_way way;
    int64_t segment_bytes;
    struct sim *sim;
    struct tern_call *calls;
    char **sends, **recvs, **copies; /* per process; copies: of the send buffers */
    int64_t *lengths;                /* of the send buffers, elements */
    int32_t **arrays;                /* counts and displacements, freed in the end */
    int array_count;
};

static const struct tern_type *moved_type(const struct job *job)
{
    return job->gappy ? &gappy_type : &u64_type;
}

static const struct tern_type *operand_type(const struct job *job)
{
    return job->gappy ? &gappy_type : job->commutative ? &u64_type : &span_type;
}

static int group_of(const struct job *job, int process)
{
    return process >= job->n;
}

static int rank_of(const struct job *job, int process)
{
    return process - (group_of(job, process) ? job->n : 0);
}

/* Of the group that `process` gets from: the other one, or its own. */
static int size_there(const struct job *job, int process)
{
    return !job->m || group_of(job, process) ? job->n : job->m;
}

static int first_there(const struct job *job, int process)
{
    return !job->m || group_of(job, process) ? 0 : job->n;
}

static int size_here(const struct job *job, int process)
{
    return group_of(job, process) ? job->m : job->n;
}

static int root_for(const struct job *job, int process)
{
    if (!job->m || group_of(job, process))
        return job->root;
    return rank_of(job, process) == job->root ? TERN_ROOT_ME : TERN_ROOT_BESIDE_ME;
}

static bool is_root(const struct job *job, int process)
{
    return process == job->root;
}

/* Length of what process a sends process b in v forms. */
static int64_t varying(const struct job *job, int a, int b)
{
    return job->count ? (job->count * (a + 2 * b + 1)) % (2 * job->count + 1) : 0;
}

static struct tern_ints new_array(struct job *job, int length)
{
    job->arrays = realloc(job->arrays, (size_t)(job->array_count + 1) * sizeof *job->arrays);
    int32_t *array = malloc((size_t)(length ? length : 1) * sizeof *array);
    job->arrays[job->array_count++] = array;
    return (struct tern_ints){array, 4};
}

/* Displacements for counts: last block first, an element of space between. Returns the length. */
static int64_t displace(struct tern_ints counts, struct tern_ints displs, int length, int64_t unit)
{
    int64_t at = 0;
    for (int r = length - 1; r >= 0; r--) {
        ((int32_t *)displs.values)[r] = (int32_t)(at * unit);
        at += tern_ints_at(counts, r) + 1;
    }
    return at;
}

static char *new_send(struct job *job, int process, int64_t length, const struct tern_type *type)
{
    job->lengths[process] = length;
    return job->sends[process] = new_elements(type, length);
}

static char *new_recv(struct job *job, int process, int64_t length, const struct tern_type *type)
{
    return job->recvs[process] = new_elements(type, length);
}

static void keep_sends(struct job *job, const struct tern_type *type)
{
    for (int p = 0; p < job->sim->processes; p++) {
        if (!job->sends[p])
            continue;
        job->copies[p] = new_elements(type, job->lengths[p]);
        memcpy(job->copies[p], job->sends[p], (size_t)(job->lengths[p] * type->extent));
    }
}

/* --- reading the plans by themselves --- */

static const char *read_plans(struct job *job)
{
    for (int p = 0; p < job->sim->processes; p++) {
        struct tern_plan *plan = tern_plan_build(job->algorithm, &job->calls[p].args);
        const char *fault = plan_read(plan);
        tern_plan_release(plan);
        if (fault)
            return fault;
    }
    return NULL;
}

/* --- calls and what must come of them, per collective --- */

static void call_bcast(struct job *job, int p)
{
    const struct tern_type *type = moved_type(job);
    /* Others may see the same words as twice as many elements without gaps. */
    bool words = job->gappy && p % 2 == 1;
    char *buf = new_recv(job, p, 2 * job->count, type);
    if (is_root(job, p))
        for (int64_t i = 0; i < job->count; i++) {
            put(buf, type, i, value(job->root, 0, i));
            if (words) {
                uint64_t pair[2] = {value(job->root, 0, i), ~value(job->root, 0, i)};
                memcpy(buf + i * 16, pair, 16);
            }
        }
    tern_call_bcast(&job->calls[p], &job->sim->colls[p], buf, words ? 2 * job->count : job->count,
                    words ? &u64_type : type, root_for(job, p));
}

static bool check_bcast(struct job *job, int p)
{
    bool words = job->gappy && p % 2 == 1;
    if (root_for(job, p) == TERN_ROOT_BESIDE_ME)
        return true;
    for (int64_t i = 0; i < job->count; i++) {
        uint64_t x = value(job->root, 0, i);
        if (!words ? !is(job->recvs[p], moved_type(job), i, x)
                   : !is(job->recvs[p], &u64_type, 2 * i, x) ||
                         !is(job->recvs[p], &u64_type, 2 * i + 1, ~x))
            return false;
    }
    return true;
}

static int64_t own_length(const struct job *job, int p)
{
    bool v = job->collective == TERN_GATHERV || job->collective == TERN_SCATTERV ||
             job->collective == TERN_ALLGATHERV;
    return v ? varying(job, p, 0) : job->count;
}

static char *new_own_block(struct job *job, int p)
{
    const struct tern_type *type = moved_type(job);
    char *send = new_send(job, p, own_length(job, p), type);
    for (int64_t i = 0; i < own_length(job, p); i++)
        put(send, type, i, value(p, 0, i));
    return send;
}

/* Counts and displacements of own blocks of everybody over there. */
static int64_t own_blocks(struct job *job, int p, struct tern_ints *counts,
                          struct tern_ints *displs)
{
    int size = size_there(job, p), first = first_there(job, p);
    *counts = new_array(job, size);
    *displs = new_array(job, size);
    for (int r = 0; r < size; r++)
        ((int32_t *)counts->values)[r] = (int32_t)own_length(job, first + r);
    return displace(*counts, *displs, size, 1);
}

static bool check_collected(struct job *job, int p, struct tern_ints displs)
{
    const struct tern_type *type = moved_type(job);
    int size = size_there(job, p), first = first_there(job, p);
    for (int r = 0; r < size; r++)
        for (int64_t i = 0; i < own_length(job, first + r); i++) {
            int64_t at = (displs.values ? tern_ints_at(displs, r) : r * job->count) + i;
            if (!is(job->recvs[p], type, at, value(first + r, 0, i)))
                return false;
        }
    return true;
}

static bool check_gathered(struct job *job, int p)
{
    bool v = job->collective == TERN_GATHERV || job->collective == TERN_ALLGATHERV;
    if ((job->collective == TERN_GATHER || job->collective == TERN_GATHERV) && !is_root(job, p))
        return true;
    return check_collected(job, p,
                           v ? job->calls[p].blocks.recv_displs : (struct tern_ints){NULL, 4});
}

static const void *in_place_block(struct job *job, int p, int64_t at)
{
    const struct tern_type *type = moved_type(job);
    for (int64_t i = 0; i < own_length(job, p); i++)
        put(job->recvs[p], type, at + i, value(p, 0, i));
    return MPI_IN_PLACE;
}

static void call_gather(struct job *job, int p)
{
    const struct tern_type *type = moved_type(job);
    char *recv = is_root(job, p) ? new_recv(job, p, size_there(job, p) * job->count, type) : NULL;
    const void *send = is_root(job, p) && job->in_place ? in_place_block(job, p, p * job->count)
                                                        : new_own_block(job, p);
    tern_call_gather(&job->calls[p], &job->sim->colls[p], send, job->count, type, recv, job->count,
                     type, root_for(job, p));
}

static void call_gatherv(struct job *job, int p)
{
    const struct tern_type *type = moved_type(job);
    struct tern_ints counts = {NULL, 4}, displs = {NULL, 4};
    char *recv =
        is_root(job, p) ? new_recv(job, p, own_blocks(job, p, &counts, &displs), type) : NULL;
    const void *send = is_root(job, p) && job->in_place
                           ? in_place_block(job, p, tern_ints_at(displs, p))
                           : new_own_block(job, p);
    tern_call_gatherv(&job->calls[p], &job->sim->colls[p], send, own_length(job, p), type, recv,
                      counts, displs, type, root_for(job, p));
}

static void call_allgather(struct job *job, int p)
{
    const struct tern_type *type = moved_type(job);
    char *recv = new_recv(job, p, size_there(job, p) * job->count, type);
    const void *send =
        job->in_place ? in_place_block(job, p, p * job->count) : new_own_block(job, p);
    tern_call_allgather(&job->calls[p], &job->sim->colls[p], send, job->count, type, recv,
                        job->count, type);
}

static void call_allgatherv(struct job *job, int p)
{
    const struct tern_type *type = moved_type(job);
    struct tern_ints counts, displs;
    char *recv = new_recv(job, p, own_blocks(job, p, &counts, &displs), type);
    const void *send =
        job->in_place ? in_place_block(job, p, tern_ints_at(displs, p)) : new_own_block(job, p);
    tern_call_allgatherv(&job->calls[p], &job->sim->colls[p], send, own_length(job, p), type, recv,
                         counts, displs, type);
}

static char *new_handed_out(struct job *job, int p, struct tern_ints displs, int64_t length)
{
    const struct tern_type *type = moved_type(job);
    int first = first_there(job, p);
    char *send = new_send(job, p, length, type);
    for (int r = 0; r < size_there(job, p); r++)
        for (int64_t i = 0; i < own_length(job, first + r); i++)
            put(send, type, (displs.values ? tern_ints_at(displs, r) : r * job->count) + i,
                value(first + r, 0, i));
    return send;
}

static void call_scatter(struct job *job, int p)
{
    const struct tern_type *type = moved_type(job);
    char *send = is_root(job, p) ? new_handed_out(job, p, (struct tern_ints){NULL, 4},
                                                  size_there(job, p) * job->count)
                                 : NULL;
    void *recv = is_root(job, p) && job->in_place ? MPI_IN_PLACE
                                                  : (void *)new_recv(job, p, job->count, type);
    tern_call_scatter(&job->calls[p], &job->sim->colls[p], send, job->count, type, recv, job->count,
                      type, root_for(job, p));
}

static void call_scatterv(struct job *job, int p)
{
    const struct tern_type *type = moved_type(job);
    struct tern_ints counts = {NULL, 4}, displs = {NULL, 4};
    char *send = NULL;
    if (is_root(job, p)) {
        int64_t length = own_blocks(job, p, &counts, &displs);
        send = new_handed_out(job, p, displs, length);
    }
    void *recv = is_root(job, p) && job->in_place
                     ? MPI_IN_PLACE
                     : (void *)new_recv(job, p, own_length(job, p), type);
    tern_call_scatterv(&job->calls[p], &job->sim->colls[p], send, counts, displs, type, recv,
                       own_length(job, p), type, root_for(job, p));
}

static bool check_scattered(struct job *job, int p)
{
    if ((job->m && !group_of(job, p)) || (is_root(job, p) && job->in_place))
        return true;
    for (int64_t i = 0; i < own_length(job, p); i++)
        if (!is(job->recvs[p], moved_type(job), i, value(p, 0, i)))
            return false;
    return true;
}

/* --- all to all: from p to q varying(p, q) elements; in place symmetric --- */

static int64_t exchanged(const struct job *job, int p, int q)
{
    if (job->collective == TERN_ALLTOALL)
        return job->count;
    return job->in_place ? varying(job, p < q ? p : q, p < q ? q : p) : varying(job, p, q);
}

static void exchange_arrays(struct job *job, int p, bool sends, struct tern_ints *counts,
                            struct tern_ints *displs, int64_t unit, int64_t *ret_length)
{
    int size = size_there(job, p), first = first_there(job, p);
    *counts = new_array(job, size);
    *displs = new_array(job, size);
    for (int r = 0; r < size; r++)
        ((int32_t *)counts->values)[r] =
            (int32_t)(sends ? exchanged(job, p, first + r) : exchanged(job, first + r, p));
    *ret_length = displace(*counts, *displs, size, unit);
}

static void fill_exchanged(struct job *job, int p, char *base, const int32_t *displs, int64_t unit)
{
    int first = first_there(job, p);
    for (int r = 0; r < size_there(job, p); r++)
        for (int64_t i = 0; i < exchanged(job, p, first + r); i++)
            put(base, moved_type(job), displs[r] / unit + i, value(p, first + r, i));
}

static const struct tern_type *const *types_array(struct job *job, int p)
{
    static const struct tern_type *types[2][256];
    for (int r = 0; r < size_there(job, p); r++)
        types[job->gappy][r] = moved_type(job);
    return types[job->gappy];
}

static void call_alltoall(struct job *job, int p)
{
    const struct tern_type *type = moved_type(job);
    struct tern_coll *coll = &job->sim->colls[p];
    int64_t unit = job->collective == TERN_ALLTOALLW ? type->extent : 1, length;
    struct tern_ints counts[2], displs[2];
    exchange_arrays(job, p, false, &counts[1], &displs[1], unit, &length);
    char *recv = new_recv(job, p, length, type);
    exchange_arrays(job, p, true, &counts[0], &displs[0], unit, &length);
    if (job->collective == TERN_ALLTOALL)
        for (int r = 0; r < size_there(job, p); r++)
            ((int32_t *)displs[0].values)[r] = ((int32_t *)displs[1].values)[r] =
                (int32_t)(r * job->count);
    char *send = job->in_place ? recv : new_send(job, p, length, type);
    fill_exchanged(job, p, send, displs[0].values, unit);
    const void *sendbuf = job->in_place ? MPI_IN_PLACE : send;
    if (job->collective == TERN_ALLTOALL)
        tern_call_alltoall(&job->calls[p], coll, sendbuf, job->count, type, recv, job->count, type);
    else if (job->collective == TERN_ALLTOALLV)
        tern_call_alltoallv(&job->calls[p], coll, sendbuf, counts[0], displs[0], type, recv,
                            counts[1], displs[1], type);
    else
        tern_call_alltoallw(&job->calls[p], coll, sendbuf, counts[0], displs[0],
                            types_array(job, p), recv, counts[1], displs[1], types_array(job, p));
}

static bool check_exchanged(struct job *job, int p)
{
    const struct tern_type *type = moved_type(job);
    int first = first_there(job, p);
    struct tern_ints displs = job->calls[p].blocks.recv_displs;
    int64_t unit = job->collective == TERN_ALLTOALLW ? type->extent : 1;
    for (int r = 0; r < size_there(job, p); r++)
        for (int64_t i = 0; i < exchanged(job, first + r, p); i++) {
            int64_t at =
                job->collective == TERN_ALLTOALL ? r * job->count : tern_ints_at(displs, r) / unit;
            if (!is(job->recvs[p], type, at + i, value(first + r, p, i)))
                return false;
        }
    return true;
}

/* --- reductions --- */

static struct tern_reduction reduction_of(const struct job *job)
{
    const struct tern_type *type = operand_type(job);
    return (struct tern_reduction){
        .loop = type == &u64_type ? tern_reduce_find(TERN_REDUCE_SUM, type) : NULL,
        .commutative = job->commutative,
        .apply = join_spans,
        .datatype = (void *)type,
    };
}

/* Spans only join in order: with gaps and commutative, the values are words that add up
 * (join_words). */
static void join_words(const struct tern_reduction *reduction, const void *in, void *inout,
                       int64_t count)
{
    const struct tern_type *type = reduction->datatype;
    for (int64_t i = 0; i < count; i++) {
        struct span a = get_span(in, type, i), b = get_span(inout, type, i);
        put_span(inout, type, i, (struct span){a.lo + b.lo, a.hi + b.hi, a.sum + b.sum});
    }
}

static void put_operand(const struct job *job, int p, char *base, int64_t i)
{
    const struct tern_type *type = operand_type(job);
    if (type == &u64_type)
        put(base, type, i, value(p, 0, i));
    else if (job->commutative)
        put_span(base, type, i, (struct span){1, p, value(p, 0, i)});
    else
        put_span(base, type, i,
                 (struct span){rank_of(job, p), rank_of(job, p) + 1, value(p, 0, i)});
}

/* Is element `at` the sum of element i of processes first .. first + count - 1? */
static bool is_sum(const struct job *job, const char *base, int64_t at, int64_t i, int first,
                   int count)
{
    const struct tern_type *type = operand_type(job);
    uint64_t sum = 0;
    int32_t names = 0;
    for (int p = first; p < first + count; p++) {
        sum += value(p, 0, i);
        names += p;
    }
    if (type == &u64_type)
        return is(base, type, at, sum);
    struct span span = get_span(base, type, at);
    if (job->commutative)
        return span.lo == count && span.hi == names && span.sum == sum;
    int lowest = rank_of(job, first);
    return span.lo == lowest && span.hi == lowest + count && span.sum == sum;
}

/* Length of rank r's block in its group; of two groups both have the same total, n * m * count. */
static int64_t block_length(const struct job *job, int process, int r)
{
    int64_t there = job->m ? size_there(job, process) : 1, here = size_here(job, process);
    if (job->collective == TERN_REDUCE_SCATTER_BLOCK)
        return there * job->count;
    if (!job->m)
        return varying(job, r, 0);
    int64_t odd = here / 2 * job->count; /* one count for each odd rank, the rest for rank 0 */
    return r == 0 ? here * there * job->count - odd : r % 2 ? job->count : 0;
}

static int64_t blocks_before(const struct job *job, int process, int r)
{
    int64_t length = 0;
    for (int q = 0; q < r; q++)
        length += block_length(job, process, q);
    return length;
}

static bool scatters(const struct job *job)
{
    return job->collective == TERN_REDUCE_SCATTER || job->collective == TERN_REDUCE_SCATTER_BLOCK;
}

static void call_reduction(struct job *job, int p)
{
    const struct tern_type *type = operand_type(job);
    struct tern_coll *coll = &job->sim->colls[p];
    struct tern_call *call = &job->calls[p];
    struct tern_reduction reduction = reduction_of(job);
    if (job->commutative && !reduction.loop)
        reduction.apply = join_words;
    int64_t length = scatters(job) ? blocks_before(job, p, size_here(job, p)) : job->count;
    bool in_place = job->in_place && (job->collective != TERN_REDUCE || is_root(job, p));
    bool has_result = job->collective != TERN_REDUCE || is_root(job, p);
    char *recv = has_result ? new_recv(job, p, length, type) : NULL;
    char *send = in_place ? recv : new_send(job, p, length, type);
    for (int64_t i = 0; i < length; i++)
        put_operand(job, p, send, i);
    const void *sendbuf = in_place ? MPI_IN_PLACE : send;
    struct tern_ints counts = new_array(job, size_here(job, p));
    for (int r = 0; r < size_here(job, p); r++)
        ((int32_t *)counts.values)[r] = (int32_t)block_length(job, p, r);
    switch (job->collective) {
    case TERN_REDUCE:
        tern_call_reduce(call, coll, sendbuf, recv, job->count, type, &reduction, root_for(job, p));
        break;
    case TERN_ALLREDUCE:
        tern_call_allreduce(call, coll, sendbuf, recv, job->count, type, &reduction);
        break;
    case TERN_REDUCE_SCATTER:
        tern_call_reduce_scatter(call, coll, sendbuf, recv, counts, type, &reduction);
        break;
    case TERN_REDUCE_SCATTER_BLOCK:
        tern_call_reduce_scatter_block(call, coll, sendbuf, recv, block_length(job, p, 0), type,
                                       &reduction);
        break;
    case TERN_SCAN: tern_call_scan(call, coll, sendbuf, recv, job->count, type, &reduction); break;
    default: tern_call_exscan(call, coll, sendbuf, recv, job->count, type, &reduction);
    }
}

static bool check_reduction(struct job *job, int p)
{
    int first = first_there(job, p), count = size_there(job, p);
    int64_t length = job->count, offset = 0;
    if (job->collective == TERN_REDUCE && !is_root(job, p))
        return true;
    if (job->collective == TERN_SCAN)
        count = p + 1;
    if (job->collective == TERN_EXSCAN && (count = p) == 0)
        return true;
    if (scatters(job)) {
        offset = blocks_before(job, p, rank_of(job, p));
        length = block_length(job, p, rank_of(job, p));
    }
    for (int64_t i = 0; i < length; i++)
        if (!is_sum(job, job->recvs[p], i, offset + i, first, count))
            return false;
    return true;
}

static void call_barrier(struct job *job, int p)
{
    tern_call_barrier(&job->calls[p], &job->sim->colls[p]);
}

static bool check_nothing(struct job *job, int p)
{
    (void)job, (void)p;
    return true;
}

static const struct {
    void (*call)(struct job *job, int p);
    bool (*check)(struct job *job, int p);
    bool rooted, reduces, inter, in_place;
} kinds[TERN_COLLECTIVES] = {
    [TERN_BARRIER] = {call_barrier, check_nothing, false, false, true, false},
    [TERN_BCAST] = {call_bcast, check_bcast, true, false, true, false},
    [TERN_GATHER] = {call_gather, check_gathered, true, false, true, true},
    [TERN_GATHERV] = {call_gatherv, check_gathered, true, false, true, true},
    [TERN_SCATTER] = {call_scatter, check_scattered, true, false, true, true},
    [TERN_SCATTERV] = {call_scatterv, check_scattered, true, false, true, true},
    [TERN_ALLGATHER] = {call_allgather, check_gathered, false, false, true, true},
    [TERN_ALLGATHERV] = {call_allgatherv, check_gathered, false, false, true, true},
    [TERN_ALLTOALL] = {call_alltoall, check_exchanged, false, false, true, true},
    [TERN_ALLTOALLV] = {call_alltoall, check_exchanged, false, false, true, true},
    [TERN_ALLTOALLW] = {call_alltoall, check_exchanged, false, false, true, true},
    [TERN_REDUCE] = {call_reduction, check_reduction, true, true, true, true},
    [TERN_ALLREDUCE] = {call_reduction, check_reduction, false, true, true, true},
    [TERN_REDUCE_SCATTER] = {call_reduction, check_reduction, false, true, true, true},
    [TERN_REDUCE_SCATTER_BLOCK] = {call_reduction, check_reduction, false, true, true, true},
    [TERN_SCAN] = {call_reduction, check_reduction, false, true, false, true},
    [TERN_EXSCAN] = {call_reduction, check_reduction, false, true, false, true},
};

static void run_job(struct job job)
{
    const char *fault = NULL;
    struct sim *sim = job.sim = sim_new(job.n, job.m);
    int processes = sim->processes;
    job.calls = calloc((size_t)processes, sizeof *job.calls);
    job.sends = calloc((size_t)processes, sizeof *job.sends);
    job.recvs = calloc((size_t)processes, sizeof *job.recvs);
    job.copies = calloc((size_t)processes, sizeof *job.copies);
    job.lengths = calloc((size_t)processes, sizeof *job.lengths);
    for (int p = 0; p < processes; p++)
        kinds[job.collective].call(&job, p);
    job.segment_bytes = (job.count + job.root) % 3 ? 24 : 65536; /* several segments, or one */
    for (int p = 0; p < processes; p++) {
        job.calls[p].args.segment_bytes = job.segment_bytes;
        if (job.m)
            continue; /* the board is for one group */
        job.calls[p].args.sheet = 4096;
        /* never looked into: the sim has its own */
        job.sim->colls[p].board = (struct tern_board){.areas = (char *)job.sim,
                                                      .long_sheets = (char *)job.sim,
                                                      .long_bytes = 4096,
                                                      .rank = p,
                                                      .size = job.n};
        job.sim->colls[p].sheet = 4096;
    }
    bool fits = !job.algorithm->fits || job.algorithm->fits(&job.calls[0].args);
    if (fits) {
        const struct tern_type *type =
            kinds[job.collective].reduces ? operand_type(&job) : moved_type(&job);
        keep_sends(&job, type);
        fault = read_plans(&job);
        tern_coll_forced = job.algorithm;
        int late = job.collective == TERN_BARRIER && job.way == SIM_POLLED ? job.root : -1;
        if (!fault)
            fault = sim_run(sim, job.calls, job.way, late);
        tern_coll_forced = NULL;
        for (int p = 0; p < processes && !fault; p++) {
            if (!kinds[job.collective].check(&job, p))
                fault = "a wrong result";
            else if (job.copies[p] &&
                     memcmp(job.copies[p], job.sends[p], (size_t)(job.lengths[p] * type->extent)))
                fault = "a send buffer was written to";
        }
    }
    ck_assert_msg(!fault, "%s %s: %s (sizes %d and %d, count %ld, root %d, segments of %ld bytes,%s%s%s%s)",
                  tern_plan_collective_name(job.collective), job.algorithm->name, fault, job.n,
                  job.m, (long)job.count, job.root, (long)job.segment_bytes, job.in_place ? " in place" : "",
                  job.commutative ? "" : " in order", job.gappy ? " with gaps" : "",
                  job.way == SIM_BLOCKING ? " blocking" : " polled");
    for (int p = 0; p < processes; p++) {
        free(job.sends[p]);
        free(job.recvs[p]);
        free(job.copies[p]);
    }
    for (int i = 0; i < job.array_count; i++)
        free(job.arrays[i]);
    free(job.arrays);
    free(job.calls);
    free(job.sends);
    free(job.recvs);
    free(job.copies);
    free(job.lengths);
    sim_free(sim);
}

/* --- the grid --- */

static bool thorough(void)
{
    return getenv("TERN_TEST_LONG");
}

static const int sizes[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 11, 12, 13, 15, 16, 17, 31, 32, 33, 64};

static bool in_short_run(int n)
{
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
        if (sizes[i] == n)
            return true;
    return false;
}

/* In place or not, commutative or not, with gaps or not, polled or blocking. Neighbouring shapes get different parts of
 * the combinations: a third of them, or in the long run of the smaller ones every one of the first two with half of the
 * others. What must hold for all plans is proven in prove_plans.c; this shows that the executor does what they say. */
static void run_shape(struct job job)
{
    bool reduces = kinds[job.collective].reduces,
         in_place = kinds[job.collective].in_place && !job.m;
    for (int choice = 0; choice < 16; choice++) {
        job.in_place = choice & 1;
        job.commutative = !(choice & 2);
        job.gappy = choice & 4;
        job.way = choice & 8 ? SIM_BLOCKING : SIM_POLLED;
        if ((job.in_place && !in_place) || (!job.commutative && !reduces) ||
            (job.way == SIM_BLOCKING && !job.m && !in_short_run(job.n)))
            continue;
        int64_t shape = job.n + job.m + job.count + job.root;
        if (thorough() && job.n <= 20 ? ((choice >> 2 ^ choice >> 3) + shape) & 1 : (choice * 5 + shape) % 3)
            continue;
        run_job(job);
    }
}

static void run_counts(struct job job)
{
    int n = job.n + job.m;
    const int64_t counts[] = {0, 1, n - 1, n, n + 1, thorough() ? 1000 : 100};
    for (int c = 0; c < 6; c++) {
        job.count = counts[c];
        if ((c && counts[c] <= counts[c - 1]) || (n > 40 && c > 1 && c != 4 && !thorough()))
            continue;
        if (counts[c] == 1000 && n > 16 && (job.root > 1 || !in_short_run(n)))
            continue; /* a long vector from two roots will do */
        run_shape(job);
    }
}

static void run_roots(struct job job)
{
    int roots = kinds[job.collective].rooted || job.collective == TERN_BARRIER ? job.n : 1;
    for (job.root = 0; job.root < roots; job.root++) {
        bool few = job.root < 2 || job.root == roots / 2 || job.root == roots - 1;
        if (few || (thorough() && roots <= 8))
            run_counts(job);
    }
}

static void run_sizes(struct job job)
{
    if (thorough())
        for (job.n = 1; job.n <= 64; job.n++)
            run_roots(job);
    else
        for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
            job.n = sizes[i];
            run_roots(job);
        }
}

START_TEST(every_algorithm_is_right_for_one_group)
{
    struct job job = {.collective = (enum tern_collective)_i};
    if (!kinds[_i].call)
        return;
    make_gappy_type();
    for (job.algorithm = tern_plan_algorithms(job.collective, false); job.algorithm->name;
         job.algorithm++)
        run_sizes(job);
    tern_type_drop(&gappy_type);
}
END_TEST

START_TEST(every_algorithm_is_right_for_two_groups)
{
    static const int pairs[][2] = {{1, 1}, {1, 2}, {2, 1}, {3, 2},  {2, 3},  {4, 4},
                                   {1, 9}, {7, 5}, {5, 8}, {40, 3}, {3, 40}, {33, 35}};
    struct job job = {.collective = (enum tern_collective)_i};
    if (!kinds[_i].inter)
        return;
    make_gappy_type();
    for (job.algorithm = tern_plan_algorithms(job.collective, true); job.algorithm->name;
         job.algorithm++)
        for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
            job.n = pairs[i][0];
            job.m = pairs[i][1];
            run_roots(job);
        }
    tern_type_drop(&gappy_type);
}
END_TEST

/* People and tools choose among what the parameter names: everything that there is, and nothing else. */
START_TEST(every_algorithm_is_a_choice_of_its_parameter)
{
    char name[64], choice[64];
    snprintf(name, sizeof name, "coll_%s_algorithm", tern_plan_collective_name(_i));
    const struct tern_algorithm *row = tern_plan_algorithms((enum tern_collective)_i, false);
    const struct tern_param *param = tern_param_at(tern_param_index(name), NULL);
    if (!param) {
        ck_assert_msg(!row[1].name, "no parameter chooses among the algorithms of %s", name);
        return;
    }
    int count = 0;
    for (; row->name; row++, count++)
        ck_assert_msg(tern_param_find_choice(name, row->name) > 0, "%s is no choice of %s",
                      row->name, name);
    ck_assert(tern_param_choice_name(param, 0, choice, sizeof choice));
    ck_assert_str_eq(choice, ""); /* by size */
    ck_assert(tern_param_choice_name(param, count, choice, sizeof choice));
    ck_assert(!tern_param_choice_name(param, count + 1, choice, sizeof choice));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("plan");
    TCase *tcase = tcase_create("algorithms");
    tcase_set_timeout(tcase, thorough() ? 3600 : 120);
    tcase_add_loop_test(tcase, every_algorithm_is_right_for_one_group, 0, TERN_COLLECTIVES);
    tcase_add_loop_test(tcase, every_algorithm_is_right_for_two_groups, 0, TERN_COLLECTIVES);
    tcase_add_loop_test(tcase, every_algorithm_is_a_choice_of_its_parameter, 0, TERN_COLLECTIVES);
    suite_add_tcase(suite, tcase);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed != 0;
}
