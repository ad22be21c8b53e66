/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/pml/lock.h"

#include "lib/pml/lane.h"
#include "lib/util/base/log.h"

#include <sched.h>
#include <stdlib.h>

static struct tern_lock library = {.mutex = PTHREAD_MUTEX_INITIALIZER};

/* The locks that this thread holds. Thread-local: other threads would read a word in the lock that
 * names the owner while it changes, and on weakly ordered machines a former owner could take itself
 * for the present owner. */
static __thread struct tern_held mine __attribute__((tls_model("initial-exec")));

/* Counts that this thread has taken the lock. */
static void has_it(struct tern_lock *lock)
{
    __atomic_store_n(&lock->handovers, lock->handovers + 1, __ATOMIC_RELAXED);
}

/* Tries for a short time: most calls end before the system could put us to sleep and wake us. */
static bool taken_soon(struct tern_lock *lock)
{
    enum { TRIES = 25 };
    for (int i = 0; i < TRIES; i++) {
        for (int k = 0; k < 4; k++)
            tern_cpu_relax();
        if (pthread_mutex_trylock(&lock->mutex) == 0)
            return true;
    }
    return false;
}

/* Takes the lock. Returns true if there was no wait. */
static bool take(struct tern_lock *lock)
{
    bool at_once = pthread_mutex_trylock(&lock->mutex) == 0;
    if (!at_once) {
        __atomic_fetch_add(&lock->wanting, 1, __ATOMIC_RELAXED);
        if (!taken_soon(lock))
            pthread_mutex_lock(&lock->mutex);
        __atomic_fetch_sub(&lock->wanting, 1, __ATOMIC_RELAXED);
    }
    has_it(lock);
    return at_once;
}

static _Noreturn void out_of_order(const char *what)
{
    tern_log("a thread that holds a lane takes %s: this is a bug of Tern", what);
    abort();
}

void tern_lock(void)
{
    if (!tern_threads || mine.depth++ > 0)
        return;
    if (mine.lane)
        out_of_order("the library's lock");
    take(&library);
}

void tern_unlock(void)
{
    if (mine.depth > 0 && --mine.depth == 0)
        pthread_mutex_unlock(&library.mutex);
}

static void take_lane(struct tern_lane *lane)
{
    if (!take(&lane->lock))
        tern_count(&lane->counters.contended_locks, 1);
}

void tern_lane_take(struct tern_lane *lane)
{
    if (mine.lane_depth > 0) {
        if (mine.lane != lane)
            out_of_order("another lane");
        mine.lane_depth++;
        return;
    }
    take_lane(lane);
    mine.lane = lane;
    mine.lane_depth = 1;
}

void tern_lane_give(struct tern_lane *lane)
{
    /* 0: threads were allowed after the lane was taken */
    if (mine.lane_depth == 0 || --mine.lane_depth > 0)
        return;
    mine.lane = NULL;
    pthread_mutex_unlock(&lane->lock.mutex);
}

bool tern_lane_trylock(struct tern_lane *lane)
{
    if (mine.lane_depth > 0) {
        if (mine.lane != lane)
            return false;
    } else {
        if (__atomic_load_n(&lane->lock.wanting, __ATOMIC_RELAXED) ||
            pthread_mutex_trylock(&lane->lock.mutex))
            return false;
        has_it(&lane->lock);
        mine.lane = lane;
    }
    mine.lane_depth++;
    return true;
}

struct tern_held tern_locks_release(void)
{
    struct tern_held held = mine;
    if (held.lane)
        pthread_mutex_unlock(&held.lane->lock.mutex);
    if (held.depth)
        pthread_mutex_unlock(&library.mutex);
    mine = (struct tern_held){0};
    return held;
}

void tern_locks_take_again(struct tern_held held)
{
    if (held.depth)
        take(&library);
    if (held.lane)
        take_lane(held.lane);
    mine = held;
}

static bool wanted(const struct tern_lock *lock)
{
    return __atomic_load_n(&lock->wanting, __ATOMIC_RELAXED);
}

void tern_locks_let_others_in(void)
{
    enum { PATIENCE = 200 };
    struct tern_lock *lock = mine.lane && wanted(&mine.lane->lock) ? &mine.lane->lock
                             : mine.depth && wanted(&library)      ? &library
                                                                   : NULL;
    if (!lock)
        return;
    uint32_t before = lock->handovers;
    struct tern_held held = tern_locks_release();
    for (int i = 0; i < PATIENCE && __atomic_load_n(&lock->handovers, __ATOMIC_RELAXED) == before;
         i++)
        sched_yield();
    tern_locks_take_again(held);
}
