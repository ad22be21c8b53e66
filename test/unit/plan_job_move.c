/* SPDX-License-Identifier: BSD-3-Clause */

/* Collectives that move: what each process calls, and what must come of it. */
#include "plan_job.h"

#include <mpi.h>
#include <string.h>

void job_call_bcast(struct job *job, int p)
{
    const struct tern_type *type = job_moved_type(job);
    /* Others may see the same words as twice as many elements without gaps. */
    bool words = job->gappy && p % 2 == 1;
    char *buf = job_new_recv(job, p, 2 * job->count, type);
    if (job_is_root(job, p))
        for (int64_t i = 0; i < job->count; i++) {
            put(buf, type, i, value(job->root, 0, i));
            if (words) {
                uint64_t pair[2] = {value(job->root, 0, i), ~value(job->root, 0, i)};
                memcpy(buf + i * 16, pair, 16);
            }
        }
    tern_call_bcast(&job->calls[p], &job->sim->colls[p], buf, words ? 2 * job->count : job->count,
                    words ? &u64_type : type, job_root_for(job, p));
}

bool job_check_bcast(struct job *job, int p)
{
    bool words = job->gappy && p % 2 == 1;
    if (job_root_for(job, p) == TERN_ROOT_BESIDE_ME)
        return true;
    for (int64_t i = 0; i < job->count; i++) {
        uint64_t x = value(job->root, 0, i);
        if (!words ? !is(job->recvs[p], job_moved_type(job), i, x)
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
    return v ? job_varying(job, p, 0) : job->count;
}

static char *new_own_block(struct job *job, int p)
{
    const struct tern_type *type = job_moved_type(job);
    char *send = job_new_send(job, p, own_length(job, p), type);
    for (int64_t i = 0; i < own_length(job, p); i++)
        put(send, type, i, value(p, 0, i));
    return send;
}

/* Counts and displacements of own blocks of everybody over there. */
static int64_t own_blocks(struct job *job, int p, struct tern_ints *counts,
                          struct tern_ints *displs)
{
    int size = job_size_there(job, p), first = job_first_there(job, p);
    *counts = job_new_array(job, size);
    *displs = job_new_array(job, size);
    for (int r = 0; r < size; r++)
        ((int32_t *)counts->values)[r] = (int32_t)own_length(job, first + r);
    return job_displace(*counts, *displs, size, 1);
}

static bool check_collected(struct job *job, int p, struct tern_ints displs)
{
    const struct tern_type *type = job_moved_type(job);
    int size = job_size_there(job, p), first = job_first_there(job, p);
    for (int r = 0; r < size; r++)
        for (int64_t i = 0; i < own_length(job, first + r); i++) {
            int64_t at = (displs.values ? tern_ints_at(displs, r) : r * job->count) + i;
            if (!is(job->recvs[p], type, at, value(first + r, 0, i)))
                return false;
        }
    return true;
}

bool job_check_gathered(struct job *job, int p)
{
    bool v = job->collective == TERN_GATHERV || job->collective == TERN_ALLGATHERV;
    if ((job->collective == TERN_GATHER || job->collective == TERN_GATHERV) && !job_is_root(job, p))
        return true;
    return check_collected(job, p,
                           v ? job->calls[p].blocks.recv_displs : (struct tern_ints){NULL, 4});
}

static const void *in_place_block(struct job *job, int p, int64_t at)
{
    const struct tern_type *type = job_moved_type(job);
    for (int64_t i = 0; i < own_length(job, p); i++)
        put(job->recvs[p], type, at + i, value(p, 0, i));
    return MPI_IN_PLACE;
}

void job_call_gather(struct job *job, int p)
{
    const struct tern_type *type = job_moved_type(job);
    char *recv = job_is_root(job, p) ? job_new_recv(job, p, job_size_there(job, p) * job->count, type) : NULL;
    const void *send = job_is_root(job, p) && job->in_place ? in_place_block(job, p, p * job->count)
                                                        : new_own_block(job, p);
    tern_call_gather(&job->calls[p], &job->sim->colls[p], send, job->count, type, recv, job->count,
                     type, job_root_for(job, p));
}

void job_call_gatherv(struct job *job, int p)
{
    const struct tern_type *type = job_moved_type(job);
    struct tern_ints counts = {NULL, 4}, displs = {NULL, 4};
    char *recv =
        job_is_root(job, p) ? job_new_recv(job, p, own_blocks(job, p, &counts, &displs), type) : NULL;
    const void *send = job_is_root(job, p) && job->in_place
                           ? in_place_block(job, p, tern_ints_at(displs, p))
                           : new_own_block(job, p);
    tern_call_gatherv(&job->calls[p], &job->sim->colls[p], send, own_length(job, p), type, recv,
                      counts, displs, type, job_root_for(job, p));
}

void job_call_allgather(struct job *job, int p)
{
    const struct tern_type *type = job_moved_type(job);
    char *recv = job_new_recv(job, p, job_size_there(job, p) * job->count, type);
    const void *send =
        job->in_place ? in_place_block(job, p, p * job->count) : new_own_block(job, p);
    tern_call_allgather(&job->calls[p], &job->sim->colls[p], send, job->count, type, recv,
                        job->count, type);
}

void job_call_allgatherv(struct job *job, int p)
{
    const struct tern_type *type = job_moved_type(job);
    struct tern_ints counts, displs;
    char *recv = job_new_recv(job, p, own_blocks(job, p, &counts, &displs), type);
    const void *send =
        job->in_place ? in_place_block(job, p, tern_ints_at(displs, p)) : new_own_block(job, p);
    tern_call_allgatherv(&job->calls[p], &job->sim->colls[p], send, own_length(job, p), type, recv,
                         counts, displs, type);
}

static char *new_handed_out(struct job *job, int p, struct tern_ints displs, int64_t length)
{
    const struct tern_type *type = job_moved_type(job);
    int first = job_first_there(job, p);
    char *send = job_new_send(job, p, length, type);
    for (int r = 0; r < job_size_there(job, p); r++)
        for (int64_t i = 0; i < own_length(job, first + r); i++)
            put(send, type, (displs.values ? tern_ints_at(displs, r) : r * job->count) + i,
                value(first + r, 0, i));
    return send;
}

void job_call_scatter(struct job *job, int p)
{
    const struct tern_type *type = job_moved_type(job);
    char *send = job_is_root(job, p) ? new_handed_out(job, p, (struct tern_ints){NULL, 4},
                                                  job_size_there(job, p) * job->count)
                                 : NULL;
    void *recv = job_is_root(job, p) && job->in_place ? MPI_IN_PLACE
                                                  : (void *)job_new_recv(job, p, job->count, type);
    tern_call_scatter(&job->calls[p], &job->sim->colls[p], send, job->count, type, recv, job->count,
                      type, job_root_for(job, p));
}

void job_call_scatterv(struct job *job, int p)
{
    const struct tern_type *type = job_moved_type(job);
    struct tern_ints counts = {NULL, 4}, displs = {NULL, 4};
    char *send = NULL;
    if (job_is_root(job, p)) {
        int64_t length = own_blocks(job, p, &counts, &displs);
        send = new_handed_out(job, p, displs, length);
    }
    void *recv = job_is_root(job, p) && job->in_place
                     ? MPI_IN_PLACE
                     : (void *)job_new_recv(job, p, own_length(job, p), type);
    tern_call_scatterv(&job->calls[p], &job->sim->colls[p], send, counts, displs, type, recv,
                       own_length(job, p), type, job_root_for(job, p));
}

bool job_check_scattered(struct job *job, int p)
{
    if ((job->m && !job_group(job, p)) || (job_is_root(job, p) && job->in_place))
        return true;
    for (int64_t i = 0; i < own_length(job, p); i++)
        if (!is(job->recvs[p], job_moved_type(job), i, value(p, 0, i)))
            return false;
    return true;
}

/* --- all to all: from p to q job_varying(p, q) elements; in place symmetric --- */

static int64_t exchanged(const struct job *job, int p, int q)
{
    if (job->collective == TERN_ALLTOALL)
        return job->count;
    return job->in_place ? job_varying(job, p < q ? p : q, p < q ? q : p) : job_varying(job, p, q);
}

static void exchange_arrays(struct job *job, int p, bool sends, struct tern_ints *counts,
                            struct tern_ints *displs, int64_t unit, int64_t *ret_length)
{
    int size = job_size_there(job, p), first = job_first_there(job, p);
    *counts = job_new_array(job, size);
    *displs = job_new_array(job, size);
    for (int r = 0; r < size; r++)
        ((int32_t *)counts->values)[r] =
            (int32_t)(sends ? exchanged(job, p, first + r) : exchanged(job, first + r, p));
    *ret_length = job_displace(*counts, *displs, size, unit);
}

static void fill_exchanged(struct job *job, int p, char *base, const int32_t *displs, int64_t unit)
{
    int first = job_first_there(job, p);
    for (int r = 0; r < job_size_there(job, p); r++)
        for (int64_t i = 0; i < exchanged(job, p, first + r); i++)
            put(base, job_moved_type(job), displs[r] / unit + i, value(p, first + r, i));
}

static const struct tern_type *const *types_array(struct job *job, int p)
{
    static const struct tern_type *types[2][256];
    for (int r = 0; r < job_size_there(job, p); r++)
        types[job->gappy][r] = job_moved_type(job);
    return types[job->gappy];
}

void job_call_alltoall(struct job *job, int p)
{
    const struct tern_type *type = job_moved_type(job);
    struct tern_coll *coll = &job->sim->colls[p];
    int64_t unit = job->collective == TERN_ALLTOALLW ? type->extent : 1, length;
    struct tern_ints counts[2], displs[2];
    exchange_arrays(job, p, false, &counts[1], &displs[1], unit, &length);
    char *recv = job_new_recv(job, p, length, type);
    exchange_arrays(job, p, true, &counts[0], &displs[0], unit, &length);
    if (job->collective == TERN_ALLTOALL)
        for (int r = 0; r < job_size_there(job, p); r++)
            ((int32_t *)displs[0].values)[r] = ((int32_t *)displs[1].values)[r] =
                (int32_t)(r * job->count);
    char *send = job->in_place ? recv : job_new_send(job, p, length, type);
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

bool job_check_exchanged(struct job *job, int p)
{
    const struct tern_type *type = job_moved_type(job);
    int first = job_first_there(job, p);
    struct tern_ints displs = job->calls[p].blocks.recv_displs;
    int64_t unit = job->collective == TERN_ALLTOALLW ? type->extent : 1;
    for (int r = 0; r < job_size_there(job, p); r++)
        for (int64_t i = 0; i < exchanged(job, first + r, p); i++) {
            int64_t at =
                job->collective == TERN_ALLTOALL ? r * job->count : tern_ints_at(displs, r) / unit;
            if (!is(job->recvs[p], type, at + i, value(first + r, p, i)))
                return false;
        }
    return true;
}
