/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_BUFFER_H
#define TERN_BUFFER_H

/*
 * Memory for buffered sends (MPI-4.1 section 3.6): that of the process, of a session, of a
 * communicator. Whoever has one has a pointer to it, NULL while none is attached.
 *
 * A buffered message is copied to a block and sent from there. A block comes from the user's
 * memory, or with MPI_BUFFER_AUTOMATIC from malloc. Its message holds neither communicator nor
 * buffer: it ends by itself, and whoever looks at the buffer next takes the block back.
 */

#include "lib/pml/request.h"

#include <mpi.h>
#include <stddef.h>

struct tern_block;
struct tern_comm;
struct tern_send_buffer;

/* The one of the process. */
extern struct tern_send_buffer *tern_buffer_process;

/* `whose` ("the communicator") is for messages to people. TERN_ERR_BUFFER: one is attached already,
 * or `memory` is NULL; TERN_ERR_NO_MEM. */
int tern_buffer_attach(struct tern_send_buffer **at, const char *whose, void *memory,
                       MPI_Count size);
/* Waits until all its messages are sent. TERN_ERR_BUFFER: none is attached. */
int tern_buffer_detach(struct tern_send_buffer **at, const char *whose, void **ret_memory,
                       MPI_Count *ret_size);
/* Waits until the messages that are in it now are sent. NULL: there are none. */
void tern_buffer_flush(struct tern_send_buffer *buffer);
/* The same as a request, in the lane of `comm`, which it refers to; NULL: lane 0. 0 or
 * TERN_ERR_NO_MEM. */
int tern_buffer_iflush(struct tern_send_buffer *buffer, struct tern_comm *comm,
                       struct tern_request **ret_request);

/* The owner is gone; what is in the buffer is still sent. */
void tern_buffer_abandon(struct tern_send_buffer **at);
/* Waits until all buffered messages on this communicator are sent. */
void tern_buffer_flush_comm(struct tern_comm *comm);
/* For the end of the library: waits until all buffered messages are sent, and forgets the buffers
 * of the process and of predefined communicators. */
void tern_buffer_finish(void);

/* A block for a message of `length` bytes on `comm`, from the buffer that serves it.
 * TERN_ERR_BUFFER: no room; TERN_ERR_NO_MEM. */
int tern_buffer_take_block(struct tern_comm *comm, size_t length, struct tern_block **ret_block);
/* Its room. */
void *tern_block_room(struct tern_block *block);
/* Its message is under way; takes the request over. */
void tern_block_follow(struct tern_block *block, struct tern_request *request);
/* It was not sent after all. */
void tern_block_drop(struct tern_block *block);

#endif
