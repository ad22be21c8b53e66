/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_LOCK_H
#define TERN_LOCK_H

/*
 * Locks. They do something only in MPI_THREAD_MULTIPLE (docs/threads.md).
 *
 * The library's lock (tern_lock) guards everything that makes, frees or looks up objects. Each lane
 * has a lock for its part of the message path. Both kinds are recursive. Order: the library's lock
 * first, then one lane's. No thread holds two lanes, and no thread takes the library's lock while
 * it holds a lane. Functions of lib/pml and lib/coll that other rooms call take the lane's lock
 * themselves.
 */

#include "lib/util/base/atomic.h"
#include "lib/util/base/handle.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

struct tern_lane;

/* Take and release the library's lock. Recursive. Do not call with a lane's lock held. */
void tern_lock(void);
void tern_unlock(void);

/* A lock. */
struct tern_lock {
    pthread_mutex_t mutex;
    int wanting;        /* number of threads that wait for the lock */
    uint32_t handovers; /* number of times the lock was taken */
};

/* Take and release a lane's lock. Recursive. Callers use tern_lane_lock and tern_lane_unlock
 * below. */
void tern_lane_take(struct tern_lane *lane);
void tern_lane_give(struct tern_lane *lane);

/* Take and release a lane's lock; do nothing without threads. */
static inline void tern_lane_lock(struct tern_lane *lane)
{
    if (TERN_UNLIKELY(tern_threads))
        tern_lane_take(lane);
}

static inline void tern_lane_unlock(struct tern_lane *lane)
{
    if (TERN_UNLIKELY(tern_threads))
        tern_lane_give(lane);
}

/* Tries to take the lane's lock, without waiting. Returns false if another thread has the lock or
 * waits for it. Returns true if the lock was taken, also if this thread had it already. */
bool tern_lane_trylock(struct tern_lane *lane);

/* The locks that a thread holds. */
struct tern_held {
    int depth; /* how often the thread has taken the library's lock; 0: not held */
    /* the lane held, NULL if none, and how often the thread has taken it */
    struct tern_lane *lane;
    int lane_depth;
};

/* tern_locks_release releases all locks of this thread; tern_locks_take_again takes them again.
 * Used around sleeping, yielding and calls of the user's functions. */
struct tern_held tern_locks_release(void);
void tern_locks_take_again(struct tern_held held);

/* If another thread waits for a lock that this thread holds: releases all locks, lets the other
 * thread in, and takes the locks again. A mutex is not fair: a thread polling in MPI would take the
 * lock again at once. So this waits until another thread has taken the lock, but only for a limited
 * number of yields. */
void tern_locks_let_others_in(void);

#endif
