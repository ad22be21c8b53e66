/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_MPIRUN_SERVE_INNERMOST_H
#define TERN_MPIRUN_SERVE_INNERMOST_H

/* Finds out in which function processes are that run and do not say so. A child of this process
 * stops each of them for some microseconds (ptrace) to read its registers. The child can be killed
 * at any time, and then the kernel lets the processes run on. */

#include <sys/types.h>

enum { TERN_INNERMOST_MOST = 8, TERN_INNERMOST_TEXT = 180 };

/* Looks at `count` processes, at most TERN_INNERMOST_MOST. Calls `told` on the loop when done, or
 * after a second: texts[i] is "spin at hang.c:12 (hang)", or "" if the system forbids to look or
 * the process does not run. One search at a time. Does not block. */
void tern_innermost_find(const pid_t *pids, int count,
                         void (*told)(char (*texts)[TERN_INNERMOST_TEXT]));

#endif
