/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_PAUSE_H
#define TERN_PAUSE_H

/*
 * For a thread that only looks, time and again, whether another thread still does its work, to step
 * in when it does not. The longer the other has done so, the rarer are the looks: one comes late by
 * an eighth of that time at most, and by 5 ms.
 *
 * Rare looks are a matter of other people's programs. Linux 6.18 lets the processes of a control
 * group (of a job, or of a session, by autogroup) keep a processor for seconds, whoever else waits
 * for it, as long as two of their threads take turns on it more often than some thousand times a
 * second (docs/waiting.md).
 */

#include <time.h>

enum { TERN_PAUSE_LEAST_US = 40, TERN_PAUSE_MOST_US = 5000, TERN_PAUSE_PART = 8 };

/* Sleeps until the next look and returns for how long. `*watched_us`: for how long the other thread
 * has been seen at work; the pause is added to it. */
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
