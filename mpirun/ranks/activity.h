/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_MPIRUN_RANKS_ACTIVITY_H
#define TERN_MPIRUN_RANKS_ACTIVITY_H

/* What a process and those below it are doing at this moment, as the kernel's scheduler sees it. */

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct tern_activity {
    uint64_t cpu_ns; /* processor time of all threads that live */
    int runnable;    /* threads on a processor or waiting for one */
    int blocked;     /* threads that wait for a disk or a driver, uninterruptibly */
    bool stopped;    /* the process itself, by a signal such as SIGSTOP */
};

/* Looks at `pid` and its descendants, except orphans. What cannot be looked at (the process has
 * ended, there is no /proc) counts as nothing. Reads two small files per thread; does not block. */
struct tern_activity tern_activity_of(pid_t pid);

#endif
