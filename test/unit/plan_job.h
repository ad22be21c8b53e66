/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef PLAN_JOB_H
#define PLAN_JOB_H

/*
 * One case of a collective, run by the real executor over simulated messages (sim_pml.h): all ranks of one group or two
 * in one process. Elements carry where they come from; contributions to a sum are random numbers, or spans of ranks
 * that only add up side by side where order matters.
 */

#include "plan_check.h"
#include "sim_pml.h"

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

/* What the tests must know of a collective. */
struct job_kind {
    void (*call)(struct job *job, int p);
    bool (*check)(struct job *job, int p);
    bool rooted, reduces, inter, in_place;
};

extern const struct job_kind job_kinds[TERN_COLLECTIVES];

/* Runs it if the algorithm fits; fails the test if anything is wrong. */
void job_run(struct job job);

/* --- for the files of collectives (plan_job_move.c, plan_job_reduce.c) --- */

extern const struct tern_type job_span_type; /* two words: operands that do not commute */

static inline const struct tern_type *job_moved_type(const struct job *job)
{
    return job->gappy ? &gappy_type : &u64_type;
}

static inline const struct tern_type *job_operand_type(const struct job *job)
{
    return job->gappy ? &gappy_type : job->commutative ? &u64_type : &job_span_type;
}

static inline int job_group(const struct job *job, int process)
{
    return process >= job->n;
}

static inline int job_rank(const struct job *job, int process)
{
    return process - (job_group(job, process) ? job->n : 0);
}

/* Of the group that `process` gets from: the other one, or its own. */
static inline int job_size_there(const struct job *job, int process)
{
    return !job->m || job_group(job, process) ? job->n : job->m;
}

static inline int job_first_there(const struct job *job, int process)
{
    return !job->m || job_group(job, process) ? 0 : job->n;
}

static inline int job_size_here(const struct job *job, int process)
{
    return job_group(job, process) ? job->m : job->n;
}

static inline int job_root_for(const struct job *job, int process)
{
    if (!job->m || job_group(job, process))
        return job->root;
    return job_rank(job, process) == job->root ? TERN_ROOT_ME : TERN_ROOT_BESIDE_ME;
}

static inline bool job_is_root(const struct job *job, int process)
{
    return process == job->root;
}

/* Length of what process a sends process b in v forms. */
static inline int64_t job_varying(const struct job *job, int a, int b)
{
    return job->count ? (job->count * (a + 2 * b + 1)) % (2 * job->count + 1) : 0;
}

/* Freed with the job. */
struct tern_ints job_new_array(struct job *job, int length);
/* Displacements for counts: last block first, an element of space between. Returns the length. */
int64_t job_displace(struct tern_ints counts, struct tern_ints displs, int length, int64_t unit);
/* The process's buffers, of so many elements. */
char *job_new_send(struct job *job, int process, int64_t length, const struct tern_type *type);
char *job_new_recv(struct job *job, int process, int64_t length, const struct tern_type *type);

void job_call_bcast(struct job *job, int p);
bool job_check_bcast(struct job *job, int p);
void job_call_gather(struct job *job, int p);
void job_call_gatherv(struct job *job, int p);
void job_call_allgather(struct job *job, int p);
void job_call_allgatherv(struct job *job, int p);
bool job_check_gathered(struct job *job, int p);
void job_call_scatter(struct job *job, int p);
void job_call_scatterv(struct job *job, int p);
bool job_check_scattered(struct job *job, int p);
void job_call_alltoall(struct job *job, int p);
bool job_check_exchanged(struct job *job, int p);
void job_call_reduction(struct job *job, int p);
bool job_check_reduction(struct job *job, int p);

#endif
