/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_MPIRUN_RANKS_SESSION_DIR_H
#define TERN_MPIRUN_RANKS_SESSION_DIR_H

/* The job's directory on this machine: BASE/tern-UID/TOKEN, mode 0700, where BASE is $TMPDIR or
 * /tmp, or the directory of the job that started this mpirun. Whoever lives holds a shared lock on
 * it, so that a directory left behind by a crash of everybody is known by its free lock, and
 * removed when the next job starts. */

#include <stddef.h>

/* Makes and locks the directory; the lock lasts as long as the process. `ret_path` has room for
 * `room` bytes. 0 or TERN_ERR_OTHER with text. */
int tern_session_create(const char *token, char *ret_path, size_t room);
/* Holds the lock in this process too. */
void tern_session_hold(const char *path);
/* Removes the directories whose owners have all been killed, as the next job would. What is still
 * being killed gets a moment. An exit status. */
int tern_session_sweep(void);
/* Removes the directory and, when it was the last one, the one around it. */
void tern_session_remove(const char *path);

#endif
