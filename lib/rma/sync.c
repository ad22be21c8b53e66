/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Epochs. What is mapped or pulled is complete when the operation returns, so most of the work here
 * is for targets that are asked.
 *
 * Post and complete are empty messages on the window's context. MPI_Win_start waits for the posts
 * of its group. MPI_Win_post starts the receives of MPI_Win_complete's messages, so MPI_Win_test
 * only looks at them.
 */

#include "lib/rma/sync.h"

#include "lib/rma/epoch.h"
#include "lib/rma/rma_message.h"
#include "lib/rma/reach.h"

#include "lib/pml/pml.h"
#include "lib/util/base/error.h"

#include <stdlib.h>

/* Other threads may change the epoch meanwhile, so it is looked at with the lane's lock held. */
static int check(struct tern_window *window, int (*allows)(const struct tern_window *window))
{
    tern_lane_lock(window->context->lane);
    int rc = allows(window);
    tern_lane_unlock(window->context->lane);
    return rc;
}

/* Operations read both without the lock. Call with the lane's lock held. */
static void set_access(struct tern_window *window, enum tern_rma_access access)
{
    __atomic_store_n(&window->access, access, __ATOMIC_RELAXED);
    __atomic_store_n(&window->everywhere,
                     access == TERN_RMA_FENCE || access == TERN_RMA_LOCK_ALL, __ATOMIC_RELAXED);
}

static void set_locked(struct tern_rma_target *target, uint8_t locked)
{
    __atomic_store_n(&target->locked, locked, __ATOMIC_RELAXED);
}

/* ---- flush ---- */

static int flush_locked(struct tern_window *window, int rank, bool local)
{
    int first = rank < 0 ? 0 : rank, end = rank < 0 ? window->size : rank + 1, rc = 0;
    for (int i = first; i < end && !local; i++)
        if (window->targets[i].unflushed) {
            int error = tern_rma_ask_flush(window, i);
            rc = rc ? rc : error;
        }
    for (int i = first; i < end; i++) {
        struct tern_rma_target *target = &window->targets[i];
        tern_rma_await(window, local ? &target->local : &target->remote);
    }
    int fault = tern_rma_take_fault(window);
    return rc ? rc : fault;
}

int tern_window_flush(struct tern_window *window, int rank, bool local)
{
    tern_fence_release(); /* stores to mapped memory come before what follows */
    if (!window->any_asked || (rank >= 0 && window->targets[rank].way != &tern_rma_asked))
        return 0;
    tern_lane_lock(window->context->lane);
    int rc = flush_locked(window, rank, local);
    tern_lane_unlock(window->context->lane);
    return rc;
}

int tern_window_flush_epoch(struct tern_window *window, int rank, bool local)
{
    tern_lane_lock(window->context->lane);
    int rc = tern_epoch_check_flush(window, rank);
    for (int i = rank < 0 ? 0 : rank; !rc && i < (rank < 0 ? window->size : rank + 1); i++)
        window->targets[i].flushed = true;
    tern_lane_unlock(window->context->lane);
    return rc ? rc : tern_window_flush(window, rank, local);
}

/* ---- fence ---- */

int tern_window_end_fence(struct tern_window *window)
{
    int rc = check(window, tern_epoch_check_fence);
    if (rc)
        return rc;
    rc = tern_window_flush(window, -1, false);
    tern_window_sync();
    return rc;
}

void tern_window_begin_fence(struct tern_window *window, int assert)
{
    tern_window_sync();
    tern_lane_lock(window->context->lane);
    set_access(window, assert & MPI_MODE_NOSUCCEED ? TERN_RMA_NO_ACCESS : TERN_RMA_FENCE);
    __atomic_store_n(&window->used, false, __ATOMIC_RELAXED);
    tern_lane_unlock(window->context->lane);
}

/* An epoch of another kind begins: a fence before it has opened none. */
static void leave_fence(struct tern_window *window)
{
    if (window->access == TERN_RMA_FENCE && !tern_epoch_is_used(window))
        set_access(window, TERN_RMA_NO_ACCESS);
}

/* ---- post, start, complete, wait ---- */

static int send_empty(struct tern_window *window, int rank, int tag)
{
    return tern_rma_send(window, rank, tag, NULL, 0);
}

static void drop_exposure(struct tern_window *window)
{
    for (int i = 0; i < window->exposed_count; i++)
        if (window->completions[i])
            window->completions[i]->kind->release(window->completions[i]);
    free(window->completions);
    free(window->exposed_ranks);
    window->completions = NULL;
    window->exposed_ranks = NULL;
    window->exposed_count = 0;
    window->exposed = false;
}

static int expose(struct tern_window *window, int assert)
{
    int rc = 0;
    for (int i = 0; i < window->exposed_count && !rc; i++)
        rc = tern_pml_irecv(window->context, NULL, 0, &tern_type_bytes, window->exposed_ranks[i],
                            TERN_RMA_TAG_COMPLETE, &window->completions[i]);
    for (int i = 0; i < window->exposed_count && !rc; i++)
        if (!(assert & MPI_MODE_NOCHECK))
            rc = send_empty(window, window->exposed_ranks[i], TERN_RMA_TAG_POST);
    return rc;
}

int tern_window_post(struct tern_window *window, int *ranks, int count, int assert)
{
    tern_window_sync();
    tern_lane_lock(window->context->lane);
    int rc = tern_epoch_check_post(window);
    struct tern_request **completions = rc ? NULL : calloc((size_t)count + 1, sizeof *completions);
    if (!rc && !completions)
        rc = tern_error(TERN_ERR_NO_MEM, "no memory for an epoch with %d ranks", count);
    if (rc) {
        tern_lane_unlock(window->context->lane);
        free(ranks);
        return rc;
    }
    leave_fence(window);
    window->exposed = true;
    window->exposed_ranks = ranks;
    window->exposed_count = count;
    window->completions = completions;
    rc = expose(window, assert);
    tern_lane_unlock(window->context->lane);
    return rc;
}

int tern_window_start(struct tern_window *window, int *ranks, int count, int assert)
{
    int rc = check(window, tern_epoch_check_start);
    if (rc) {
        free(ranks);
        return rc;
    }
    for (int i = 0; i < count && !rc && !(assert & MPI_MODE_NOCHECK); i++)
        rc = tern_pml_recv(window->context, NULL, 0, &tern_type_bytes, ranks[i],
                           TERN_RMA_TAG_POST, MPI_STATUS_IGNORE);
    if (rc) {
        free(ranks);
        return rc;
    }
    tern_lane_lock(window->context->lane);
    set_access(window, TERN_RMA_START);
    window->started_ranks = ranks;
    window->started_count = count;
    for (int i = 0; i < count; i++)
        window->targets[ranks[i]].started = true;
    tern_lane_unlock(window->context->lane);
    return 0;
}

int tern_window_complete(struct tern_window *window)
{
    int rc = check(window, tern_epoch_check_complete);
    if (rc)
        return rc;
    for (int i = 0; i < window->started_count; i++) {
        int rank = window->started_ranks[i];
        int flush_rc = tern_window_flush(window, rank, false);
        tern_lane_lock(window->context->lane);
        int send_rc = send_empty(window, rank, TERN_RMA_TAG_COMPLETE);
        tern_lane_unlock(window->context->lane);
        rc = rc ? rc : flush_rc ? flush_rc : send_rc;
        window->targets[rank].started = false;
    }
    tern_lane_lock(window->context->lane);
    free(window->started_ranks);
    window->started_ranks = NULL;
    window->started_count = 0;
    set_access(window, TERN_RMA_NO_ACCESS);
    tern_lane_unlock(window->context->lane);
    return rc;
}

/* Ends the exposure epoch; all messages have come. Returns the error of one of them. */
static int end_exposure(struct tern_window *window)
{
    int rc = 0;
    for (int i = 0; i < window->exposed_count; i++) {
        struct tern_request *request = window->completions[i];
        if (rc || !request || !request->error)
            continue;
        rc = request->error;
        if (request->kind->explain)
            request->kind->explain(request);
    }
    drop_exposure(window);
    tern_window_sync();
    return rc;
}

int tern_window_wait(struct tern_window *window)
{
    int rc = check(window, tern_epoch_check_wait);
    if (rc)
        return rc;
    for (int i = 0; i < window->exposed_count; i++)
        if (window->completions[i])
            tern_request_wait_in(window->completions[i], "MPI_Win_wait");
    return end_exposure(window);
}

int tern_window_test(struct tern_window *window, bool *ret_done)
{
    int rc = check(window, tern_epoch_check_wait);
    if (rc)
        return rc;
    tern_lane_poll(window->context->lane);
    *ret_done = true;
    for (int i = 0; i < window->exposed_count && *ret_done; i++) {
        struct tern_request *completion = window->completions[i];
        *ret_done = !completion || completion->complete;
        if (!*ret_done)
            tern_test_note_request("MPI_Win_test", completion);
    }
    return *ret_done ? end_exposure(window) : 0;
}

/* ---- locks ---- */

/* Takes the lock of a target. Says so first: meanwhile other threads may call. */
static int take_lock(struct tern_window *window, int rank, bool exclusive)
{
    struct tern_rma_target *target = &window->targets[rank];
    int rc = 0;
    __atomic_store_n(&target->taking, 1, __ATOMIC_RELAXED);
    if (target->control)
        tern_rma_lock_near(window, target, exclusive);
    else
        rc = tern_rma_ask_lock(window, rank, exclusive);
    __atomic_store_n(&target->taking, 0, __ATOMIC_RELAXED);
    __atomic_store_n(&target->holds, !rc, __ATOMIC_RELEASE);
    return rc;
}

int tern_rma_hold(struct tern_window *window, int rank)
{
    struct tern_rma_target *target = &window->targets[rank];
    tern_rma_await(window, &target->taking); /* by another thread */
    if (target->holds)
        return 0;
    int rc = take_lock(window, rank, false);
    tern_lane_tell(window->context->lane);
    return rc;
}

/* Completes the operations at a target, then releases its lock. */
static int give_lock(struct tern_window *window, int rank, bool exclusive)
{
    struct tern_rma_target *target = &window->targets[rank];
    bool held = target->holds;
    __atomic_store_n(&target->holds, false, __ATOMIC_RELAXED);
    if (held && !target->control)
        return tern_rma_ask_unlock(window, rank, exclusive); /* which is a flush, too */
    int rc = target->way == &tern_rma_asked ? flush_locked(window, rank, false) : 0;
    if (held)
        tern_rma_unlock_near(window, target, exclusive);
    return rc;
}

/* One target less is locked. */
static void drop_lock(struct tern_window *window)
{
    if (--window->locks == 0)
        set_access(window, TERN_RMA_NO_ACCESS);
}

/* With MPI_MODE_NOCHECK nobody holds or wants a lock that conflicts until the lock is released, so
 * it is not taken. What orders this epoch and those of other ranks is then something else in the
 * program (messages, a barrier), and that orders loads and stores as well. */
int tern_window_lock(struct tern_window *window, int rank, bool exclusive, int assert)
{
    tern_lane_lock(window->context->lane);
    int rc = tern_epoch_check_lock(window, rank);
    if (rc) {
        tern_lane_unlock(window->context->lane);
        return rc;
    }
    window->locks++;
    set_access(window, TERN_RMA_LOCK);
    if (!(assert & MPI_MODE_NOCHECK))
        rc = take_lock(window, rank, exclusive);
    if (rc)
        drop_lock(window);
    else
        set_locked(&window->targets[rank], exclusive ? MPI_LOCK_EXCLUSIVE : MPI_LOCK_SHARED);
    window->targets[rank].flushed = false;
    tern_lane_unlock(window->context->lane);
    return rc;
}

int tern_window_unlock(struct tern_window *window, int rank)
{
    tern_lane_lock(window->context->lane);
    int rc = tern_epoch_check_unlock(window, rank);
    if (TERN_UNLIKELY(rc)) {
        tern_lane_unlock(window->context->lane);
        return rc;
    }
    struct tern_rma_target *target = &window->targets[rank];
    rc = give_lock(window, rank, target->locked == MPI_LOCK_EXCLUSIVE);
    set_locked(target, 0);
    drop_lock(window);
    tern_lane_unlock(window->context->lane);
    return rc;
}

/* Programs load from and store to memory that they have mapped, without a call that could take the
 * lock. So these locks are taken now, in the order of ranks; those of the others at the first
 * operation (lib/rma/operation.c). */
int tern_window_lock_all(struct tern_window *window, int assert)
{
    tern_lane_lock(window->context->lane);
    int rc = tern_epoch_check_lock_all(window);
    if (rc) {
        tern_lane_unlock(window->context->lane);
        return rc;
    }
    window->nocheck = assert & MPI_MODE_NOCHECK;
    set_access(window, TERN_RMA_LOCK_ALL);
    for (int rank = 0; rank < window->size && !window->nocheck && !rc; rank++)
        if (window->targets[rank].way == &tern_rma_mapped)
            rc = tern_rma_hold(window, rank);
    tern_lane_unlock(window->context->lane);
    return rc;
}

int tern_window_unlock_all(struct tern_window *window)
{
    tern_lane_lock(window->context->lane);
    int rc = tern_epoch_check_unlock_all(window);
    if (rc) {
        tern_lane_unlock(window->context->lane);
        return rc;
    }
    for (int rank = 0; rank < window->size; rank++) {
        struct tern_rma_target *target = &window->targets[rank];
        if (target->holds || target->unflushed || target->remote || target->local) {
            int error = give_lock(window, rank, false);
            rc = rc ? rc : error;
        }
    }
    set_access(window, TERN_RMA_NO_ACCESS);
    window->nocheck = false;
    tern_lane_unlock(window->context->lane);
    return rc;
}
