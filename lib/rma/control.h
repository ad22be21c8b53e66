/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_RMA_CONTROL_H
#define TERN_RMA_CONTROL_H

/*
 * The words that guard one rank's part of a window. They lie in the node's memory, so that all
 * ranks of the node use them, or in the rank's own memory if no other rank can reach them. All zero
 * at first.
 */

#include "lib/util/base/atomic.h"

#include <stdbool.h>
#include <stdint.h>

enum { TERN_RMA_STRIPES = 16, TERN_RMA_WAITER_WORDS = 4 };

struct tern_rma_control {
    /* The lock of MPI_Win_lock: TERN_RMA_EXCLUSIVE, or the number of shared holders. */
    uint64_t lock;
    /* Who waits for the lock: bit r % 256 for local rank r. */
    uint64_t waiters[TERN_RMA_WAITER_WORDS];
    /* nonzero: ranks of other nodes wait, too; the target asks again for them */
    uint32_t far_waiters;
    /* taken around accumulates if some rank pulls from this target */
    uint32_t serial;
    /* rank in the window + 1 of who took the lock last; 0: nobody. For people. */
    uint32_t taker;
    /* spin locks for accumulates, by page of the address; see lib/rma/guard.h */
    uint32_t stripes[TERN_RMA_STRIPES] __attribute__((aligned(TERN_CACHE_LINE)));
    uint32_t mode __attribute__((aligned(TERN_CACHE_LINE))); /* enum tern_rma_mode */
    uint32_t mode_lock;   /* taken to change the mode */
    uint32_t contentions; /* how often a single element has found its lock taken in this mode */
    uint32_t reluctance;  /* long accumulates that do not change the mode yet */
    uint32_t patience;    /* what reluctance was at the last change to words */
    uint64_t sharers[TERN_RMA_WAITER_WORDS]; /* as `waiters`: those who want the lock shared */
    /* The regions of a dynamic window (lib/rma/regions.h): the address of the list in the target,
     * its length, how often it has changed, and the lock taken to change or to read it. */
    uint64_t regions;
    uint32_t region_count, region_changes, region_lock;
    /* This rank's own: the number of its threads that change words, here or at any rank. */
    uint32_t mark __attribute__((aligned(TERN_CACHE_LINE)));
} __attribute__((aligned(TERN_CACHE_LINE)));

#define TERN_RMA_EXCLUSIVE (1ull << 63)

/* Take and release a spin lock between processes. The holder only copies a few bytes. */
void tern_rma_spin(uint32_t *lock);
static inline void tern_rma_unspin(uint32_t *lock)
{
    tern_store_release(lock, 0);
}

/* Tries to take the lock of MPI_Win_lock for `rank` of the window. Returns true if it was taken. */
static inline bool tern_rma_try_lock(struct tern_rma_control *control, int rank, bool exclusive)
{
    uint64_t seen = 0, wanted = exclusive ? TERN_RMA_EXCLUSIVE : 1;
    /* seq_cst: an unlocker reads the waiters after it has changed the word (window_lock.c) */
    while (!__atomic_compare_exchange_n(&control->lock, &seen, wanted, false, __ATOMIC_SEQ_CST,
                                        __ATOMIC_SEQ_CST)) {
        if (exclusive ? seen != 0 : seen & TERN_RMA_EXCLUSIVE)
            return false;
        wanted = exclusive ? TERN_RMA_EXCLUSIVE : seen + 1;
    }
    __atomic_store_n(&control->taker, (uint32_t)rank + 1, __ATOMIC_RELAXED);
    return true;
}

#endif
