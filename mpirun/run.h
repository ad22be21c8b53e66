/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_MPIRUN_RUN_H
#define TERN_MPIRUN_RUN_H

/* A running job on mpirun's side: what happens to its ranks and hosts, and what mpirun does about
 * that. All functions run on mpirun's loop, which stops when the job is over. */

#include <stdbool.h>

#include "mpirun/jobs/spawned.h"
#include "mpirun/plan/job_facts.h"
#include "mpirun/ranks/guardian.h"
#include "mpirun/ranks/output.h"
#include "mpirun/where/where.h"
#include "mpirun/wire/frame.h"

/* Prepares for the job. Call this before any other function here. `hosts` are all hosts that it may
 * use, 0 for this one without a limit. The caller owns the arguments, which must live as long as
 * the process. */
void tern_run_open(const struct tern_job *job, const struct tern_host *hosts, int host_count);

/* Listener for what happens to the ranks' output. */
extern const struct tern_output_listener tern_run_output;
/* What where.h asks about ranks and hosts. */
extern const struct tern_where_listener tern_run_where;
/* What the mpirun or the program that has started this mpirun wants (jobs/spawned.h). */
extern const struct tern_spawned_listener tern_run_parents;
/* Takes an answer of this machine's guardian. */
void tern_run_answered(const struct tern_guardian_message *answer);
/* Takes a frame of an agent. */
void tern_run_received(const struct tern_frame *frame);
/* tern_run_lose takes the loss of an agent or of the link to it, for the reason `why`; it does
 * nothing before tern_run_open. tern_run_lost returns true if that host is already lost. */
void tern_run_lose(int host, const char *why);
bool tern_run_lost(int host);
/* Takes a signal that mpirun received. */
void tern_run_signalled(int number);

/* Adds `streams` output streams of ranks on another host; the job is not over before they end. */
void tern_run_add_streams(int host, int streams);
/* Ends the job after `seconds`. */
void tern_run_limit_time(int seconds);
/* The ranks are being started, here and on all hosts. */
void tern_run_begins(void);
/* Returns true if the job is not being ended yet. */
bool tern_run_goes_on(void);

/* Records a failure: mpirun's exit status and the message. Only the first failure counts. Does not
 * end the job. */
__attribute__((format(printf, 2, 3))) void tern_run_fail(int status, const char *format, ...);
/* Records that a job has ended by a signal which mpirun received and passed on, if that is so and
 * such signals end jobs. The first mpirun says it, once. Returns false if it is not so. */
bool tern_run_fail_by_signal(int number);
/* Returns true if a failure was recorded. */
bool tern_run_has_failed(void);
/* Ends the job: all ranks get SIGTERM, and later SIGKILL. Does nothing if it is being ended. */
void tern_run_end(void);
/* Goes back to running, because a rank was started again. Ends the job if it has failed. */
void tern_run_resume(void);
/* Goes on to the next stage of the job's end if this one is over. */
void tern_run_check_end(void);
/* Sends a signal to a rank, or to all ranks if `rank` is -1. */
void tern_run_signal_rank(int rank, int number);
/* Returns true if mpirun has received this signal and passed it on to the ranks. */
bool tern_run_passed_on(int number);
/* Kills all ranks. The loop stops when they have ended. */
void tern_run_kill(void);
/* Writes a message that `stream`, "output" or "error", is closed, so what the ranks write there is
 * lost. */
void tern_run_say_closed(const char *stream);
/* Returns mpirun's exit status. *ret_failure is the message of the first failure, or NULL. */
int tern_run_status(const char **ret_failure);

#endif
