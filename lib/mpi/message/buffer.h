/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_BUFFER_H
#define TERN_BUFFER_H

/*
 * Memory for buffered sends (MPI-4.1 section 3.6). The process, each session and each communicator
 * may have a buffer attached. Each of them holds a pointer to its buffer, NULL while none is
 * attached. buffer_blocks.h describes what a buffer contains.
 */

#include <mpi.h>

struct tern_comm;
struct tern_request;
struct tern_send_buffer;

/* Attaches `size` bytes at `memory`. `whose` ("the communicator") names the owner in error
 * messages. Returns 0, TERN_ERR_BUFFER if a buffer is already attached or if `memory` is NULL, or
 * TERN_ERR_NO_MEM. */
int tern_buffer_attach(struct tern_send_buffer **at, const char *whose, void *memory,
                       MPI_Count size);
/* Detaches the buffer after all its messages are sent. Returns 0, or TERN_ERR_BUFFER if none is
 * attached. Blocks. */
int tern_buffer_detach(struct tern_send_buffer **at, const char *whose, void **ret_memory,
                       MPI_Count *ret_size);
/* Waits until the messages that are in the buffer now are sent. Does nothing if `buffer` is NULL.
 * Blocks. */
void tern_buffer_flush(struct tern_send_buffer *buffer);
/* Makes a request that completes when the messages that are in the buffer now are sent. The request
 * belongs to the lane of `comm` and holds a reference to `comm`; if `comm` is NULL, it belongs to
 * lane 0. Returns 0 or TERN_ERR_NO_MEM. */
int tern_buffer_iflush(struct tern_send_buffer *buffer, struct tern_comm *comm,
                       struct tern_request **ret_request);

/* Drops the buffer of an owner that is being freed. Messages still in the buffer are sent. */
void tern_buffer_abandon(struct tern_send_buffer **at);
/* Waits until all buffered messages on this communicator are sent. Blocks. */
void tern_buffer_flush_comm(struct tern_comm *comm);
/* Waits until all buffered messages are sent, then drops the buffers of the process and of the
 * predefined communicators. Called when the library ends. */
void tern_buffer_finish(void);

#endif
