/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_PAUSE_H
#define TERN_PAUSE_H

/*
 * Pauses of a thread that looks repeatedly whether another thread still does its work, and steps in
 * when the other stops. The longer the other thread has worked, the rarer are the looks. A look is
 * late by at most an eighth of that time, and by at most 5 ms.
 *
 * Why looks must be rare: Linux 6.18 lets the processes of a control group (of a job, or with
 * autogroup of a login session) keep a processor for seconds, although other programs wait for it,
 * as long as two of their threads take turns on it more than about a thousand times a second
 * (docs/waiting.md).
 */

#include <time.h>

/* Bounds of a pause, and the part of the watched time that a pause lasts. */
enum { TERN_PAUSE_LEAST_US = 40, TERN_PAUSE_MOST_US = 5000, TERN_PAUSE_PART = 8 };

/* Sleeps until the next look. Returns the length of the pause in microseconds. `*watched_us` holds
 * for how long the other thread has been seen at work; adds the pause to it. */
static inline unsigned tern_pause(unsigned *watched_us)
{
    unsigned pause_us = *watched_us / TERN_PAUSE_PART;
    if (pause_us < TERN_PAUSE_LEAST_US)
        pause_us = TERN_PAUSE_LEAST_US;
    if (pause_us > TERN_PAUSE_MOST_US)
        pause_us = TERN_PAUSE_MOST_US;
    nanosleep(&(struct timespec){0, (long)pause_us * 1000}, NULL);
    if (*watched_us < TERN_PAUSE_PART * TERN_PAUSE_MOST_US)
        *watched_us += pause_us;
    return pause_us;
}

#endif
