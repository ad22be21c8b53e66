/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Buffered sends (MPI-4.1 section 3.6). The user's buffer is a row of blocks, each a header and a
 * packed message that is being sent. A block is made at the first gap that is large enough; gaps
 * appear when sends complete, which is looked at whenever a new block is wanted. Few messages are
 * under way at once, so a walk along the row is no cost.
 *
 * The standard promises that a message takes at most its packed size + MPI_BSEND_OVERHEAD (128
 * bytes) of the buffer.
 */

#include "lib/mpi/buffered.h"

#include "lib/mpi/comm.h"
#include "lib/mpi/datatype.h"
#include "lib/mpi/request.h"
#include "lib/pml/pml.h"
#include "lib/util/error.h"

#include <stdint.h>
#include <stdlib.h>

#include "lib/mpi/procedures.h"

struct block {
    struct block *next; /* at a higher address; NULL: the last */
    size_t size;        /* bytes, header included */
    struct tern_request *request;
    struct tern_comm *comm; /* a reference is held */
};

enum { ALIGNMENT = 16 };
_Static_assert(sizeof(struct block) + 2 * ALIGNMENT <= MPI_BSEND_OVERHEAD,
               "a header fits into the overhead");

static struct {
    char *memory; /* NULL: none attached */
    size_t size;
    char *start; /* first aligned byte */
    size_t room; /* from there */
    struct block *blocks;
} attached;

/* Frees the blocks whose messages are sent. */
static void reap(void)
{
    for (struct block **at = &attached.blocks; *at;) {
        struct block *block = *at;
        if (!block->request->complete) {
            at = &block->next;
            continue;
        }
        *at = block->next;
        block->request->active = false;
        block->request->kind->release(block->request);
        tern_comm_release(block->comm);
    }
}

/* Makes a block of `size` bytes in the first gap, linked in; NULL: no gap is large enough. */
static struct block *make_block(size_t size)
{
    char *gap = attached.start, *end = attached.start + attached.room;
    struct block **at = &attached.blocks;

    for (;; at = &(*at)->next) {
        char *gap_end = *at ? (char *)*at : end;
        if ((size_t)(gap_end - gap) >= size)
            break;
        if (!*at)
            return NULL;
        gap = gap_end + (*at)->size;
    }
    struct block *block = (struct block *)gap;
    *block = (struct block){.next = *at, .size = size};
    *at = block;
    return block;
}

static void unlink_block(struct block *block)
{
    struct block **at = &attached.blocks;
    while (*at != block)
        at = &(*at)->next;
    *at = block->next;
}

static int no_room(size_t length)
{
    if (!attached.memory)
        return tern_error(
            TERN_ERR_BUFFER,
            "no buffer is attached for a buffered send of %zu bytes; call MPI_Buffer_attach",
            length);
    size_t used = 0;
    for (const struct block *block = attached.blocks; block; block = block->next)
        used += block->size;
    return tern_error(TERN_ERR_BUFFER,
                      "the attached buffer of %zu bytes has no room for %zu bytes + "
                      "MPI_BSEND_OVERHEAD (%d); %zu are taken by "
                      "messages under way: attach a larger one",
                      attached.size, length, MPI_BSEND_OVERHEAD, used);
}

int tern_mpi_bsend(const void *buf, MPI_Count count, struct tern_datatype *datatype, int dest,
                   int tag, struct tern_comm *comm)
{
    size_t length = (size_t)(datatype->type.size * count);
    size_t size = (sizeof(struct block) + length + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;

    if (dest == MPI_PROC_NULL)
        return 0;
    reap();
    struct block *block = attached.memory ? make_block(size) : NULL;
    if (!block && attached.memory) { /* perhaps something has been sent meanwhile */
        tern_progress();
        reap();
        block = make_block(size);
    }
    if (!block)
        return no_room(length);
    if (length) {
        struct tern_cursor cursor;
        tern_cursor_init(&cursor, &datatype->type, buf, count);
        tern_cursor_pack(&cursor, block + 1, length);
    }
    int error =
        tern_pml_isend(&comm->p2p, block + 1, (int64_t)length, &tern_datatype_of(MPI_BYTE)->type,
                       dest, tag, TERN_SEND_STANDARD, &block->request);
    if (error) {
        unlink_block(block);
        return error;
    }
    block->comm = comm;
    tern_comm_retain(comm);
    return 0;
}

/* The message is in the buffer when the call returns, so the request is complete. */
int tern_mpi_ibsend(const void *buf, MPI_Count count, struct tern_datatype *datatype, int dest,
                    int tag, struct tern_comm *comm, struct tern_request **ret_request)
{
    int error = tern_mpi_bsend(buf, count, datatype, dest, tag, comm);
    if (!error)
        *ret_request = &tern_request_empty;
    return error;
}

/* A persistent buffered send. */
struct persistent_bsend {
    struct tern_request request;
    const void *buf;
    MPI_Count count;
    struct tern_datatype *datatype;
    int dest, tag;
};

static int start_bsend(struct tern_request *request)
{
    struct persistent_bsend *bsend = (struct persistent_bsend *)request;
    int error = tern_mpi_bsend(bsend->buf, bsend->count, bsend->datatype, bsend->dest, bsend->tag,
                               request->comm);
    if (error)
        return error;
    tern_request_restart(request);
    tern_request_complete(request, 0);
    return 0;
}

static int cancel_bsend(struct tern_request *request)
{
    (void)request; /* it is complete as soon as it is started */
    return 0;
}

static void release_bsend(struct tern_request *request)
{
    free(request);
}

static const struct tern_request_kind bsend_kind = {.name = "persistent buffered send",
                                                    .start = start_bsend,
                                                    .cancel = cancel_bsend,
                                                    .release = release_bsend};

int tern_mpi_bsend_init(const void *buf, MPI_Count count, struct tern_datatype *datatype, int dest,
                        int tag, struct tern_comm *comm, struct tern_request **ret_request)
{
    struct persistent_bsend *bsend = malloc(sizeof *bsend);
    if (!bsend)
        return tern_error(TERN_ERR_NO_MEM, "no memory for a request");
    tern_request_init(&bsend->request, &bsend_kind, comm);
    tern_request_make_persistent(&bsend->request);
    bsend->buf = buf;
    bsend->count = count;
    bsend->datatype = datatype;
    bsend->dest = dest;
    bsend->tag = tag;
    tern_request_hold_always(&bsend->request, comm, datatype);
    *ret_request = &bsend->request;
    return 0;
}

int tern_mpi_buffer_attach(void *buffer, MPI_Count size)
{
    if (attached.memory)
        return tern_error(TERN_ERR_BUFFER,
                          "a buffer of %zu bytes is attached already; call MPI_Buffer_detach first",
                          attached.size);
    if (!buffer)
        return tern_error(TERN_ERR_BUFFER, "buffer is NULL; expected memory for %lld bytes",
                          (long long)size);
    size_t skip = -(uintptr_t)buffer % ALIGNMENT;
    attached.memory = buffer;
    attached.size = (size_t)size;
    attached.start = attached.memory + skip;
    attached.room = attached.size > skip ? (attached.size - skip) / ALIGNMENT * ALIGNMENT : 0;
    return 0;
}

static void wait_for_blocks(void)
{
    struct tern_waiter waiter = {0};

    for (reap(); attached.blocks; reap())
        tern_wait(&waiter);
}

int tern_mpi_buffer_detach(void *buffer_addr, MPI_Count *ret_size)
{
    if (!attached.memory)
        return tern_error(TERN_ERR_BUFFER, "no buffer is attached");
    wait_for_blocks();
    *(void **)buffer_addr = attached.memory;
    *ret_size = (MPI_Count)attached.size;
    attached.memory = NULL;
    attached.size = attached.room = 0;
    return 0;
}

void tern_buffered_finish(void)
{
    wait_for_blocks();
    attached.memory = NULL;
    attached.size = attached.room = 0;
}
