/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Access and exposure are two machines: a rank may expose its memory to some ranks and access that
 * of others at the same time.
 *
 *      access:    none <-> fence (fence)     exposure:   none <-> posted (post, wait)
 *                 none <-> start (start, complete)
 *                 none <-> lock (lock of the first target, unlock of the last one)
 *                 none <-> lock all (lock_all, unlock_all)
 *
 * MPI_Win_fence without MPI_MODE_NOSUCCEED may begin an epoch, but only operations show whether it
 * did: programs end their last epoch with such a fence and go on with locks. So until its first
 * operation this epoch counts as none.
 */

#include "lib/rma/epoch.h"

#include "lib/util/base/error.h"

#include <stdio.h>

enum { STATE_TEXT = 160 };

/* Returns true if MPI_Win_lock has locked the target, or another thread waits for the lock. */
static bool is_locked(const struct tern_window *window, int rank)
{
    const struct tern_rma_target *target = &window->targets[rank];
    return window->access == TERN_RMA_LOCK && (target->locked || target->taking);
}

static int first_locked(const struct tern_window *window)
{
    for (int rank = 0; rank < window->size; rank++)
        if (is_locked(window, rank))
            return rank;
    return -1;
}

/* Writes what access is open, for people. */
static const char *describe(const struct tern_window *window, char text[STATE_TEXT])
{
    switch (window->access) {
    case TERN_RMA_FENCE:
        snprintf(text, STATE_TEXT, "an epoch of MPI_Win_fence%s is open",
                 tern_epoch_is_used(window) ? " with operations" : "");
        break;
    case TERN_RMA_START:
        snprintf(text, STATE_TEXT, "an epoch of MPI_Win_start to %d rank%s is open",
                 window->started_count, window->started_count == 1 ? "" : "s");
        break;
    case TERN_RMA_LOCK:
        snprintf(text, STATE_TEXT, "MPI_Win_lock of rank %d%s is open", first_locked(window),
                 window->locks > 1 ? " and others" : "");
        break;
    case TERN_RMA_LOCK_ALL: snprintf(text, STATE_TEXT, "MPI_Win_lock_all is open"); break;
    default:
        snprintf(text, STATE_TEXT, "no access epoch is open%s",
                 window->exposed ? " (only MPI_Win_post, which gives access to others)" : "");
    }
    return text;
}

/* Returns true if an epoch is open that another kind of epoch may not follow. */
static bool is_busy(const struct tern_window *window)
{
    return window->access != TERN_RMA_NO_ACCESS &&
           !(window->access == TERN_RMA_FENCE && !tern_epoch_is_used(window));
}

static int refuse(const struct tern_window *window, const char *wanted)
{
    char text[STATE_TEXT];
    return tern_error(TERN_ERR_RMA_SYNC, "%s; %s", describe(window, text), wanted);
}

int tern_epoch_refuse(const struct tern_window *window, int rank)
{
    char text[STATE_TEXT];
    return tern_error(TERN_ERR_RMA_SYNC,
                      "the target is rank %d, and %s; begin access to this rank first, by "
                      "MPI_Win_fence, MPI_Win_start, MPI_Win_lock or MPI_Win_lock_all",
                      rank, describe(window, text));
}

int tern_epoch_check_request(const struct tern_window *window, int rank)
{
    if (window->access == TERN_RMA_LOCK || window->access == TERN_RMA_LOCK_ALL)
        return 0;
    char text[STATE_TEXT];
    return tern_error(TERN_ERR_RMA_SYNC,
                      "the target is rank %d, and %s; an operation with a request needs "
                      "MPI_Win_lock or MPI_Win_lock_all",
                      rank, describe(window, text));
}

int tern_epoch_check_fence(const struct tern_window *window)
{
    if (window->exposed)
        return tern_error(TERN_ERR_RMA_SYNC,
                          "MPI_Win_post to %d rank%s is open; call MPI_Win_wait before a fence",
                          window->exposed_count, window->exposed_count == 1 ? "" : "s");
    if (window->access == TERN_RMA_NO_ACCESS || window->access == TERN_RMA_FENCE)
        return 0;
    return refuse(window, "end it before a fence");
}

int tern_epoch_check_start(const struct tern_window *window)
{
    return is_busy(window) ? refuse(window, "end it before MPI_Win_start") : 0;
}

int tern_epoch_check_complete(const struct tern_window *window)
{
    return window->access == TERN_RMA_START
               ? 0
               : refuse(window, "MPI_Win_complete ends what MPI_Win_start has begun");
}

int tern_epoch_check_post(const struct tern_window *window)
{
    if (window->exposed)
        return tern_error(TERN_ERR_RMA_SYNC,
                          "MPI_Win_post to %d rank%s is open; call MPI_Win_wait before the next "
                          "MPI_Win_post",
                          window->exposed_count, window->exposed_count == 1 ? "" : "s");
    if (window->access == TERN_RMA_FENCE && tern_epoch_is_used(window))
        return refuse(window, "call MPI_Win_fence once more before MPI_Win_post");
    int rank = window->rank;
    if (is_locked(window, rank))
        return tern_error(TERN_ERR_RMA_CONFLICT,
                          "this rank, %d, has locked its own memory; call MPI_Win_unlock before "
                          "MPI_Win_post", rank);
    return 0;
}

int tern_epoch_check_wait(const struct tern_window *window)
{
    if (window->exposed)
        return 0;
    return tern_error(TERN_ERR_RMA_SYNC, "no MPI_Win_post is open; MPI_Win_wait and MPI_Win_test "
                                         "end what MPI_Win_post has begun");
}

static int check_lockable(const struct tern_window *window)
{
    if (!window->unlockable)
        return 0;
    return tern_error(TERN_ERR_RMA_SYNC, "the window was made with the hint no_locks=true, which "
                                         "promises that no rank calls MPI_Win_lock or "
                                         "MPI_Win_lock_all");
}

int tern_epoch_check_lock(const struct tern_window *window, int rank)
{
    int rc = check_lockable(window);
    if (rc)
        return rc;
    if (is_locked(window, rank))
        return tern_error(TERN_ERR_RMA_SYNC,
                          "rank %d is locked by this process already%s; call MPI_Win_unlock first",
                          rank, window->targets[rank].locked ? "" : ", in another thread");
    if (window->access != TERN_RMA_LOCK && is_busy(window))
        return refuse(window, "end it before MPI_Win_lock");
    if (rank == window->rank && window->exposed)
        return tern_error(TERN_ERR_RMA_CONFLICT,
                          "rank is this process, %d, whose memory MPI_Win_post exposes; call "
                          "MPI_Win_wait first", rank);
    return 0;
}

int tern_epoch_check_unlock(const struct tern_window *window, int rank)
{
    if (window->targets[rank].locked)
        return 0;
    char text[STATE_TEXT];
    return tern_error(TERN_ERR_RMA_SYNC,
                      "rank %d is not locked by this process, and %s; MPI_Win_unlock ends what "
                      "MPI_Win_lock has begun", rank, describe(window, text));
}

int tern_epoch_check_lock_all(const struct tern_window *window)
{
    int rc = check_lockable(window);
    return rc ? rc : is_busy(window) ? refuse(window, "end it before MPI_Win_lock_all") : 0;
}

int tern_epoch_check_unlock_all(const struct tern_window *window)
{
    return window->access == TERN_RMA_LOCK_ALL
               ? 0
               : refuse(window, "MPI_Win_unlock_all ends what MPI_Win_lock_all has begun");
}

int tern_epoch_check_flush(const struct tern_window *window, int rank)
{
    if (window->access == TERN_RMA_LOCK_ALL)
        return 0;
    if (window->access != TERN_RMA_LOCK)
        return refuse(window, "a flush needs MPI_Win_lock or MPI_Win_lock_all");
    if (rank < 0 || window->targets[rank].locked)
        return 0;
    char text[STATE_TEXT];
    return tern_error(TERN_ERR_RMA_SYNC, "rank %d is not locked by this process, and %s", rank,
                      describe(window, text));
}

int tern_epoch_check_free(const struct tern_window *window, bool strict)
{
    if (window->exposed)
        return tern_error(TERN_ERR_RMA_SYNC,
                          "MPI_Win_post is open; call MPI_Win_wait before MPI_Win_free");
    if (!is_busy(window) || (window->access == TERN_RMA_FENCE && !strict))
        return 0;
    return refuse(window, window->access == TERN_RMA_FENCE
                              ? "all ranks must call MPI_Win_fence once more before MPI_Win_free"
                              : "end it before MPI_Win_free");
}
