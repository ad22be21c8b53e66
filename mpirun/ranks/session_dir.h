/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_MPIRUN_RANKS_SESSION_DIR_H
#define TERN_MPIRUN_RANKS_SESSION_DIR_H

/* The job's directory on this machine: BASE/tern-UID/TOKEN, mode 0700. BASE is $TMPDIR or /tmp, or
 * the session directory of the job that started this mpirun. Each living process of the launcher
 * holds a shared lock on it. So a directory whose lock is free was left by a crash of all of them,
 * and the next job removes it. */

#include <stddef.h>

/* Makes the directory and locks it for as long as this process lives. Writes its path into
 * `ret_path`, which has `room` bytes. Returns 0 or TERN_ERR_OTHER. */
int tern_session_create(const char *token, char *ret_path, size_t room);
/* Takes a shared lock on the directory for this process too. */
void tern_session_hold(const char *path);
/* Removes the directories whose owners have all been killed, as the next job would. Tries several
 * times, because some owners may still be dying. Returns an exit status. Blocks for less than a
 * second. */
int tern_session_sweep(void);
/* Removes the directory, and its parent if that is empty then. */
void tern_session_remove(const char *path);

#endif
