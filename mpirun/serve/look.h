/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_MPIRUN_SERVE_LOOK_H
#define TERN_MPIRUN_SERVE_LOOK_H

/* Looks at the ranks of this host: at their wait records in the node's memory, and at their
 * processes in /proc. The ranks need do nothing for it, so they may be stopped or loop. All
 * functions run on the loop of mpirun or of the agent. */

#include "mpirun/plan/job/job_facts.h"
#include "mpirun/wire/frame.h"

/* Prepares for the job. `process_of` returns the process of a rank of this host, or 0. */
void tern_look_open(const struct tern_job *job, pid_t (*process_of)(int rank));
/* Returns true if any rank of this host may have moved since the last glance: it left the wait in
 * which it was, used the processor outside MPI, or waits for a person. The first call returns
 * true. */
bool tern_look_glance(void);
/* Looks at all ranks for a part of a second. Then calls `told` with what was seen: for each rank
 * what tern_where_pack packs, up to the end of the parcel. If a look is under way, its result
 * counts for this call, too. */
void tern_look_take(void (*told)(const struct tern_parcel *seen));

#endif
