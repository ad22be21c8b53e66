/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_BUFFER_H
#define TERN_BUFFER_H

/*
 * Memory for buffered sends (MPI-4.1 section 3.6): that of the process, of a session, of a
 * communicator. Each of them has a pointer to its buffer, NULL while none is attached. What is in a
 * buffer: buffer_blocks.h.
 */

#include <mpi.h>

struct tern_comm;
struct tern_request;
struct tern_send_buffer;

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

#endif
