/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_MPIRUN_JOBS_SPAWNED_H
#define TERN_MPIRUN_JOBS_SPAWNED_H

/*
 * An mpirun that starts the processes of MPI_Comm_spawn: `mpirun --spawned SOCKET QUESTION`, the
 * child of another mpirun (children.h), or `mpirun --spawned SOCKET QUESTION beside`, which a
 * program without a launcher has started. Both numbers are descriptors.
 */

#include <stdbool.h>

#include "mpirun/plan/job/job_facts.h"

/* Reads the question and turns it into a command line, which lives as long as the process. Messages
 * of tern_log are then kept as the reason why the job does not start. Returns 0, or TERN_ERR_* with
 * text. With `beside`, forks and goes on in the child. */
int tern_spawned_open(int argc, char **argv, int *ret_argc, char ***ret_argv);
/* Returns the word that separates the programs of the command line: ":" unless a question was
 * read. */
const char *tern_spawned_separator(void);
/* Adds what the processes must know to the options. */
void tern_spawned_complete(struct tern_options *options);

/* Called on the loop when the parents' end of the socket asks for something. */
struct tern_spawned_listener {
    void (*signalled)(int number);
    /* The job must end: without a message if `why` is NULL. */
    void (*end)(const char *why);
};
/* Begins to listen to the mpirun or the program that has started this one, and tells it about the
 * job. From here on tern_log prints again, and what it has said is no reason any more. */
int tern_spawned_begin(const struct tern_job *job, const struct tern_spawned_listener *listener);
/* Returns true if this job's parents wait until it connects to them. */
bool tern_spawned_is_awaited(void);
/* Reports whether a rank is connected to another job, and the words of job_ties.h. */
void tern_spawned_joined(bool joined);
/* Returns true if another mpirun has started this one. */
bool tern_spawned_has_parent(void);
/* Tells it that nothing moves in this job, or that something does. */
void tern_spawned_still(bool still);
/* Passes a question on to the mpirun that has started this one. Returns false if there is none. */
bool tern_spawned_ask(const char *question);
/* The job is over. If it has never connected to its parents, tells them why: because of `failure`,
 * or of the last message of tern_log before the start if NULL. Blocks for a few seconds at most. */
void tern_spawned_end(const char *failure);

#endif
