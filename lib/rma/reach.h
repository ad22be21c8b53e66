/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_RMA_REACH_H
#define TERN_RMA_REACH_H

/* The ways to a target: one struct for each, in lib/rma/mapped.c, pulled.c, device_mapped.c and
 * asked.c. lib/rma/operation.c checks the arguments and calls the target's way. */

#include "lib/rma/atomics.h"
#include "lib/rma/window.h"

#include <string.h>

/* A checked operation. */
struct tern_rma_operation {
    struct tern_window *window;
    struct tern_rma_target *target;
    int rank;
    uint64_t at;   /* displacement of the target's buffer in its memory, in bytes; or its address */
    int64_t bytes; /* on either side */
    int64_t count; /* elements of `type` at the target */
    const struct tern_type *type;
    const struct tern_rma_buffer *origin, *result; /* NULL: there is none */
    const void *compare;             /* NULL: not compare-and-swap */
    const struct tern_rma_combine *combine; /* accumulates only */
    struct tern_request **ret_request; /* NULL: no request is wanted */
};

/* A way to a target. The functions do the operation; an accumulate is a fetch without a result.
 * They return 0 or TERN_ERR_*. If a request is wanted, they set it. */
struct tern_rma_way {
    int (*put)(const struct tern_rma_operation *operation);
    int (*get)(const struct tern_rma_operation *operation);
    int (*fetch)(const struct tern_rma_operation *operation);
};

/* Sets the wanted request to one that is complete. */
static inline void tern_rma_complete_now(const struct tern_rma_operation *operation)
{
    if (operation->ret_request)
        *operation->ret_request = &tern_request_empty;
}

/* Copies a run. Single words go as one store, so that no reader sees half of one. */
static inline void tern_rma_copy_run(void *to, const void *from, int64_t bytes)
{
    if (bytes == 8)
        memcpy(to, from, 8);
    else if (bytes == 4)
        memcpy(to, from, 4);
    else
        memmove(to, from, (size_t)bytes);
}

/* Visits the next elements of an accumulate: returns the address of some that have no gaps between
 * them, at most `bytes` packed bytes, and advances. *ret_bytes: their packed bytes. */
char *tern_rma_next_elements(struct tern_cursor *cursor, const struct tern_rma_combine *combine,
                             int64_t bytes, int64_t *ret_bytes);

/* Handles an accumulate in pieces that fit a buffer: packs the origin, calls `apply` for the next
 * `bytes` bytes (TERN_RMA_PIECE at most), and unpacks what was there before. `before` is NULL if
 * nobody wants it. Returns 0, or the first error of `apply`. */
enum { TERN_RMA_PIECE = 8 * 1024 };
typedef int tern_rma_apply(const struct tern_rma_operation *operation, struct tern_cursor *target,
                           const char *origin, char *before, int64_t bytes);
int tern_rma_in_pieces(const struct tern_rma_operation *operation, tern_rma_apply *apply);

/* An `apply` for memory that only copies reach: another process's, or a device's (pulled.c). Copies
 * the elements here, combines them, and copies them back. The caller holds control->serial. */
int tern_rma_apply_by_copies(const struct tern_rma_operation *operation,
                             struct tern_cursor *target, const char *origin, char *before,
                             int64_t bytes);

/* For lib/rma/sync.c: begin to complete what was asked of one target; the messages that complete a
 * flush are awaited in target->remote. Call with the lane's lock held. Return 0 or TERN_ERR_*. */
int tern_rma_ask_flush(struct tern_window *window, int rank);
/* Take and release the lock of a target by messages. Block. Call with the lane's lock held. */
int tern_rma_ask_lock(struct tern_window *window, int rank, bool exclusive);
int tern_rma_ask_unlock(struct tern_window *window, int rank, bool exclusive);
/* Takes the lock of a target shared, for MPI_Win_lock_all. Takes it once, though several threads
 * may want it at a time. Blocks. Call with the lane's lock held. Returns 0 or TERN_ERR_*. */
int tern_rma_hold(struct tern_window *window, int rank);
/* Waits until *counter is 0. Call with the lane's lock held; releases it meanwhile. */
void tern_rma_await(struct tern_window *window, const uint32_t *counter);
/* Records an error that a later call of the window returns. Keeps the first one. */
void tern_rma_note_fault(struct tern_window *window, int rank, int error);
/* Returns and forgets that error, with its text. */
int tern_rma_take_fault(struct tern_window *window);
/* Sends `bytes` bytes of malloc'ed memory, which the call frees when they have left. `tag`: see
 * lib/rma/rma_message.h. Call with the lane's lock held. Returns 0 or TERN_ERR_*. */
int tern_rma_send(struct tern_window *window, int rank, int tag, void *memory, int64_t bytes);

/* Starts and ends answering the other ranks. tern_rma_serve_open returns 0 or TERN_ERR_*. */
int tern_rma_serve_open(struct tern_window *window);
void tern_rma_serve_close(struct tern_window *window);

/* Take and release the lock of a target whose lock word this rank reaches. tern_rma_lock_near
 * blocks. `node_rank` of the target: to wake it if ranks of other nodes wait. */
void tern_rma_lock_near(struct tern_window *window, struct tern_rma_target *target, bool exclusive);
void tern_rma_unlock_near(struct tern_window *window, struct tern_rma_target *target,
                          bool exclusive);
/* Wakes a rank of this node that waits for the lock; after the lock word was changed. */
void tern_rma_wake_waiter(struct tern_rma_control *control);

#endif
