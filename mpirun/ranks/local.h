/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_MPIRUN_RANKS_LOCAL_H
#define TERN_MPIRUN_RANKS_LOCAL_H

/* This machine's part of a job: its guardian, its PMIx server, its ranks. mpirun and every agent
 * have one each. Nothing is decided here. */

#include "mpirun/plan/job_facts.h"
#include "mpirun/ranks/guardian.h"
#include "mpirun/serve/clients.h"

/* Called on the loop with what the guardian answers; TERN_GUARDIAN_LOST: it has been killed, all of
 * the job here has been ended, and the directory removed. */
typedef void tern_local_answered(const struct tern_guardian_message *answer);

/* Forks the guardian, which makes the session directory. Before there are threads; the job's token
 * is set. 0 or TERN_ERR_OTHER. */
int tern_local_open(struct tern_job *job, bool is_agent, bool hangup_ignored,
                    tern_local_answered *answered);
/* Starts the PMIx server. 0 or TERN_ERR_OTHER. */
int tern_local_serve(struct tern_job *job, const struct tern_client_listener *listener);
/* Makes the node's memory and starts the ranks. 0 or TERN_ERR_OTHER: some may have been started. */
int tern_local_start_ranks(struct tern_job *job);
/* Tells the guardian. If it has gone, its end of the socket says so to the loop. */
void tern_local_order(int kind, int rank, int value);
/* Nothing of the job is left: the directory is removed, the guardian ends. */
void tern_local_close(void);
/* Leaves the job to the guardian, which ends and removes what is here, and waits for that, at most
 * so long. */
void tern_local_abandon(int timeout_ms);
/* Is there a guardian? */
bool tern_local_guarded(void);
#endif
