/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_MPIRUN_RANK_LIFE_H
#define TERN_MPIRUN_RANK_LIFE_H

/* What happens to the ranks of a running job, and which of it is a failure. run.h says what becomes
 * of the job then. All functions run on mpirun's loop. */

#include <stdbool.h>
#include <sys/types.h>

#include "mpirun/plan/job/job_facts.h"
#include "mpirun/ranks/guardian.h"
#include "mpirun/serve/clients.h"
#include "mpirun/serve/rank_states.h"

/* Prepares for the job, before any other function here. `job` must live as long as the process. */
void tern_life_open(const struct tern_job *job);

/* Take what a guardian says of a rank: its process id, its wait status, or why it did not start. A
 * rank whose process has ended starts again when its guardian names another process for it. */
void tern_life_started(int rank, pid_t pid);
void tern_life_ended(int rank, int wait_status);
void tern_life_not_started(const struct tern_guardian_message *answer);
/* The rank has ended outside MPI, and has left no process behind, or none any more. */
void tern_life_alone(int rank);
/* An output stream of the rank has ended. */
void tern_life_stream_closed(int rank);
/* Counts the ranks of a lost host as ended: nothing more will be heard of them. */
void tern_life_forget(int host);
/* Listener for what ranks say. */
extern const struct tern_client_listener tern_life_clients;

/* Returns the number of ranks that have not ended. */
int tern_life_running(void);
/* Returns the first of them as "rank 0 (pid 7 on host a), rank 1 (pid 8 on host b) and 2 more". The
 * caller frees the text. */
char *tern_life_name_running(void);
/* Returns the process of a rank on its host, or 0 if it was not started. */
pid_t tern_life_process(int rank);
enum tern_rank_state tern_life_state(int rank);
/* Returns true if a rank is connected to another job, or disconnects from it. */
bool tern_life_is_joined(void);

#endif
