/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_ANCESTRY_H
#define TERN_ANCESTRY_H

/* A process, its parent, its parent's parent, and so on. */

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum { TERN_ANCESTRY_MOST = 16 };
struct tern_ancestry {
    int32_t count;
    int32_t pids[TERN_ANCESTRY_MOST]; /* the process itself comes first */
};

/* Returns the parent of a process, or 0 if there is no such process. *ret_ended (may be NULL): the
 * process has ended, and its parent has not waited for it yet. */
pid_t tern_parent_of(pid_t pid, bool *ret_ended);

/* Returns this process and those above it, up to the child of `top`. If `top` is none of its first
 * TERN_ANCESTRY_MOST ancestors, returns as many of them as there are. Costs one system call if
 * `top` is the parent. */
struct tern_ancestry tern_ancestry_below(pid_t top);

#endif
