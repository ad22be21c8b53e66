/* SPDX-License-Identifier: BSD-3-Clause */

/* Collectives that reduce. */
#include "plan_job.h"

#include <mpi.h>
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

const struct tern_type job_span_type = {
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

/* --- reductions --- */

static struct tern_reduction reduction_of(const struct job *job)
{
    const struct tern_type *type = job_operand_type(job);
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
    const struct tern_type *type = job_operand_type(job);
    if (type == &u64_type)
        put(base, type, i, value(p, 0, i));
    else if (job->commutative)
        put_span(base, type, i, (struct span){1, p, value(p, 0, i)});
    else
        put_span(base, type, i,
                 (struct span){job_rank(job, p), job_rank(job, p) + 1, value(p, 0, i)});
}

/* Is element `at` the sum of element i of processes first .. first + count - 1? */
static bool is_sum(const struct job *job, const char *base, int64_t at, int64_t i, int first,
                   int count)
{
    const struct tern_type *type = job_operand_type(job);
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
    int lowest = job_rank(job, first);
    return span.lo == lowest && span.hi == lowest + count && span.sum == sum;
}

/* Length of rank r's block in its group; of two groups both have the same total, n * m * count. */
static int64_t block_length(const struct job *job, int process, int r)
{
    int64_t there = job->m ? job_size_there(job, process) : 1, here = job_size_here(job, process);
    if (job->collective == TERN_REDUCE_SCATTER_BLOCK)
        return there * job->count;
    if (!job->m)
        return job_varying(job, r, 0);
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

void job_call_reduction(struct job *job, int p)
{
    const struct tern_type *type = job_operand_type(job);
    struct tern_coll *coll = &job->sim->colls[p];
    struct tern_call *call = &job->calls[p];
    struct tern_reduction reduction = reduction_of(job);
    if (job->commutative && !reduction.loop)
        reduction.apply = join_words;
    int64_t length = scatters(job) ? blocks_before(job, p, job_size_here(job, p)) : job->count;
    bool in_place = job->in_place && (job->collective != TERN_REDUCE || job_is_root(job, p));
    bool has_result = job->collective != TERN_REDUCE || job_is_root(job, p);
    char *recv = has_result ? job_new_recv(job, p, length, type) : NULL;
    char *send = in_place ? recv : job_new_send(job, p, length, type);
    for (int64_t i = 0; i < length; i++)
        put_operand(job, p, send, i);
    const void *sendbuf = in_place ? MPI_IN_PLACE : send;
    struct tern_ints counts = job_new_array(job, job_size_here(job, p));
    for (int r = 0; r < job_size_here(job, p); r++)
        ((int32_t *)counts.values)[r] = (int32_t)block_length(job, p, r);
    switch (job->collective) {
    case TERN_REDUCE:
        tern_call_reduce(call, coll, sendbuf, recv, job->count, type, &reduction, job_root_for(job, p));
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

bool job_check_reduction(struct job *job, int p)
{
    int first = job_first_there(job, p), count = job_size_there(job, p);
    int64_t length = job->count, offset = 0;
    if (job->collective == TERN_REDUCE && !job_is_root(job, p))
        return true;
    if (job->collective == TERN_SCAN)
        count = p + 1;
    if (job->collective == TERN_EXSCAN && (count = p) == 0)
        return true;
    if (scatters(job)) {
        offset = blocks_before(job, p, job_rank(job, p));
        length = block_length(job, p, job_rank(job, p));
    }
    for (int64_t i = 0; i < length; i++)
        if (!is_sum(job, job->recvs[p], i, offset + i, first, count))
            return false;
    return true;
}
