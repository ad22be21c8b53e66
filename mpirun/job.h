/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_MPIRUN_JOB_H
#define TERN_MPIRUN_JOB_H

/* A job on mpirun's side: all of its life. */

#include "mpirun/plan/job_facts.h"
#include "mpirun/wire/frame.h"

/* Runs the job; returns mpirun's exit status. The agents of its other hosts are up. */
int tern_job_run(struct tern_job *job);
/* What an agent says while the job runs. */
void tern_job_received(const struct tern_frame *frame);

#endif
