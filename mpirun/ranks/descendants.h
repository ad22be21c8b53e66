/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_MPIRUN_RANKS_DESCENDANTS_H
#define TERN_MPIRUN_RANKS_DESCENDANTS_H

/* Finds and kills all descendants of this process. This process must be a subreaper: it then
 * becomes the parent of every orphan below it, even of one that called setsid or cleared its
 * environment. */

#include <stdbool.h>
#include <sys/types.h>

/* Remembers the present children as not part of any job: some other program forked them before it
 * executed mpirun. Call this before the first fork. */
void tern_descendants_spare_present(void);

/* Returns the child of this process from which `pid` descends, or which it is; 0 if there is
 * none. */
pid_t tern_descendants_child_above(pid_t pid);

/* Returns the children of this process, which must have a single thread. Those that have ended may
 * be among them or not. The caller frees the list. */
pid_t *tern_descendants_children(int *ret_count);

/* Sends signal `number` (0: none) to all descendants. Before that, calls `found` (may be NULL) for
 * each that has not ended. Returns their number, with those that have ended and are not reaped. */
int tern_descendants_signal(int number, void (*found)(pid_t pid));

/* Sends SIGKILL to all descendants and reaps them until none is left, for at most `timeout_ms`.
 * Calls `reaped` (may be NULL) for every child reaped. Returns true if none is left, false if the
 * kernel holds some uninterruptibly. Blocks. */
bool tern_descendants_kill(int timeout_ms, void (*reaped)(pid_t pid, int status));

/* Removes a directory tree. Does not follow symbolic links or leave the file system. */
void tern_remove_tree(const char *path);

#endif
