/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_UTIL_THREAD_H
#define TERN_UTIL_THREAD_H

/* Threads of the library itself. */

#include <pthread.h>

/* Starts a thread that runs `run(NULL)`. The thread blocks all signals, since they are for the
 * program's threads, except those that report a fault of the thread itself: if one of those is
 * blocked, the system ends the process before a handler can report the fault. Returns 0, or an
 * error number of pthread_create. */
int tern_thread_start(void *(*run)(void *), pthread_t *ret_thread);

#endif
