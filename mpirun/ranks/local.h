/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_MPIRUN_RANKS_LOCAL_H
#define TERN_MPIRUN_RANKS_LOCAL_H

/* This machine's part of a job: its guardian, its PMIx server and its ranks. mpirun and every agent
 * have one each. This file decides nothing. */

#include "mpirun/plan/job/job_facts.h"
#include "mpirun/ranks/guardian.h"
#include "mpirun/serve/clients.h"

/* Called on the loop with the guardian's answers. TERN_GUARDIAN_LOST means that the guardian was
 * killed; by then all of the job on this machine has been killed and the session directory
 * removed. */
typedef void tern_local_answered(const struct tern_guardian_message *answer);

/* Forks the guardian, which makes the session directory. Call it before there are threads, with the
 * job's token set. Returns 0 or TERN_ERR_OTHER. */
int tern_local_open(struct tern_job *job, bool is_agent, bool hangup_ignored,
                    tern_local_answered *answered);
/* Starts the PMIx server and the ranks' report socket. Returns 0 or TERN_ERR_OTHER. */
int tern_local_serve(struct tern_job *job, const struct tern_client_listener *listener);
/* Makes the node's memory and starts the ranks. Returns 0 or TERN_ERR_*; some ranks may have been
 * started after an error. */
int tern_local_start_ranks(struct tern_job *job);
/* Sends a message to the guardian. Does nothing if there is none; if it was killed, the loop learns
 * that from the socket. */
void tern_local_order(int kind, int rank, int value);
/* Ends the guardian, which removes the session directory. Call it when nothing of the job is left.
 * Blocks until the guardian has exited. */
void tern_local_close(void);
/* Closes the socket to the guardian, which then kills the job here and removes the directory.
 * Blocks until it has exited, for at most `timeout_ms`. */
void tern_local_abandon(int timeout_ms);
/* Continues the guardian if a signal has stopped it. Also done every second. */
void tern_local_rouse(void);
/* Returns true if a guardian is running and ready. */
bool tern_local_guarded(void);
#endif
