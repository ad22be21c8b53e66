/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_BUFFER_BLOCKS_H
#define TERN_BUFFER_BLOCKS_H

/*
 * The blocks of a buffer for buffered sends (MPI-4.1 section 3.6).
 *
 * A buffered message is copied to a block and sent from there. A block comes from the user's
 * memory, or with MPI_BUFFER_AUTOMATIC from malloc. Its message holds neither communicator nor
 * buffer: it ends by itself, and whoever looks at the buffer next takes the block back.
 *
 * A buffer is a row of blocks in order of address, each a packed message that is being sent. A
 * block is made at the first gap that is large enough; gaps appear when messages are sent, which is
 * looked at whenever a new block is wanted. Few messages are under way at once, so a walk along the
 * row is no cost. The standard promises that a message takes at most its packed size +
 * MPI_BSEND_OVERHEAD (128 bytes); it takes its size, for the description of a block stands
 * elsewhere: when a communicator was freed nobody gets its buffer back, and the user may free the
 * memory as soon as the messages have been received, which is before this process hears of it.
 *
 * Messages on communicators of any lane share a buffer, and only their lane knows when they are
 * sent. So completion sets a flag and nothing else. One lock guards the rows of all buffers; while
 * it is held nothing else is called.
 */

#include "lib/util/list.h"

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tern_comm;
struct tern_request;

enum { TERN_BLOCK_ALIGNMENT = 16 };

struct tern_block {
    struct tern_block *next; /* at a higher address; NULL: the last */
    char *room;              /* in the user's memory, or behind the block */
    size_t size;             /* of it, bytes */
    uint64_t number;         /* counts up */
    const struct tern_comm *comm; /* may be gone: only compared */
    bool sent;                    /* atomic: set by the lane of the message, at last */
} __attribute__((aligned(TERN_BLOCK_ALIGNMENT)));

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

/* The buffer of the process; NULL: none is attached. */
extern struct tern_send_buffer *tern_buffer_process;

/* ---- for buffered.c ---- */

/* Makes a block for a message of `length` bytes on `comm` in the buffer that serves `comm`. Returns
 * 0, TERN_ERR_BUFFER if there is no room, or TERN_ERR_NO_MEM. */
int tern_buffer_take_block(struct tern_comm *comm, size_t length, struct tern_block **ret_block);
/* Returns the memory for the message. */
void *tern_block_room(struct tern_block *block);
/* Takes over the request that sends the block. */
void tern_block_follow(struct tern_block *block, struct tern_request *request);
/* Gives the block back: it was not sent. */
void tern_block_drop(struct tern_block *block);

/* ---- for buffer.c ---- */

/* The lock of all rows; does nothing while the process has one thread. */
void tern_blocks_lock(void);
void tern_blocks_unlock(void);

/* Number of the block that was made last; 0: none was made. The lock is held. */
extern uint64_t tern_blocks_newest;

/* Returns true if the memory is not the user's, but comes from malloc. */
static inline bool tern_buffer_automatic(const struct tern_send_buffer *buffer)
{
    return buffer->memory == MPI_BUFFER_AUTOMATIC;
}

/* Returns true if the message is sent; from then on its memory is not read any more. */
static inline bool tern_block_sent(const struct tern_block *block)
{
    return __atomic_load_n(&block->sent, __ATOMIC_ACQUIRE);
}

/* Takes back the blocks whose messages are sent. The lock is held. */
void tern_blocks_reap(struct tern_send_buffer *buffer);

/* Returns true if all blocks up to this number are sent. The lock is held. */
bool tern_blocks_sent_up_to(const struct tern_send_buffer *buffer, uint64_t number);

#endif
