/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_MPIRUN_SERVE_PMIX_FENCE_H
#define TERN_MPIRUN_SERVE_PMIX_FENCE_H

/* Fences across several hosts, as mpirun coordinates them. A fence is identified by the processes
 * that take part. A host cannot begin the next fence of these processes before this one is
 * answered, so at most one fence per set of processes is under way. The hosts' data are joined
 * unchanged, because PMIx accepts them one after another. */

#include "mpirun/plan/job/job_facts.h"
#include "mpirun/wire/frame.h"

/* A host's request that mpirun serves, and the request's number. */
struct tern_asker {
    int host;
    uint64_t id;
};

/* A fence that waits for some host. */
struct tern_fence {
    struct tern_fence *next;
    struct tern_parcel who, data; /* the packed processes; the data of the hosts so far */
    struct tern_asker *askers; /* hosts that have arrived */
    int arrived, expected;     /* numbers of hosts */
};

/* Records that `asker.host` has arrived at the fence of the processes `who` (packed), with `data`.
 * If it is the last host, calls `complete` and then frees the fence. Ignores a host that has
 * already arrived. */
void tern_fence_arrive(const struct tern_job *job, struct tern_asker asker, const char *who,
                       size_t who_size, const char *data, size_t data_size,
                       void (*complete)(const struct tern_fence *fence));
/* Frees all fences that are under way. */
void tern_fences_close(void);

#endif
