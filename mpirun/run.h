/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_MPIRUN_RUN_H
#define TERN_MPIRUN_RUN_H

/* A job that runs, on mpirun's side: what happens to its ranks and hosts, and what follows from it.
 * All on mpirun's loop, which is stopped when the job is over. */

#include <stdbool.h>

#include "mpirun/plan/job_facts.h"
#include "mpirun/ranks/guardian.h"
#include "mpirun/ranks/output.h"
#include "mpirun/serve/clients.h"
#include "mpirun/wire/frame.h"

/* Before all else; `job` stays the caller's and must live as long as the process. */
void tern_run_open(const struct tern_job *job);

/* What happens: to clients of this machine, to output, */
extern const struct tern_client_listener tern_run_clients;
extern const struct tern_output_listener tern_run_output;
/* to processes of this machine, */
void tern_run_answered(const struct tern_guardian_message *answer);
/* elsewhere, in an agent's words, */
void tern_run_received(const struct tern_frame *frame);
/* to an agent or the way to it (nothing is done before tern_run_open); was that told already? */
void tern_run_lose(int host, const char *why);
bool tern_run_lost(int host);
/* to mpirun itself. */
void tern_run_signalled(int number);

/* So many streams of ranks of another host are awaited before the job is over. */
void tern_run_add_streams(int host, int streams);
/* Ends the job when it has run so long. */
void tern_run_limit_time(int seconds);
/* Has nothing begun to end it? */
bool tern_run_goes_on(void);

/* The first failure counts: exit status and sentence. Does not end the job. */
__attribute__((format(printf, 2, 3))) void tern_run_fail(int status, const char *format, ...);
/* Kills all ranks; the loop stops when that is done. */
void tern_run_kill(void);
/* Says that nobody can read what the ranks write to this stream, "output" or "error". */
void tern_run_say_closed(const char *stream);
/* mpirun's exit status; what failed, or NULL. */
int tern_run_status(const char **ret_failure);

#endif
