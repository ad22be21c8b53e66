/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_LIFELINE_H
#define TERN_LIFELINE_H

/* A lifeline ends a process when another process has ended, whatever both are doing.
 *
 * It is a pair of connected sockets (socketpair). The process to be ended keeps one end, the other
 * process holds the far end. Nothing is ever sent. When the far end is closed the kernel sends
 * SIGKILL: to processes that compute, sleep, spin or are stopped alike. */

#include <stdbool.h>
#include <sys/types.h>

/* Ties `process`, or the process group -`process` if it is negative, to the lifeline whose near end
 * is `end`. The tie lasts as long as any process keeps `end` open; a process that is forked later
 * is tied only as a member of the group. Returns true if the kernel accepts it. The far end may
 * have been closed before: the caller must look. Safe between fork and exec. Keeps no reference to
 * `end`. */
bool tern_lifeline_tie(int end, pid_t process);

/* Ends the tie, also where a forked process still has `end` open. The far end may be closed from
 * now on. */
void tern_lifeline_untie(int end);

#endif
