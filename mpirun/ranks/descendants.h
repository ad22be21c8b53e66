/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_MPIRUN_RANKS_DESCENDANTS_H
#define TERN_MPIRUN_RANKS_DESCENDANTS_H

/* All that descends from this process, however it got there: as a subreaper we become the parent of
 * every orphan below us, also of those that called setsid or cleared their environment. */

#include <stdbool.h>
#include <sys/types.h>

/* Children of ours that are not part of any job (somebody forked and then exec'ed mpirun). Call
 * before the first fork. */
void tern_descendants_spare_present(void);

/* Sends SIGKILL to all descendants and reaps them until there are none, at most timeout_ms. Blocks.
 * `reaped` (may be NULL) is told of every child. False: some are left (in the kernel,
 * uninterruptible). */
bool tern_descendants_kill(int timeout_ms, void (*reaped)(pid_t pid, int status));

/* Removes a directory tree; symbolic links are not followed. */
void tern_remove_tree(const char *path);

#endif
