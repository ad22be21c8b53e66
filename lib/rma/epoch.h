/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_EPOCH_H
#define TERN_EPOCH_H

/*
 * The state machine of epochs (MPI-4.1 section 12.5): which call is allowed when. The functions
 * tern_epoch_check_* change nothing. They return 0, or TERN_ERR_RMA_SYNC (or an error that is named
 * below) with a text that says what is open. lib/rma/sync.c opens and closes epochs.
 */

#include "lib/rma/window.h"

/* What operations look at, which take no lock while other threads of this rank begin and end locks
 * of other targets. Their own epoch is open meanwhile, so any value that they find will do. */

static inline enum tern_rma_access tern_epoch_access(const struct tern_window *window)
{
    return __atomic_load_n(&window->access, __ATOMIC_RELAXED);
}

/* Returns true if an operation was started since the last fence. */
static inline bool tern_epoch_is_used(const struct tern_window *window)
{
    return __atomic_load_n(&window->used, __ATOMIC_RELAXED);
}

/* Returns true if operations on the target are allowed. The test of the fast path. */
static inline bool tern_epoch_is_open(const struct tern_window *window,
                                      const struct tern_rma_target *target)
{
    return __atomic_load_n(&window->everywhere, __ATOMIC_RELAXED) ||
           __atomic_load_n(&target->locked, __ATOMIC_RELAXED) || target->started;
}

/* All that follow read more of the epoch: call them with the lane's lock held. */

/* Explains why an operation on `rank` is refused. Returns TERN_ERR_RMA_SYNC. */
int tern_epoch_refuse(const struct tern_window *window, int rank);
/* Checks whether an operation with a request may begin on `rank`: only in passive target epochs. */
int tern_epoch_check_request(const struct tern_window *window, int rank);
/* Check whether this rank may now call MPI_Win_fence, MPI_Win_start, MPI_Win_complete ... */
int tern_epoch_check_fence(const struct tern_window *window);
int tern_epoch_check_start(const struct tern_window *window);
int tern_epoch_check_complete(const struct tern_window *window);
int tern_epoch_check_post(const struct tern_window *window);
int tern_epoch_check_wait(const struct tern_window *window);
/* For MPI_Win_lock. Also returns TERN_ERR_RMA_CONFLICT if this rank would lock its own memory while
 * it is exposed by MPI_Win_post. */
int tern_epoch_check_lock(const struct tern_window *window, int rank);
int tern_epoch_check_unlock(const struct tern_window *window, int rank);
int tern_epoch_check_lock_all(const struct tern_window *window);
int tern_epoch_check_unlock_all(const struct tern_window *window);
/* For the flush calls; `rank` is -1 for those without a rank. */
int tern_epoch_check_flush(const struct tern_window *window, int rank);
/* For MPI_Win_free. Refuses operations after the last MPI_Win_fence only if `strict`: they complete
 * all the same. */
int tern_epoch_check_free(const struct tern_window *window, bool strict);

#endif
