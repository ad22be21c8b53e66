/* SPDX-License-Identifier: BSD-3-Clause */

/* Buffers for buffered sends: attaches, detaches and flushes them. buffer_blocks.c keeps their
 * blocks. A request of MPI_Buffer_iflush checks the blocks in each round of progress. */

#include "lib/mpi/message/buffer.h"

#include "lib/accel/accel.h"
#include "lib/mpi/message/buffer_blocks.h"
#include "lib/mpi/object/comm.h"
#include "lib/mpi/request/request_object.h"
#include "lib/mpi/object/session.h"
#include "lib/pml/lane.h"
#include "lib/pml/pml.h"
#include "lib/util/base/error.h"
#include "lib/util/base/list.h"

#include <stdint.h>
#include <stdlib.h>

#include "lib/mpi/procedures.h"

/* A request of MPI_Buffer_iflush. */
struct flush {
    struct tern_request request;
    struct tern_list_node link; /* in `flushes` until the request is complete */
    /* NULL if the buffer was freed: then everything is sent */
    const struct tern_send_buffer *buffer;
    uint64_t until; /* number of the newest block that the flush waits for */
};

/* All buffers, and all flushes. */
static struct tern_list_node buffers = {&buffers, &buffers}, flushes = {&flushes, &flushes};

/* Frees a buffer that has no blocks. Needs the lock. */
static void forget_buffer(struct tern_send_buffer *buffer)
{
    for (struct tern_list_node *link = flushes.next; link != &flushes; link = link->next) {
        struct flush *flush = TERN_CONTAINER(link, struct flush, link);
        if (flush->buffer == buffer)
            flush->buffer = NULL;
    }
    tern_list_remove(&buffer->link);
    if (buffer->at)
        *buffer->at = NULL;
    free(buffer);
}

/* Returns the next of `buffers` from `*link` on, and moves `*link` past it. Returns NULL if there
 * is none. Takes back its sent blocks, and frees buffers that have neither owner nor blocks. Needs
 * the lock. */
static struct tern_send_buffer *next_buffer(struct tern_list_node **link)
{
    while (*link != &buffers) {
        struct tern_send_buffer *buffer = TERN_CONTAINER(*link, struct tern_send_buffer, link);
        *link = buffer->link.next;
        tern_blocks_reap(buffer);
        if (buffer->at || buffer->blocks)
            return buffer;
        forget_buffer(buffer);
    }
    return NULL;
}

/* ---- attaching, detaching ---- */

int tern_buffer_attach(struct tern_send_buffer **at, const char *whose, void *memory,
                       MPI_Count size)
{
    if (*at)
        return tern_error(TERN_ERR_BUFFER, "%s has a buffer of %zu bytes already; detach it first",
                          whose, (*at)->size);
    if (!memory)
        return tern_error(TERN_ERR_BUFFER, "buffer is NULL; expected memory for %lld bytes",
                          (long long)size);
    /* the processor writes there: in place of device memory it gets memory of ours */
    bool device = tern_accel_holds(memory);
    struct tern_send_buffer *buffer =
        calloc(1, sizeof *buffer + (device ? (size_t)size + TERN_BLOCK_ALIGNMENT : 0));
    if (!buffer)
        return tern_error(TERN_ERR_NO_MEM, "no memory for a buffer's description");
    buffer->at = at;
    buffer->memory = memory;
    if (!tern_buffer_automatic(buffer)) {
        char *room = device ? (char *)(buffer + 1) : memory;
        size_t skip = -(uintptr_t)room % TERN_BLOCK_ALIGNMENT;
        buffer->size = (size_t)size;
        buffer->start = room + skip;
        buffer->room = device               ? buffer->size
                       : buffer->size > skip ? buffer->size - skip
                                             : 0;
        buffer->room -= buffer->room % TERN_BLOCK_ALIGNMENT;
    }
    tern_blocks_lock();
    tern_list_append(&buffers, &buffer->link);
    tern_blocks_unlock();
    *at = buffer;
    return 0;
}

/* Returns true if all messages in this buffer are sent; then it has no blocks. Called in every
 * round of progress, so it stops at the first block that is not sent. */
static bool empty(struct tern_send_buffer *buffer)
{
    tern_blocks_lock();
    while (buffer->blocks && tern_block_sent(buffer->blocks)) {
        struct tern_block *block = buffer->blocks;
        buffer->blocks = block->next;
        free(block);
    }
    bool none = !buffer->blocks;
    tern_blocks_unlock();
    return none;
}

int tern_buffer_detach(struct tern_send_buffer **at, const char *whose, void **ret_memory,
                       MPI_Count *ret_size)
{
    struct tern_waiter waiter = {.procedure = "MPI_Buffer_detach"};

    if (!*at)
        return tern_error(TERN_ERR_BUFFER, "%s has no buffer attached", whose);
    while (!empty(*at))
        tern_wait(&waiter);
    *ret_memory = (*at)->memory;
    *ret_size = (MPI_Count)(*at)->size;
    tern_blocks_lock();
    forget_buffer(*at);
    tern_blocks_unlock();
    return 0;
}

void tern_buffer_abandon(struct tern_send_buffer **at)
{
    if (!*at)
        return;
    tern_blocks_lock();
    (*at)->at = NULL;
    struct tern_list_node *link = &(*at)->link;
    *at = NULL;
    next_buffer(&link); /* frees the buffer unless it has blocks */
    tern_blocks_unlock();
}

/* Returns true if no buffer has a message of `comm`, or of any communicator if `comm` is NULL. */
static bool all_sent(const struct tern_comm *comm)
{
    bool none = true;
    tern_blocks_lock();
    struct tern_list_node *link = buffers.next;
    for (const struct tern_send_buffer *buffer; (buffer = next_buffer(&link));)
        for (const struct tern_block *block = buffer->blocks; block; block = block->next)
            none &= comm && block->comm != comm;
    tern_blocks_unlock();
    return none;
}

void tern_buffer_flush_comm(struct tern_comm *comm)
{
    struct tern_waiter waiter = {.procedure = comm ? "MPI_Comm_disconnect" : "MPI_Finalize"};
    while (!all_sent(comm))
        tern_wait(&waiter);
}

void tern_buffer_finish(void)
{
    tern_buffer_flush_comm(NULL);
    tern_blocks_lock();
    while (!tern_list_empty(&buffers))
        forget_buffer(TERN_CONTAINER(buffers.next, struct tern_send_buffer, link));
    tern_blocks_unlock();
}

/* ---- flushing ---- */

void tern_buffer_flush(struct tern_send_buffer *buffer)
{
    struct tern_waiter waiter = {.procedure = "MPI_Buffer_flush"};
    uint64_t until = 0; /* blocks count from 1 */

    for (bool done = !buffer; !done;) {
        tern_blocks_lock();
        until = until ? until : tern_blocks_newest;
        done = tern_blocks_sent_up_to(buffer, until);
        tern_blocks_unlock();
        if (!done)
            tern_wait(&waiter);
    }
}

static void release_flush(struct tern_request *request)
{
    request->obj.own.magic = TERN_MAGIC_FREED;
    free(request);
}

static const struct tern_request_kind flush_kind = {.name = "flush of a buffer",
                                                    .release = release_flush};

/* Returns a flush of this lane, or NULL. If `done` is true, returns only a flush that is complete
 * now. */
static struct flush *find_flush(const struct tern_lane *lane, bool done)
{
    for (struct tern_list_node *link = flushes.next; link != &flushes; link = link->next) {
        struct flush *flush = TERN_CONTAINER(link, struct flush, link);
        if (flush->request.lane == lane &&
            (!done || !flush->buffer || tern_blocks_sent_up_to(flush->buffer, flush->until)))
            return flush;
    }
    return NULL;
}

/* Completes the flushes of a lane that are done. Called in each round of progress while the lane
 * has flushes. */
static int poll_flushes(struct tern_lane *lane)
{
    int completed = 0;
    bool left;

    for (struct flush *flush;; completed++) {
        tern_blocks_lock();
        flush = find_flush(lane, true);
        if (flush)
            tern_list_remove(&flush->link);
        left = find_flush(lane, false);
        tern_blocks_unlock();
        if (!flush)
            break;
        tern_request_complete(&flush->request, 0);
    }
    if (!left)
        tern_progress_unregister(lane, poll_flushes);
    return completed;
}

int tern_buffer_iflush(struct tern_send_buffer *buffer, struct tern_comm *comm,
                       struct tern_request **ret_request)
{
    if (!buffer || empty(buffer)) {
        *ret_request = &tern_request_empty;
        return 0;
    }
    struct flush *flush = malloc(sizeof *flush);
    if (!flush)
        return tern_error(TERN_ERR_NO_MEM, "no memory for a request");
    tern_request_init(&flush->request, &flush_kind, comm);
    if (comm)
        flush->request.lane = comm->p2p.lane;
    flush->buffer = buffer;
    tern_blocks_lock();
    flush->until = tern_blocks_newest;
    bool first = !find_flush(flush->request.lane, false);
    tern_list_append(&flushes, &flush->link);
    tern_blocks_unlock();
    int error = first ? tern_progress_register(flush->request.lane, poll_flushes) : 0;
    if (error) {
        tern_blocks_lock();
        tern_list_remove(&flush->link);
        tern_blocks_unlock();
        free(flush);
        return error;
    }
    if (comm)
        tern_request_hold_always(&flush->request, comm, NULL);
    *ret_request = &flush->request;
    return 0;
}

/* ---- procedures ---- */

int tern_mpi_buffer_attach(void *buffer, MPI_Count size)
{
    return tern_buffer_attach(&tern_buffer_process, "the process", buffer, size);
}

int tern_mpi_buffer_detach(void *buffer_addr, MPI_Count *ret_size)
{
    return tern_buffer_detach(&tern_buffer_process, "the process", buffer_addr, ret_size);
}

int tern_mpi_buffer_flush(void)
{
    tern_buffer_flush(tern_buffer_process);
    return 0;
}

int tern_mpi_buffer_iflush(struct tern_request **ret_request)
{
    return tern_buffer_iflush(tern_buffer_process, NULL, ret_request);
}

int tern_mpi_comm_attach_buffer(struct tern_comm *comm, void *buffer, MPI_Count size)
{
    return tern_buffer_attach(&comm->buffer, "the communicator", buffer, size);
}

int tern_mpi_comm_detach_buffer(struct tern_comm *comm, void *buffer_addr, MPI_Count *ret_size)
{
    return tern_buffer_detach(&comm->buffer, "the communicator", buffer_addr, ret_size);
}

int tern_mpi_comm_flush_buffer(struct tern_comm *comm)
{
    tern_buffer_flush(comm->buffer);
    return 0;
}

int tern_mpi_comm_iflush_buffer(struct tern_comm *comm, struct tern_request **ret_request)
{
    return tern_buffer_iflush(comm->buffer, comm, ret_request);
}

int tern_mpi_session_attach_buffer(struct tern_session *session, void *buffer, MPI_Count size)
{
    return tern_buffer_attach(&session->buffer, "the session", buffer, size);
}

int tern_mpi_session_detach_buffer(struct tern_session *session, void *buffer_addr,
                                   MPI_Count *ret_size)
{
    return tern_buffer_detach(&session->buffer, "the session", buffer_addr, ret_size);
}

int tern_mpi_session_flush_buffer(struct tern_session *session)
{
    tern_buffer_flush(session->buffer);
    return 0;
}

int tern_mpi_session_iflush_buffer(struct tern_session *session, struct tern_request **ret_request)
{
    return tern_buffer_iflush(session->buffer, NULL, ret_request);
}
