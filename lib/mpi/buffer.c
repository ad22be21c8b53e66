/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * A buffer is a row of blocks in order of address, each a packed message that is being sent. A
 * block is made at the first gap that is large enough; gaps appear when messages are sent, which is
 * looked at whenever a new block is wanted. Few messages are under way at once, so a walk along the
 * row is no cost. The standard promises that a message takes at most its packed size +
 * MPI_BSEND_OVERHEAD (128 bytes); it takes its size, for what we note of a block stands elsewhere:
 * of a communicator that was freed nobody gets the buffer back, and the user may free the memory as
 * soon as the messages have been received, which is before we hear of it.
 *
 * Messages on communicators of any lane share a buffer, and only their lane knows when they are
 * sent. So completion sets a flag and nothing else; the rows have a lock of their own, within which
 * nothing else is called. A request of MPI_Buffer_iflush looks at the flags in rounds of progress.
 */

#include "lib/mpi/buffer.h"

#include "lib/mpi/comm.h"
#include "lib/mpi/request_object.h"
#include "lib/mpi/session.h"
#include "lib/pml/lane.h"
#include "lib/pml/pml.h"
#include "lib/util/error.h"
#include "lib/util/list.h"

#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>

#include "lib/mpi/procedures.h"

enum { ALIGNMENT = 16 };

struct tern_block {
    struct tern_block *next; /* at a higher address; NULL: the last */
    char *room;              /* in the user's memory, or behind the block */
    size_t size;             /* of it, bytes */
    uint64_t number;         /* counts up */
    const struct tern_comm *comm; /* may be gone: only compared */
    bool sent;                    /* atomic: set by the lane of the message, at last */
} __attribute__((aligned(ALIGNMENT)));

_Static_assert(2 * ALIGNMENT <= MPI_BSEND_OVERHEAD, "rounding fits into the overhead");

struct tern_send_buffer {
    struct tern_list_node link;        /* in `buffers` */
    struct tern_send_buffer **at; /* the owner's pointer; NULL: abandoned */
    char *memory;                 /* or MPI_BUFFER_AUTOMATIC */
    size_t size;
    char *start; /* first aligned byte */
    size_t room; /* from there */
    struct tern_block *blocks;
    size_t kept, added; /* blocks that the last reaping left, and those made since */
};

/* A request of MPI_Buffer_iflush. */
struct flush {
    struct tern_request request;
    struct tern_list_node link;                 /* in `flushes` until it is complete */
    const struct tern_send_buffer *buffer; /* NULL: gone, so that everything is sent */
    uint64_t until;                        /* number of the newest block it waits for */
};

struct tern_send_buffer *tern_buffer_process;

/* All of them, the newest block's number, flushes; and the lock of all rows. */
static struct tern_list_node buffers = {&buffers, &buffers}, flushes = {&flushes, &flushes};
static uint64_t newest;
static pthread_mutex_t rows = PTHREAD_MUTEX_INITIALIZER;

static void lock_rows(void)
{
    if (tern_threads)
        pthread_mutex_lock(&rows);
}

static void unlock_rows(void)
{
    if (tern_threads)
        pthread_mutex_unlock(&rows);
}

/* ---- rows; the lock is held ---- */

static bool automatic(const struct tern_send_buffer *buffer)
{
    return buffer->memory == MPI_BUFFER_AUTOMATIC;
}

static bool sent(const struct tern_block *block)
{
    return __atomic_load_n(&block->sent,
                           __ATOMIC_ACQUIRE); /* then its memory is not read any more */
}

/* Takes back the blocks whose messages are sent. */
static void reap(struct tern_send_buffer *buffer)
{
    buffer->kept = buffer->added = 0;
    for (struct tern_block **at = &buffer->blocks; *at;) {
        struct tern_block *block = *at;
        if (!sent(block)) {
            at = &block->next;
            buffer->kept++;
            continue;
        }
        *at = block->next;
        free(block);
    }
}

/* It has no blocks. */
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

/* The next of `buffers` at `*link` after its sent blocks are taken back, and it itself if nobody
 * needs it any more. NULL: that was the last. */
static struct tern_send_buffer *next_buffer(struct tern_list_node **link)
{
    while (*link != &buffers) {
        struct tern_send_buffer *buffer = TERN_CONTAINER(*link, struct tern_send_buffer, link);
        *link = buffer->link.next;
        reap(buffer);
        if (buffer->at || buffer->blocks)
            return buffer;
        forget_buffer(buffer);
    }
    return NULL;
}

/* Finds the first gap: *ret_at is the link to what lies behind it. NULL: none is large enough. */
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

/* 0, TERN_ERR_NO_MEM, or TERN_ERR_BUFFER: no gap is large enough. Says nothing of it. Automatic
 * blocks have no order and no bound: they are looked through when they have doubled. */
static int make_block(struct tern_send_buffer *buffer, const struct tern_comm *comm, size_t size,
                      struct tern_block **ret_block)
{
    struct tern_block **at = &buffer->blocks;
    char *gap = NULL;

    if (!automatic(buffer) || buffer->added > buffer->kept + 16)
        reap(buffer);
    if (!automatic(buffer) && !(gap = find_gap(buffer, size, &at)))
        return TERN_ERR_BUFFER;
    struct tern_block *block =
        aligned_alloc(ALIGNMENT, sizeof *block + (automatic(buffer) ? size : 0));
    if (!block)
        return TERN_ERR_NO_MEM;
    *block = (struct tern_block){.next = *at,
                                 .room = gap ? gap : (char *)(block + 1),
                                 .size = size,
                                 .number = ++newest,
                                 .comm = comm};
    *ret_block = *at = block;
    buffer->added++;
    return 0;
}

/* Are all blocks up to this number sent? */
static bool sent_up_to(const struct tern_send_buffer *buffer, uint64_t number)
{
    for (const struct tern_block *block = buffer->blocks; block; block = block->next)
        if (block->number <= number && !sent(block))
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

static int no_room(struct tern_send_buffer *buffer, size_t length)
{
    size_t used = 0;
    lock_rows();
    for (const struct tern_block *block = buffer->blocks; block; block = block->next)
        used += block->size;
    unlock_rows();
    return tern_error(TERN_ERR_BUFFER,
                      "the attached buffer of %zu bytes has no room for %zu bytes + "
                      "MPI_BSEND_OVERHEAD (%d); %zu are taken by "
                      "messages under way: attach a larger one, or MPI_BUFFER_AUTOMATIC",
                      buffer->size, length, MPI_BSEND_OVERHEAD, used);
}

int tern_buffer_take_block(struct tern_comm *comm, size_t length, struct tern_block **ret_block)
{
    struct tern_send_buffer *buffer = buffer_for(comm);
    size_t size = (length + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    int error = TERN_ERR_BUFFER;

    if (!buffer)
        return tern_error(
            TERN_ERR_BUFFER,
            "no buffer is attached for a buffered send of %zu bytes; call MPI_Buffer_attach",
            length);
    for (int tries = 0; tries < 2 && error == TERN_ERR_BUFFER; tries++) {
        if (tries) /* perhaps something has been sent meanwhile */
            tern_progress();
        lock_rows();
        error = make_block(buffer, comm, size, ret_block);
        unlock_rows();
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

/* on_complete of a message. */
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
    tern_lane_lock(lane); /* so that it does not complete between question and answer */
    request->owner = block;
    if (request->complete)
        message_completed(request);
    else
        request->on_complete = message_completed;
    tern_lane_unlock(lane);
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
    struct tern_send_buffer *buffer = calloc(1, sizeof *buffer);
    if (!buffer)
        return tern_error(TERN_ERR_NO_MEM, "no memory for a buffer's description");
    buffer->at = at;
    buffer->memory = memory;
    if (!automatic(buffer)) {
        size_t skip = -(uintptr_t)memory % ALIGNMENT;
        buffer->size = (size_t)size;
        buffer->start = buffer->memory + skip;
        buffer->room = buffer->size > skip ? (buffer->size - skip) / ALIGNMENT * ALIGNMENT : 0;
    }
    lock_rows();
    tern_list_append(&buffers, &buffer->link);
    unlock_rows();
    *at = buffer;
    return 0;
}

/* Is everything in this buffer sent? Then it has no blocks. Asked in every round of progress, so it
 * looks no further than the first block that is not. */
static bool empty(struct tern_send_buffer *buffer)
{
    lock_rows();
    while (buffer->blocks && sent(buffer->blocks)) {
        struct tern_block *block = buffer->blocks;
        buffer->blocks = block->next;
        free(block);
    }
    bool none = !buffer->blocks;
    unlock_rows();
    return none;
}

int tern_buffer_detach(struct tern_send_buffer **at, const char *whose, void **ret_memory,
                       MPI_Count *ret_size)
{
    struct tern_waiter waiter = {0};

    if (!*at)
        return tern_error(TERN_ERR_BUFFER, "%s has no buffer attached", whose);
    while (!empty(*at))
        tern_wait(&waiter);
    *ret_memory = (*at)->memory;
    *ret_size = (MPI_Count)(*at)->size;
    lock_rows();
    forget_buffer(*at);
    unlock_rows();
    return 0;
}

void tern_buffer_abandon(struct tern_send_buffer **at)
{
    if (!*at)
        return;
    lock_rows();
    (*at)->at = NULL;
    struct tern_list_node *link = &(*at)->link;
    *at = NULL;
    next_buffer(&link); /* forgets it unless it has blocks */
    unlock_rows();
}

/* Is there no message of `comm` (NULL: of any) in any buffer? */
static bool all_sent(const struct tern_comm *comm)
{
    bool none = true;
    lock_rows();
    struct tern_list_node *link = buffers.next;
    for (const struct tern_send_buffer *buffer; (buffer = next_buffer(&link));)
        for (const struct tern_block *block = buffer->blocks; block; block = block->next)
            none &= comm && block->comm != comm;
    unlock_rows();
    return none;
}

void tern_buffer_flush_comm(struct tern_comm *comm)
{
    struct tern_waiter waiter = {0};
    while (!all_sent(comm))
        tern_wait(&waiter);
}

void tern_buffer_finish(void)
{
    tern_buffer_flush_comm(NULL);
    lock_rows();
    while (!tern_list_empty(&buffers))
        forget_buffer(TERN_CONTAINER(buffers.next, struct tern_send_buffer, link));
    unlock_rows();
}

/* ---- flushing ---- */

void tern_buffer_flush(struct tern_send_buffer *buffer)
{
    struct tern_waiter waiter = {0};
    uint64_t until = 0; /* blocks count from 1 */

    for (bool done = !buffer; !done;) {
        lock_rows();
        until = until ? until : newest;
        done = sent_up_to(buffer, until);
        unlock_rows();
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

/* Is a flush of this lane left? With `done`: one that is complete now. */
static struct flush *find_flush(const struct tern_lane *lane, bool done)
{
    for (struct tern_list_node *link = flushes.next; link != &flushes; link = link->next) {
        struct flush *flush = TERN_CONTAINER(link, struct flush, link);
        if (flush->request.lane == lane &&
            (!done || !flush->buffer || sent_up_to(flush->buffer, flush->until)))
            return flush;
    }
    return NULL;
}

/* In each round of progress of a lane that has flushes. */
static int poll_flushes(struct tern_lane *lane)
{
    int completed = 0;
    bool left;

    for (struct flush *flush;; completed++) {
        lock_rows();
        flush = find_flush(lane, true);
        if (flush)
            tern_list_remove(&flush->link);
        left = find_flush(lane, false);
        unlock_rows();
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
    lock_rows();
    flush->until = newest;
    bool first = !find_flush(flush->request.lane, false);
    tern_list_append(&flushes, &flush->link);
    unlock_rows();
    int error = first ? tern_progress_register(flush->request.lane, poll_flushes) : 0;
    if (error) {
        lock_rows();
        tern_list_remove(&flush->link);
        unlock_rows();
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
