/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_BUFFER_BLOCKS_H
#define TERN_BUFFER_BLOCKS_H

/*
 * The blocks of a buffer for buffered sends (MPI-4.1 section 3.6).
 *
 * A buffered message is copied to a block and sent from there. The memory of a block comes from the
 * user's buffer, or from malloc with MPI_BUFFER_AUTOMATIC. The request that sends the block refers
 * neither to the communicator nor to the buffer, so the send completes by itself. The next function
 * that walks the buffer takes the block back.
 *
 * A buffer is a list of blocks in ascending order of address. Each block is a packed message that
 * is being sent. A new block takes the first gap that is large enough. A gap appears when a message
 * is sent; completed blocks are looked for whenever a new block is wanted. Few messages are under
 * way at a time, so a walk along the list is cheap.
 *
 * The standard promises that a message takes at most its packed size + MPI_BSEND_OVERHEAD (128
 * bytes). Here a message takes only its packed size, because the description of a block lies
 * outside the user's memory. The reason: a communicator may be freed without detaching its buffer.
 * Then the user may free the memory as soon as the messages have been received. That can be before
 * this process knows that they are sent.
 *
 * Messages on communicators of any lane share a buffer, and only the lane of a message knows when
 * the message is sent. So completion sets a flag and does nothing else. One lock guards the lists
 * of all buffers. No other function is called while the lock is held.
 */

#include "lib/util/base/list.h"

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tern_comm;
struct tern_request;

enum { TERN_BLOCK_ALIGNMENT = 16 };

/* A block of a buffer: one message that is being sent. */
struct tern_block {
    struct tern_block *next; /* the next block, at a higher address; NULL for the last block */
    /* the bytes of the message: in the user's memory, or directly after this struct */
    char *room;
    size_t size;     /* bytes at `room` */
    uint64_t number; /* counts up: later blocks have higher numbers */
    /* the communicator of the message; may be freed: only compare it */
    const struct tern_comm *comm;
    /* Atomic. The lane of the message sets the flag as its last access to the block. */
    bool sent;
} __attribute__((aligned(TERN_BLOCK_ALIGNMENT)));

/* An attached buffer. */
struct tern_send_buffer {
    struct tern_list_node link; /* in the list of all buffers */
    /* the owner's pointer to this buffer; NULL if the owner was freed */
    struct tern_send_buffer **at;
    char *memory;              /* the user's memory, or MPI_BUFFER_AUTOMATIC */
    size_t size;               /* bytes at `memory` */
    char *start;               /* first aligned byte */
    size_t room;               /* bytes from `start` to the end */
    struct tern_block *blocks; /* the first block; NULL if there is none */
    /* blocks that the last reaping left, and blocks made since then */
    size_t kept, added;
};

/* The buffer of the process; NULL if none is attached. */
extern struct tern_send_buffer *tern_buffer_process;

/* ---- for buffered.c ---- */

/* Makes a block for a message of `length` bytes on `comm`, in the buffer that serves `comm`: that
 * of the communicator, else of its session, else of the process. Returns 0, TERN_ERR_BUFFER if
 * there is no room, or TERN_ERR_NO_MEM. */
int tern_buffer_take_block(struct tern_comm *comm, size_t length, struct tern_block **ret_block);
/* Returns the memory for the message. */
void *tern_block_room(struct tern_block *block);
/* Takes ownership of the request that sends the block. Marks the block as sent when the request
 * completes. */
void tern_block_follow(struct tern_block *block, struct tern_request *request);
/* Gives back a block that was not sent. */
void tern_block_drop(struct tern_block *block);

/* ---- for buffer.c ---- */

/* Lock and unlock the lists of all buffers. Do nothing while the process has one thread. */
void tern_blocks_lock(void);
void tern_blocks_unlock(void);

/* The number of the newest block; 0 if no block was made yet. Needs the lock. */
extern uint64_t tern_blocks_newest;

/* Returns true if blocks come from malloc and not from the user's memory. */
static inline bool tern_buffer_automatic(const struct tern_send_buffer *buffer)
{
    return buffer->memory == MPI_BUFFER_AUTOMATIC;
}

/* Returns true if the message is sent. From then on its memory is not read any more. */
static inline bool tern_block_sent(const struct tern_block *block)
{
    return __atomic_load_n(&block->sent, __ATOMIC_ACQUIRE);
}

/* Takes back the blocks whose messages are sent. Needs the lock. */
void tern_blocks_reap(struct tern_send_buffer *buffer);

/* Returns true if all blocks up to `number` are sent. Needs the lock. */
bool tern_blocks_sent_up_to(const struct tern_send_buffer *buffer, uint64_t number);

#endif
