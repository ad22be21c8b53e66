/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/mpi/object/group_far.h"

#include "lib/util/base/error.h"

#include <stdlib.h>
#include <string.h>

struct tern_far_run *tern_group_to_far(const struct tern_group *group)
{
    struct tern_far_run *runs = calloc((size_t)group->run_count + 1, sizeof *runs);
    if (!runs) {
        tern_error(TERN_ERR_NO_MEM, "no memory for a group of %d runs", group->run_count);
        return NULL;
    }
    for (int i = 0; i < group->run_count; i++)
        runs[i] = (struct tern_far_run){tern_job_id_of(group->runs[i].job), group->runs[i].first,
                                        group->runs[i].stride, group->runs[i].count};
    return runs;
}

int tern_group_from_far(const struct tern_far_run *runs, int run_count,
                        struct tern_group **ret_group)
{
    struct tern_run *near = calloc((size_t)run_count + 1, sizeof *near);
    if (!near)
        return tern_error(TERN_ERR_NO_MEM, "no memory for a group of %d runs", run_count);
    int rc = 0;
    for (int i = 0; i < run_count && !rc; i++) {
        uint32_t job = tern_job_number(&runs[i].job);
        if (job == UINT32_MAX)
            rc = TERN_ERR_NO_MEM;
        near[i] = (struct tern_run){
            .job = job, .first = runs[i].first, .stride = runs[i].stride, .count = runs[i].count};
    }
    if (!rc)
        rc = tern_group_from_runs(near, run_count, ret_group);
    free(near);
    return rc;
}

bool tern_group_is_own(const struct tern_group *group)
{
    for (int i = 0; i < group->run_count; i++)
        if (group->runs[i].job != 0)
            return false;
    return true;
}

uint64_t tern_group_digest(const struct tern_group *group)
{
    uint64_t digest = (uint64_t)group->size;
    for (int r = 0; r < group->run_count; r++) {
        const struct tern_run *run = &group->runs[r];
        struct tern_job_id job = tern_job_id_of(run->job);
        uint64_t words[2];
        memcpy(words, job.bytes, sizeof words);
        for (int i = 0; i < run->count; i++) {
            digest = (digest ^ words[0] ^ words[1] ^ tern_run_process(run, i).rank) *
                     0x9e3779b97f4a7c15u;
            digest ^= digest >> 29;
        }
    }
    return digest;
}
