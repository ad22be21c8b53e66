/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_MPIRUN_OTHER_JOBS_H
#define TERN_MPIRUN_OTHER_JOBS_H

/* What the jobs that ranks have started, and the job that has started this one, mean for this one:
 * when one of them fails, others that are connected to it end. */

#include "mpirun/jobs/spawned.h"
#include "mpirun/plan/job/job_facts.h"
#include "mpirun/where/where.h"

/* Prepares for jobs that ranks will start, on `hosts`: all hosts that they may use, 0 for this one
 * without a limit. The caller owns the arguments, which must live as long as the process. */
void tern_other_jobs_open(const struct tern_job *job, const struct tern_host *hosts,
                          int host_count);
/* What the mpirun or the program that has started this mpirun wants (jobs/spawned.h). */
extern const struct tern_spawned_listener tern_other_jobs_parents;
/* What where.h asks about ranks, hosts and other jobs. */
extern const struct tern_where_listener tern_other_jobs_where;

#endif
