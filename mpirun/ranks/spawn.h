/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_MPIRUN_RANKS_SPAWN_H
#define TERN_MPIRUN_RANKS_SPAWN_H

/* Makes the guardian start the ranks: writes everything that a start needs into a memory file that
 * both processes map, makes the ranks' standard streams, and sends one request per rank. */

#include "mpirun/plan/job/job_facts.h"

/* Starts this machine's ranks of the job. When it returns, the requests have been sent; the
 * guardian's answers tell which ranks run and which failed. Returns 0 or TERN_ERR_OTHER; some ranks
 * may have been started after an error. */
int tern_spawn_ranks(const struct tern_job *job, int guardian_fd);

#endif
