/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_GROUP_FAR_H
#define TERN_GROUP_FAR_H

/*
 * Groups that travel between processes. The number of a job is each process's own (lib/rte/jobs.h),
 * so a run travels with the job's id. Nothing here communicates.
 */

#include "lib/mpi/object/group.h"
#include "lib/rte/jobs.h"

#include <stdbool.h>
#include <stdint.h>

/* A run as it travels. */
struct tern_far_run {
    struct tern_job_id job;
    uint32_t first;
    int32_t stride, count;
};

/* Writes the group's runs, run_count of them. Returns NULL with TERN_ERR_NO_MEM and text if there
 * is no memory. The caller frees the result. */
struct tern_far_run *tern_group_to_far(const struct tern_group *group);
/* Makes the group that another process has written. Returns 0 or TERN_ERR_NO_MEM. */
int tern_group_from_far(const struct tern_far_run *runs, int run_count,
                        struct tern_group **ret_group);

/* Returns true if all processes of the group are of this process's job. */
bool tern_group_is_own(const struct tern_group *group);
/* Returns a digest of the processes and their order, the same in all processes. */
uint64_t tern_group_digest(const struct tern_group *group);

#endif
