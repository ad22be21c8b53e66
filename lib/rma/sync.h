/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_RMA_SYNC_H
#define TERN_RMA_SYNC_H

/* Opens and closes epochs (MPI-4.1 section 12.5). Each function first asks lib/rma/epoch.h if it
 * may be called now; if not, it changes nothing and returns TERN_ERR_RMA_SYNC. `assert` is what the
 * program passed. */

#include "lib/rma/window.h"

/* The two halves of MPI_Win_fence, before and after the barrier of all ranks. The first one blocks
 * until this rank's operations are complete. */
int tern_window_end_fence(struct tern_window *window);
void tern_window_begin_fence(struct tern_window *window, int assert);

/* MPI_Win_post, MPI_Win_start, MPI_Win_complete, MPI_Win_wait and MPI_Win_test. `ranks` is
 * malloc'ed; the call owns it. start, complete and wait block. */
int tern_window_post(struct tern_window *window, int *ranks, int count, int assert);
int tern_window_start(struct tern_window *window, int *ranks, int count, int assert);
int tern_window_complete(struct tern_window *window);
int tern_window_wait(struct tern_window *window);
int tern_window_test(struct tern_window *window, bool *ret_done);

/* MPI_Win_lock, MPI_Win_unlock, MPI_Win_lock_all and MPI_Win_unlock_all. All block. */
int tern_window_lock(struct tern_window *window, int rank, bool exclusive, int assert);
int tern_window_unlock(struct tern_window *window, int rank);
int tern_window_lock_all(struct tern_window *window, int assert);
int tern_window_unlock_all(struct tern_window *window);

/* The flush calls, which need a passive target epoch; see tern_window_flush. */
int tern_window_flush_epoch(struct tern_window *window, int rank, bool local);

#endif
