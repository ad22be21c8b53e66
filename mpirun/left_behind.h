/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_MPIRUN_LEFT_BEHIND_H
#define TERN_MPIRUN_LEFT_BEHIND_H

/* Messages about processes that outlive all ranks of a job. */

#include "mpirun/plan/job/job_facts.h"
#include "mpirun/ranks/guardian.h"

/* Says that mpirun waits for processes that hold the ranks' output open. Their names follow. */
void tern_left_behind_say_wait(void);
/* Names the process of a TERN_GUARDIAN_LEFT. `host` is where it runs, an index in the job's hosts.
 * Names a few for each kind of message, and then counts no more. They had `patience_ms` to end. */
void tern_left_behind_name(const struct tern_job *job, int host,
                           const struct tern_guardian_message *left, int64_t patience_ms);

#endif
