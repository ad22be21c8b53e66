/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_LOCK_H
#define TERN_LOCK_H

/*
 * Locks; they do something only in MPI_THREAD_MULTIPLE (docs/threads.md).
 *
 * The library's lock (tern_lock) guards everything that makes, frees or looks up objects. Each lane
 * has one for its part of the message path. Both are recursive. Order: the library's, then one
 * lane's; nobody holds two lanes, and nobody takes the library's with a lane in hand. Functions of
 * lib/pml and lib/coll that others call take their lane themselves.
 */

#include "lib/util/atomic.h"
#include "lib/util/handle.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

struct tern_lane;

/* Take and release the library's lock. Recursive. Do not call with a lane's lock held. */
void tern_lock(void);
void tern_unlock(void);

struct tern_lock {
    pthread_mutex_t mutex;
    int wanting;        /* threads that wait for it */
    uint32_t handovers; /* counts acquisitions */
};

void tern_lane_take(struct tern_lane *lane);
void tern_lane_give(struct tern_lane *lane);

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

/* Takes the lane if nobody has it nor waits for it; true also if this thread has it already. */
bool tern_lane_trylock(struct tern_lane *lane);

/* What this thread holds. */
struct tern_held {
    int depth; /* of the library's lock */
    struct tern_lane *lane;
    int lane_depth;
};

/* Gives up whatever this thread holds, and takes it again: around sleeping, yielding and functions
 * of the user. */
struct tern_held tern_locks_release(void);
void tern_locks_take_again(struct tern_held held);

/* Does a thread wait for something that this one holds? Then it gets it now. A mutex is not fair:
 * the one who waits in MPI would take it again at once, so this waits until the other has it, but
 * not for ever. */
void tern_locks_let_others_in(void);

#endif
