/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_MPIRUN_RUN_H
#define TERN_MPIRUN_RUN_H

/* A running job on mpirun's side, and how it ends. All functions run on mpirun's loop, which stops
 * when the job is over. */

#include <stdbool.h>
#include <stdint.h>

#include "mpirun/plan/job/job_facts.h"

/* The stages of a job's life; run.c describes them. */
enum tern_job_stage {
    TERN_RUNNING,
    TERN_ENDING,
    TERN_WAITING,
    TERN_LEAVING,
    TERN_ASKED,
    TERN_CLEARING
};

/* Prepares for the job. Call this before any other function here. `job` must live as long as the
 * process. */
void tern_run_open(const struct tern_job *job);

/* The ranks are being started, here and on all hosts. */
void tern_run_begins(void);
bool tern_run_has_begun(void);
enum tern_job_stage tern_run_job_stage(void);
/* Returns true if no rank has been told to end, and not all have ended. */
bool tern_run_goes_on(void);
/* Returns true if the ranks, or what they have left behind, have been told to end. */
bool tern_run_is_ending(void);

/* Sends a message to the guardian of the rank's host, or to all guardians if `rank` is -1. */
void tern_run_tell_guardian(int kind, int rank, int value);

/* Ends the job: all ranks get SIGTERM, and later SIGKILL. Does nothing if it is being ended. */
void tern_run_end(void);
/* Kills all ranks. The loop stops when they have ended. */
void tern_run_kill(void);
/* Gives the ranks leftover_grace_ms to end after signal `number`, which asks them to; then ends the
 * job. Does nothing if they had such a signal before: returns that, else 0. */
int tern_run_await_end(int number);
/* Returns that signal, or 0. */
int tern_run_ending_signal(void);
/* Returns how long processes that ranks have left behind have to end, or -1 for no limit. */
int64_t tern_run_patience_ms(void);
/* Goes back to running, because a rank was started again. Ends the job if it has failed. */
void tern_run_resume(void);
/* Goes on to the next stage of the job's end if this one is over. */
void tern_run_check_end(void);
/* A job that ranks have started has ended: stops the loop if nothing else was waited for. */
void tern_run_check_done(void);

/* Adds `streams` output streams of ranks on another host; the job is not over before they end. */
void tern_run_add_streams(int host, int streams);
/* One of them has ended. */
void tern_run_close_stream(int host);
/* Nothing of the job is left on the host. */
void tern_run_host_cleared(int host);
/* The guardian of the host, process `pid`, was killed. */
void tern_run_guardian_lost(int host, int pid);
/* tern_run_lose takes the loss of an agent or of the link to it, for the reason `why`; it does
 * nothing before tern_run_open. tern_run_lost returns true if that host is already lost. */
void tern_run_lose(int host, const char *why);
bool tern_run_lost(int host);

#endif
