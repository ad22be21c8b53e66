/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_MPIRUN_BASE_ACTIVITY_H
#define TERN_MPIRUN_BASE_ACTIVITY_H

/* Tells what a process and its descendants are doing now, as the kernel's scheduler sees them. */

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* The activity of a process and its descendants, in sum. */
struct tern_activity {
    uint64_t cpu_ns; /* processor time of all living threads, in nanoseconds */
    int runnable;    /* threads that run on a processor or wait for one */
    int blocked;     /* threads that wait uninterruptibly, for a disk or a driver */
    uint64_t family; /* tells one set of processes from another */
    bool stopped;    /* a signal such as SIGSTOP has stopped the process `pid` itself */
};

/* Looks at `pid` and its descendants, except orphans. A process that cannot be read (ended, or
 * there is no /proc) counts as nothing. Reads three small files per thread; does not block. */
struct tern_activity tern_activity_of(pid_t pid);
/* The same, but neither runnable nor blocked counts the thread `but`. */
struct tern_activity tern_activity_without(pid_t pid, pid_t but);

#endif
