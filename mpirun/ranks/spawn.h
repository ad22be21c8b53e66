/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_MPIRUN_RANKS_SPAWN_H
#define TERN_MPIRUN_RANKS_SPAWN_H

/* Has the guardian start the ranks: writes down everything that a start needs in one memory file
 * that both can see, makes the ranks' standard streams, and asks for one start after the other. */

#include "mpirun/plan/job_facts.h"

/* Starts this machine's ranks of the job. They are running, or about to fail, when it returns; the
 * guardian's answers tell. 0 or TERN_ERR_OTHER: some may have been started. */
int tern_spawn_ranks(const struct tern_job *job, int guardian_fd);

#endif
