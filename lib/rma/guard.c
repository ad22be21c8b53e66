/* SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE
#include "lib/rma/guard.h"

#include <linux/membarrier.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { SPINS = 64, CONTENTIONS = 64, FIRST_PATIENCE = 16, MOST_PATIENCE = 1 << 14 };

void tern_rma_spin(uint32_t *lock)
{
    for (int i = 0; __atomic_exchange_n(lock, 1, __ATOMIC_ACQUIRE); i++)
        if (i % SPINS == SPINS - 1)
            sched_yield(); /* the holder may need this processor */
        else
            tern_cpu_relax();
}

bool tern_rma_join_fences(void)
{
    static int joined = -1; /* threads that find it out at the same time find the same */
    int known = __atomic_load_n(&joined, __ATOMIC_RELAXED);
    if (known < 0) {
        known = syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED, 0, 0) == 0;
        __atomic_store_n(&joined, known, __ATOMIC_RELAXED);
    }
    return known;
}

static bool fence_everywhere(void)
{
    return syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL_EXPEDITED, 0, 0) == 0;
}

static void await_zero(const uint32_t *word)
{
    for (int i = 0; tern_load_acquire(word); i++)
        if (i % SPINS == SPINS - 1)
            sched_yield();
        else
            tern_cpu_relax();
}

/* Waits while the mode changes; that takes some microseconds. Returns the mode. */
static uint32_t settled_mode(const struct tern_rma_control *target)
{
    uint32_t mode;
    while ((mode = tern_load_acquire(&target->mode)) == TERN_RMA_CHANGING)
        sched_yield();
    return mode;
}

/* Returns true if this long accumulate is one of those that still use words. */
static bool is_reluctant(struct tern_rma_control *target)
{
    uint32_t left = __atomic_load_n(&target->reluctance, __ATOMIC_RELAXED);
    if (left)
        __atomic_store_n(&target->reluctance, left - 1, __ATOMIC_RELAXED);
    return left;
}

static void change_to_locks(const struct tern_rma_guards *guards, struct tern_rma_control *target)
{
    tern_rma_spin(&target->mode_lock);
    if (tern_load_acquire(&target->mode) == TERN_RMA_WORDS) {
        __atomic_store_n(&target->mode, TERN_RMA_CHANGING, __ATOMIC_SEQ_CST);
        bool all = fence_everywhere();
        for (int i = 0; i < guards->count && all; i++)
            await_zero(&guards->controls[i].mark);
        __atomic_store_n(&target->contentions, 0, __ATOMIC_RELAXED);
        tern_store_release(&target->mode, all ? TERN_RMA_LOCKS : TERN_RMA_WORDS);
    }
    tern_rma_unspin(&target->mode_lock);
}

bool tern_rma_want_locks(const struct tern_rma_turf *turf)
{
    uint32_t mode = settled_mode(turf->control);
    if (mode == TERN_RMA_LOCKS || !turf->guards->fences || is_reluctant(turf->control))
        return mode == TERN_RMA_LOCKS;
    change_to_locks(turf->guards, turf->control);
    return settled_mode(turf->control) == TERN_RMA_LOCKS;
}

/* Holds all locks meanwhile, so nobody works under one. */
static void change_to_words(struct tern_rma_control *target)
{
    tern_rma_spin(&target->mode_lock);
    if (tern_load_acquire(&target->mode) == TERN_RMA_LOCKS) {
        uint32_t patience = __atomic_load_n(&target->patience, __ATOMIC_RELAXED) * 2;
        patience = patience < FIRST_PATIENCE  ? FIRST_PATIENCE
                   : patience > MOST_PATIENCE ? MOST_PATIENCE
                                              : patience;
        __atomic_store_n(&target->patience, patience, __ATOMIC_RELAXED);
        __atomic_store_n(&target->reluctance, patience, __ATOMIC_RELAXED);
        for (int i = 0; i < TERN_RMA_STRIPES; i++)
            tern_rma_spin(&target->stripes[i]);
        tern_store_release(&target->mode, TERN_RMA_WORDS);
        for (int i = 0; i < TERN_RMA_STRIPES; i++)
            tern_rma_unspin(&target->stripes[i]);
    }
    tern_rma_unspin(&target->mode_lock);
}

/* Processes may have mapped the memory at different addresses, so the lock goes by the distance
 * from its beginning. */
static uint32_t *lock_of(const struct tern_rma_turf *turf, const char *at)
{
    uintptr_t offset = (uintptr_t)at - (uintptr_t)turf->base;
    return &turf->control->stripes[offset / TERN_RMA_LOCK_BYTES % TERN_RMA_STRIPES];
}

uint32_t *tern_rma_lock_page(const struct tern_rma_turf *turf, const char *at)
{
    uint32_t *lock = lock_of(turf, at);
    tern_rma_spin(lock);
    return lock;
}

bool tern_rma_lock_words(const struct tern_rma_turf *turf, const char *at, bool single,
                         uint32_t **ret_lock)
{
    struct tern_rma_control *target = turf->control;
    uint32_t *lock = lock_of(turf, at);
    if (settled_mode(target) == TERN_RMA_WORDS)
        return false;
    if (__atomic_exchange_n(lock, 1, __ATOMIC_ACQUIRE)) {
        if (single && __atomic_add_fetch(&target->contentions, 1, __ATOMIC_RELAXED) == CONTENTIONS)
            change_to_words(target);
        tern_rma_spin(lock);
    }
    if (TERN_LIKELY(tern_load_acquire(&target->mode) == TERN_RMA_LOCKS)) {
        *ret_lock = lock;
        return true;
    }
    tern_rma_unspin(lock);
    return false;
}
