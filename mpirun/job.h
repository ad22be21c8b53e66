/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_MPIRUN_JOB_H
#define TERN_MPIRUN_JOB_H

/* A job as mpirun sees it, from its start to its end. */

#include "mpirun/plan/job/job_facts.h"
#include "mpirun/wire/frame.h"

/* Runs the job to its end. Call it when the agents of all other hosts are up. `hosts` are all hosts
 * that the job may use, 0 for this one without a limit. Returns mpirun's exit status. Blocks. */
int tern_job_run(struct tern_job *job, const struct tern_host *hosts, int host_count);
/* Handles a frame that an agent sent while the job runs. */
void tern_job_received(const struct tern_frame *frame);

#endif
