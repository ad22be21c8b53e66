/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_MPIRUN_SERVE_FENCE_H
#define TERN_MPIRUN_SERVE_FENCE_H

/* Fences of several hosts, in mpirun. A fence is told from others by the processes that take part
 * in it. A host cannot begin the next fence of the same processes before it has had the answer to
 * this one, so at most one of each kind is under way. Every host's data are passed on as they are:
 * PMIx takes them one behind the other. */

#include "mpirun/plan/job_facts.h"
#include "mpirun/wire/frame.h"

/* A request, by its number, that mpirun serves for a host. */
struct tern_asker {
    int host;
    uint64_t id;
};

struct tern_fence {
    struct tern_fence *next;
    struct tern_parcel who, data;
    struct tern_asker *askers; /* hosts that have come */
    int arrived, expected;     /* hosts */
};

/* The host `asker.host` has come to the fence of the processes `who`, packed, and brings `data`.
 * Calls `complete` if it is the last one; the fence is freed afterwards. A host that has come
 * before is not counted again. */
void tern_fence_arrive(const struct tern_job *job, struct tern_asker asker, const char *who,
                       size_t who_size, const char *data, size_t data_size,
                       void (*complete)(const struct tern_fence *fence));
/* Forgets all fences that are under way. */
void tern_fences_close(void);

#endif
