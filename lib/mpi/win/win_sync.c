/* SPDX-License-Identifier: BSD-3-Clause */

/* Synchronization of windows (MPI-4.1 section 12.5). */

#include "lib/rma/sync.h"

#include "lib/mpi/object/group.h"
#include "lib/mpi/procedures.h"
#include "lib/mpi/win/win.h"
#include "lib/util/base/error.h"

#include <stdlib.h>

int tern_mpi_win_fence(int assert, struct tern_win *win)
{
    int rc = tern_window_end_fence(&win->window);
    if (tern_error_class(rc) == MPI_ERR_RMA_SYNC)
        return rc;
    int barrier_rc = tern_coll_barrier(&win->comm->coll);
    tern_window_begin_fence(&win->window, assert);
    return rc ? rc : barrier_rc;
}

/* Finds the ranks of a group in the window. The caller owns *ret_ranks. */
static int find_ranks(const struct tern_win *win, struct tern_group *group, int **ret_ranks)
{
    int *ranks = malloc(((size_t)group->size + 1) * sizeof *ranks);
    if (!ranks)
        return tern_error(TERN_ERR_NO_MEM, "no memory for an epoch with %d ranks", group->size);
    for (int i = 0; i < group->size; i++) {
        ranks[i] = tern_group_find(win->comm->group, tern_group_process(group, i));
        if (ranks[i] == MPI_UNDEFINED) {
            free(ranks);
            return tern_error(TERN_ERR_GROUP,
                              "process %d of the group is not in the group of the window", i);
        }
    }
    *ret_ranks = ranks;
    return 0;
}

int tern_mpi_win_post(struct tern_group *group, int assert, struct tern_win *win)
{
    int *ranks;
    int rc = find_ranks(win, group, &ranks);
    return rc ? rc : tern_window_post(&win->window, ranks, group->size, assert);
}

int tern_mpi_win_start(struct tern_group *group, int assert, struct tern_win *win)
{
    int *ranks;
    int rc = find_ranks(win, group, &ranks);
    return rc ? rc : tern_window_start(&win->window, ranks, group->size, assert);
}

int tern_mpi_win_complete(struct tern_win *win)
{
    return tern_window_complete(&win->window);
}

int tern_mpi_win_wait(struct tern_win *win)
{
    return tern_window_wait(&win->window);
}

int tern_mpi_win_test(struct tern_win *win, int *flag)
{
    bool done = false;
    int rc = tern_window_test(&win->window, &done);
    if (!rc)
        *flag = done;
    return rc;
}

int tern_mpi_win_lock(int lock_type, int rank, int assert, struct tern_win *win)
{
    return tern_window_lock(&win->window, rank, lock_type == MPI_LOCK_EXCLUSIVE, assert);
}

int tern_mpi_win_unlock(int rank, struct tern_win *win)
{
    return tern_window_unlock(&win->window, rank);
}

int tern_mpi_win_lock_all(int assert, struct tern_win *win)
{
    return tern_window_lock_all(&win->window, assert);
}

int tern_mpi_win_unlock_all(struct tern_win *win)
{
    return tern_window_unlock_all(&win->window);
}

int tern_mpi_win_flush(int rank, struct tern_win *win)
{
    return tern_window_flush_epoch(&win->window, rank, false);
}

int tern_mpi_win_flush_all(struct tern_win *win)
{
    return tern_window_flush_epoch(&win->window, -1, false);
}

int tern_mpi_win_flush_local(int rank, struct tern_win *win)
{
    return tern_window_flush_epoch(&win->window, rank, true);
}

int tern_mpi_win_flush_local_all(struct tern_win *win)
{
    return tern_window_flush_epoch(&win->window, -1, true);
}

int tern_mpi_win_sync(struct tern_win *win)
{
    (void)win;
    tern_window_sync();
    return 0;
}
