/* SPDX-License-Identifier: BSD-3-Clause */

#include "lib/mpi/message/buffer_blocks.h"

#include "lib/mpi/object/comm.h"
#include "lib/mpi/object/session.h"
#include "lib/pml/lane.h"
#include "lib/pml/pml.h"
#include "lib/util/base/error.h"

#include <pthread.h>
#include <stdlib.h>

_Static_assert(2 * TERN_BLOCK_ALIGNMENT <= MPI_BSEND_OVERHEAD, "rounding fits into the overhead");

struct tern_send_buffer *tern_buffer_process;
uint64_t tern_blocks_newest;
static pthread_mutex_t rows = PTHREAD_MUTEX_INITIALIZER;

void tern_blocks_lock(void)
{
    if (tern_threads)
        pthread_mutex_lock(&rows);
}

void tern_blocks_unlock(void)
{
    if (tern_threads)
        pthread_mutex_unlock(&rows);
}

/* ---- lists of blocks; all functions here need the lock ---- */

void tern_blocks_reap(struct tern_send_buffer *buffer)
{
    buffer->kept = buffer->added = 0;
    for (struct tern_block **at = &buffer->blocks; *at;) {
        struct tern_block *block = *at;
        if (!tern_block_sent(block)) {
            at = &block->next;
            buffer->kept++;
            continue;
        }
        *at = block->next;
        free(block);
    }
}

/* Finds the first gap of at least `size` bytes. `*ret_at` is the link to the block after the gap.
 * Returns NULL if no gap is large enough. */
static char *find_gap(struct tern_send_buffer *buffer, size_t size, struct tern_block ***ret_at)
{
    char *gap = buffer->start, *end = buffer->start + buffer->room;
    struct tern_block **at = &buffer->blocks;

    for (;; at = &(*at)->next) {
        char *gap_end = *at ? (*at)->room : end;
        if ((size_t)(gap_end - gap) >= size)
            break;
        if (!*at)
            return NULL;
        gap = gap_end + (*at)->size;
    }
    *ret_at = at;
    return gap;
}

/* Makes a block. Returns 0, TERN_ERR_NO_MEM, or TERN_ERR_BUFFER if no gap is large enough; sets no
 * error text. Automatic blocks have no order and no limit: sent ones are taken back each time when
 * the blocks have doubled in number. */
static int make_block(struct tern_send_buffer *buffer, const struct tern_comm *comm, size_t size,
                      struct tern_block **ret_block)
{
    struct tern_block **at = &buffer->blocks;
    char *gap = NULL;

    if (!tern_buffer_automatic(buffer) || buffer->added > buffer->kept + 16)
        tern_blocks_reap(buffer);
    if (!tern_buffer_automatic(buffer) && !(gap = find_gap(buffer, size, &at)))
        return TERN_ERR_BUFFER;
    size_t behind = tern_buffer_automatic(buffer) ? size : 0;
    struct tern_block *block = aligned_alloc(TERN_BLOCK_ALIGNMENT, sizeof *block + behind);
    if (!block)
        return TERN_ERR_NO_MEM;
    *block = (struct tern_block){.next = *at,
                                 .room = gap ? gap : (char *)(block + 1),
                                 .size = size,
                                 .number = ++tern_blocks_newest,
                                 .comm = comm};
    *ret_block = *at = block;
    buffer->added++;
    return 0;
}

bool tern_blocks_sent_up_to(const struct tern_send_buffer *buffer, uint64_t number)
{
    for (const struct tern_block *block = buffer->blocks; block; block = block->next)
        if (block->number <= number && !tern_block_sent(block))
            return false;
    return true;
}

/* ---- blocks ---- */

static struct tern_send_buffer *buffer_for(const struct tern_comm *comm)
{
    if (comm->buffer)
        return comm->buffer;
    return comm->session && comm->session->buffer ? comm->session->buffer : tern_buffer_process;
}

/* Returns the bytes of messages that are under way. */
static size_t bytes_used(const struct tern_send_buffer *buffer)
{
    size_t used = 0;
    tern_blocks_lock();
    for (const struct tern_block *block = buffer->blocks; block; block = block->next)
        used += block->size;
    tern_blocks_unlock();
    return used;
}

static int no_room(const struct tern_send_buffer *buffer, size_t length)
{
    return tern_error(TERN_ERR_BUFFER,
                      "the attached buffer of %zu bytes has no room for %zu bytes + "
                      "MPI_BSEND_OVERHEAD (%d); messages that are not sent yet take %zu bytes. "
                      "Attach a larger buffer, or MPI_BUFFER_AUTOMATIC",
                      buffer->size, length, MPI_BSEND_OVERHEAD, bytes_used(buffer));
}

/* Rounds of progress before a full buffer is an error. The program may know from another rank that
 * a message was received before the receiver's own answer has arrived here. */
enum { PATIENCE = 1000 };

int tern_buffer_take_block(struct tern_comm *comm, size_t length, struct tern_block **ret_block)
{
    struct tern_send_buffer *buffer = buffer_for(comm);
    size_t size = (length + TERN_BLOCK_ALIGNMENT - 1) / TERN_BLOCK_ALIGNMENT * TERN_BLOCK_ALIGNMENT;
    int error = TERN_ERR_BUFFER;

    if (!buffer)
        return tern_error(
            TERN_ERR_BUFFER,
            "no buffer is attached for a buffered send of %zu bytes; call MPI_Buffer_attach",
            length);
    for (int tries = 0; error == TERN_ERR_BUFFER && tries < PATIENCE; tries++) {
        if (tries && !bytes_used(buffer))
            break;
        if (tries)
            tern_poll();
        tern_blocks_lock();
        error = make_block(buffer, comm, size, ret_block);
        tern_blocks_unlock();
    }
    if (error == TERN_ERR_BUFFER)
        return no_room(buffer, length);
    return error ? tern_error(error, "no memory to buffer %zu bytes", length) : 0;
}

void *tern_block_room(struct tern_block *block)
{
    return block->room;
}

void tern_block_drop(struct tern_block *block)
{
    __atomic_store_n(&block->sent, true, __ATOMIC_RELEASE);
}

/* Marks the block of a complete message as sent; an on_complete function. */
static void message_completed(struct tern_request *message)
{
    struct tern_block *block = message->owner;
    message->kind->release(message);
    tern_block_drop(block);
}

void tern_block_follow(struct tern_block *block, struct tern_request *request)
{
    if (request == &tern_request_empty) {
        tern_block_drop(block);
        return;
    }
    struct tern_lane *lane = request->lane;
    /* keeps the request from completing between the test and the store below */
    tern_lane_lock(lane);
    request->owner = block;
    if (request->complete)
        message_completed(request);
    else
        request->on_complete = message_completed;
    tern_lane_unlock(lane);
}
