/* SPDX-License-Identifier: BSD-3-Clause */
#include "plan_job.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

struct tern_ints job_new_array(struct job *job, int length)
{
    job->arrays = realloc(job->arrays, (size_t)(job->array_count + 1) * sizeof *job->arrays);
    int32_t *array = malloc((size_t)(length ? length : 1) * sizeof *array);
    job->arrays[job->array_count++] = array;
    return (struct tern_ints){array, 4};
}

int64_t job_displace(struct tern_ints counts, struct tern_ints displs, int length, int64_t unit)
{
    int64_t at = 0;
    for (int r = length - 1; r >= 0; r--) {
        ((int32_t *)displs.values)[r] = (int32_t)(at * unit);
        at += tern_ints_at(counts, r) + 1;
    }
    return at;
}

char *job_new_send(struct job *job, int process, int64_t length, const struct tern_type *type)
{
    job->lengths[process] = length;
    return job->sends[process] = new_elements(type, length);
}

char *job_new_recv(struct job *job, int process, int64_t length, const struct tern_type *type)
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

static void call_barrier(struct job *job, int p)
{
    tern_call_barrier(&job->calls[p], &job->sim->colls[p]);
}

static bool check_nothing(struct job *job, int p)
{
    (void)job, (void)p;
    return true;
}

const struct job_kind job_kinds[TERN_COLLECTIVES] = {
    [TERN_BARRIER] = {call_barrier, check_nothing, false, false, true, false},
    [TERN_BCAST] = {job_call_bcast, job_check_bcast, true, false, true, false},
    [TERN_GATHER] = {job_call_gather, job_check_gathered, true, false, true, true},
    [TERN_GATHERV] = {job_call_gatherv, job_check_gathered, true, false, true, true},
    [TERN_SCATTER] = {job_call_scatter, job_check_scattered, true, false, true, true},
    [TERN_SCATTERV] = {job_call_scatterv, job_check_scattered, true, false, true, true},
    [TERN_ALLGATHER] = {job_call_allgather, job_check_gathered, false, false, true, true},
    [TERN_ALLGATHERV] = {job_call_allgatherv, job_check_gathered, false, false, true, true},
    [TERN_ALLTOALL] = {job_call_alltoall, job_check_exchanged, false, false, true, true},
    [TERN_ALLTOALLV] = {job_call_alltoall, job_check_exchanged, false, false, true, true},
    [TERN_ALLTOALLW] = {job_call_alltoall, job_check_exchanged, false, false, true, true},
    [TERN_REDUCE] = {job_call_reduction, job_check_reduction, true, true, true, true},
    [TERN_ALLREDUCE] = {job_call_reduction, job_check_reduction, false, true, true, true},
    [TERN_REDUCE_SCATTER] = {job_call_reduction, job_check_reduction, false, true, true, true},
    [TERN_REDUCE_SCATTER_BLOCK] = {job_call_reduction, job_check_reduction, false, true, true, true},
    [TERN_SCAN] = {job_call_reduction, job_check_reduction, false, true, false, true},
    [TERN_EXSCAN] = {job_call_reduction, job_check_reduction, false, true, false, true},
};

/* What plans without a model are made by; to look up all parameters for each of them would take longer than the rest. */
static const struct tern_model *model_of_parameters(void)
{
    static struct tern_model model;
    if (!model.cores_per_node)
        model = tern_model_of_parameters(1);
    return &model;
}

void job_run(struct job job)
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
        job_kinds[job.collective].call(&job, p);
    job.segment_bytes = (job.count + job.root) % 3 ? 24 : 65536; /* several segments, or one */
    for (int p = 0; p < processes; p++) {
        job.calls[p].args.segment_bytes = job.segment_bytes;
        job.calls[p].args.model = model_of_parameters();
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
            job_kinds[job.collective].reduces ? job_operand_type(&job) : job_moved_type(&job);
        keep_sends(&job, type);
        fault = read_plans(&job);
        tern_coll_forced = job.algorithm;
        int late = job.collective == TERN_BARRIER && job.way == SIM_POLLED ? job.root : -1;
        if (!fault)
            fault = sim_run(sim, job.calls, job.way, late);
        tern_coll_forced = NULL;
        for (int p = 0; p < processes && !fault; p++) {
            if (!job_kinds[job.collective].check(&job, p))
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
