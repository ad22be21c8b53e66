/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_MPIRUN_FAILURE_H
#define TERN_MPIRUN_FAILURE_H

/* Why a job has failed, and mpirun's exit status. Only the first failure counts: what happens to
 * other ranks afterwards is a consequence of it. Nothing here ends the job. All functions run on
 * mpirun's loop. */

#include <stdbool.h>

/* Records a failure: mpirun's exit status and the message. */
__attribute__((format(printf, 2, 3))) void tern_failure_record(int status, const char *format, ...);
/* Records a failure whose message is printed elsewhere. */
void tern_failure_record_silently(int status);
/* Returns true if a failure was recorded. */
bool tern_failure_is_recorded(void);
/* Some output is lost: if nothing else fails, mpirun's exit status is 1. */
void tern_failure_note_lost_output(void);
/* Returns mpirun's exit status. *ret_message is that of the first failure, or NULL. */
int tern_failure_status(const char **ret_message);

/* Notes a signal that mpirun passes on to the ranks. `told_above`: it came from the mpirun that has
 * started this one, which says so. */
void tern_failure_note_signal(int number, bool told_above);
/* Returns true if this signal was noted. */
bool tern_failure_has_signal(int number);
/* Returns true for a signal that asks a job to end: SIGINT, SIGTERM, SIGHUP. */
bool tern_failure_is_ending(int number);
/* Records that the job ends by a signal which mpirun received; `what` says what mpirun did. The
 * first mpirun says it, once. */
void tern_failure_record_signal(int number, const char *what);
/* Records that a job has ended by a signal which mpirun received and passed on, if that is so and
 * such signals end jobs. Returns false if it is not so. */
bool tern_failure_blame_signal(int number);

#endif
