/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_RMA_GUARD_H
#define TERN_RMA_GUARD_H

/*
 * What keeps the accumulates on one rank's memory atomic to each other. For elements that an atomic
 * instruction can change there are two modes:
 *
 *   words   each element by one atomic instruction; the mode at first
 *   locks   under a spin lock for each page, by plain loops; from the first long accumulate on
 *
 * An atomic instruction costs as much as a lock, but a lock covers 512 elements at a time. If many
 * ranks change single elements and find the lock taken, the mode returns to words, and each time it
 * takes more long accumulates until it changes again.
 *
 * A rank that works in words sets its mark, then reads the mode. A rank that changes the mode from
 * words writes the mode, then waits until no mark is set. The first needs no fence between its
 * store and its load, because the second runs membarrier(2), which is a fence in all processes. If
 * the system refuses membarrier, the mode stays words.
 *
 * Elements that no atomic instruction can change are changed under the locks in both modes.
 */

#include "lib/rma/control.h"
#include "lib/util/base/handle.h"

enum tern_rma_mode { TERN_RMA_WORDS, TERN_RMA_CHANGING, TERN_RMA_LOCKS };

/* How many elements make an accumulate a long one. */
enum { TERN_RMA_LONG = 4, TERN_RMA_LOCK_BYTES = 4096 };

/* The ranks that change each other's memory, as one of them sees it. */
struct tern_rma_guards {
    struct tern_rma_control *controls; /* of all of them */
    int count;
    uint32_t *mark; /* this rank's */
    bool fences;    /* all of them take part in membarrier */
};

/* One rank's memory, as another one sees it. */
struct tern_rma_turf {
    const struct tern_rma_guards *guards;
    struct tern_rma_control *control;
    const char *base; /* its beginning here: the locks go by the distance from it */
};

/* Lets this process take part in membarrier. Returns true if the system permits it. */
bool tern_rma_join_fences(void);

/* Begins to change words. Returns false if the mode is another one. */
static inline bool tern_rma_begin_words(const struct tern_rma_turf *turf)
{
    uint32_t *mark = turf->guards->mark;
    if (TERN_UNLIKELY(tern_threads))
        __atomic_fetch_add(mark, 1, __ATOMIC_SEQ_CST);
    else
        __atomic_store_n(mark, 1, __ATOMIC_RELAXED);
    __atomic_signal_fence(__ATOMIC_SEQ_CST); /* the fence between them is the other one's */
    return TERN_LIKELY(tern_load_acquire(&turf->control->mode) == TERN_RMA_WORDS);
}

/* Ends the change. Call it also after tern_rma_begin_words has returned false. */
static inline void tern_rma_end_words(const struct tern_rma_turf *turf)
{
    uint32_t *mark = turf->guards->mark;
    if (TERN_UNLIKELY(tern_threads))
        __atomic_fetch_sub(mark, 1, __ATOMIC_RELEASE);
    else
        tern_store_release(mark, 0);
}

/* Asks for the mode locks, before a long accumulate. Returns true if the mode is locks now. */
bool tern_rma_want_locks(const struct tern_rma_turf *turf);

/* Returns true if the mode is locks. */
static inline bool tern_rma_is_locked(const struct tern_rma_turf *turf)
{
    return tern_load_acquire(&turf->control->mode) == TERN_RMA_LOCKS;
}

/* Take the lock of the page of `at`; tern_rma_unspin releases it. tern_rma_lock_page takes the lock
 * in any mode. tern_rma_lock_words returns false, without the lock, if the mode is words. `single`:
 * the caller will change few elements. */
uint32_t *tern_rma_lock_page(const struct tern_rma_turf *turf, const char *at);
bool tern_rma_lock_words(const struct tern_rma_turf *turf, const char *at, bool single,
                         uint32_t **ret_lock);

/* Returns the bytes from `at` to the end of its page. */
static inline int64_t tern_rma_page_left(const struct tern_rma_turf *turf, const char *at)
{
    uintptr_t offset = (uintptr_t)at - (uintptr_t)turf->base;
    return TERN_RMA_LOCK_BYTES - (int64_t)(offset % TERN_RMA_LOCK_BYTES);
}

#endif
