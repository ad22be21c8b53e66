/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Puts and gets that a network does with remote memory access, without the help of the target's
 * program. Only where the bytes are one run on both sides; all else are messages (asked.c), and so
 * is what the network could not do. MPI orders puts and gets with other operations only by flushes
 * and ends of epochs, and these await the copies (target->remote).
 */

#include "lib/rma/asked.h"
#include "lib/rma/epoch.h"
#include "lib/rma/rma_message.h"

#include "lib/pml/pml.h"
#include "lib/util/base/error.h"

#include <stdlib.h>

/* A copy under way. */
struct copy {
    struct tern_transfer transfer;
    struct tern_window *window;
    int rank;
    uint64_t at; /* displacement in the target's memory */
    struct tern_rma_request *request; /* NULL: none */
};

/* Does by messages what the network could not do. */
static int copy_by_messages(const struct copy *copy)
{
    const struct tern_rma_buffer buffer = {copy->transfer.cursor.base,
                                           (int64_t)copy->transfer.length, &tern_type_bytes};
    const struct tern_rma_operation operation = {.window = copy->window,
                                                 .target = &copy->window->targets[copy->rank],
                                                 .rank = copy->rank,
                                                 .at = copy->at,
                                                 .bytes = buffer.count,
                                                 .count = buffer.count,
                                                 .type = &tern_type_bytes,
                                                 .origin = copy->transfer.to_peer ? &buffer : NULL,
                                                 .result = copy->transfer.to_peer ? NULL : &buffer};
    /* a flush may be under way: it awaits the answer */
    return copy->transfer.to_peer ? tern_rma_ask_put_long(&operation, copy->at, copy->request)
                                  : tern_rma_ask_get(&operation, copy->request);
}

static void ended(struct tern_transfer *transfer, int error)
{
    struct copy *copy = TERN_CONTAINER(transfer, struct copy, transfer);
    struct tern_window *window = copy->window;
    struct tern_rma_target *target = &window->targets[copy->rank];
    if (error)
        error = copy_by_messages(copy);
    else
        tern_count(&window->context->lane->counters.direct_copies, 1);
    if (error && !copy->request)
        tern_rma_note_fault(window, copy->rank, error);
    target->local--;
    target->remote--;
    window->sending--;
    tern_rma_request_end_part(copy->request, error);
    free(copy);
    tern_lane_tell(window->context->lane);
}

/* Returns true if a message is faster: between MPI_Win_lock and MPI_Win_unlock the release of the
 * lock must wait for a copy, but follows a short message at once. */
static bool goes_with_unlock(const struct tern_rma_operation *operation)
{
    return operation->origin && operation->bytes <= TERN_RMA_INLINE_BYTES &&
           tern_epoch_access(operation->window) == TERN_RMA_LOCK && !operation->target->flushed;
}

bool tern_rma_copy_direct(const struct tern_rma_operation *operation,
                          struct tern_rma_request *request)
{
    struct tern_window *window = operation->window;
    struct tern_rma_target *target = operation->target;
    bool put = operation->origin != NULL;
    const struct tern_rma_buffer *buffer = put ? operation->origin : operation->result;
    void *here, *there;
    if (!target->direct || goes_with_unlock(operation) ||
        !tern_type_one_run(operation->type, (void *)(uintptr_t)operation->at, operation->count,
                           &there) ||
        !tern_type_run(buffer->type, buffer->base, buffer->count, &here))
        return false;
    struct tern_peer *peer = tern_context_known_peer(window->context, operation->rank);
    if (!peer || peer->lost || !peer->btl || !peer->btl->copy_direct)
        return false;
    struct copy *copy = malloc(sizeof *copy);
    if (!copy)
        return false;
    *copy = (struct copy){.transfer = {.peer = peer,
                                       .to_peer = put,
                                       .address = target->direct_address + (uintptr_t)there,
                                       .key = target->direct_key,
                                       .by_lane = target->direct_lane,
                                       .length = (size_t)operation->bytes,
                                       .done = ended},
                          .window = window,
                          .rank = operation->rank,
                          .at = (uintptr_t)there,
                          .request = request};
    tern_cursor_init_host(&copy->transfer.cursor, &tern_type_bytes, here, operation->bytes);
    if (peer->btl->copy_direct(&copy->transfer)) {
        free(copy);
        return false;
    }
    target->local++;
    target->remote++;
    window->sending++;
    tern_rma_request_add_part(request);
    return true;
}
