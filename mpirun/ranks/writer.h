/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_MPIRUN_RANKS_WRITER_H
#define TERN_MPIRUN_RANKS_WRITER_H

/* Writes to a descriptor in a thread of its own, so that a slow reader or a stopped terminal never
 * stops mpirun. Setting O_NONBLOCK instead would change the descriptor for every process that
 * shares it, such as the user's shell. */

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A descriptor, its thread, and the bytes that wait. */
struct tern_writer {
    int fd;
    int notify_fd; /* eventfd: written when much has been written out, or writing failed */
    pthread_t thread;
    /* protects all members below: mpirun's loop appends, and the thread takes all waiting bytes at
     * once */
    pthread_mutex_t
        lock;
    /* `filled`: bytes are waiting. `emptied`: the thread has written what it took. */
    pthread_cond_t filled, emptied;
    char *waiting; /* bytes that the thread has not taken yet */
    size_t waiting_bytes, waiting_room;
    size_t writing_bytes; /* taken by the thread, not written yet */
    int64_t wrote_ms; /* when bytes were written last, or began to wait, on CLOCK_MONOTONIC */
    int error_number; /* errno that stopped the thread's writing, or 0; later bytes are dropped */
};

/* The writer is full when this many bytes have been added and not written. */
enum { TERN_WRITER_FULL = 1 << 20 };

/* Starts the thread. Returns 0 or TERN_ERR_OTHER. */
int tern_writer_start(struct tern_writer *writer, int fd, int notify_fd);
/* Appends a copy of `data`. Does not block. */
void tern_writer_add(struct tern_writer *writer, const char *data, size_t size);
/* Returns true if the writer is full: the caller should add no more for now. */
bool tern_writer_full(struct tern_writer *writer);
/* Returns for how many milliseconds a full writer has written nothing: its reader does not read.
 * Returns -1 if the writer is not full. */
int64_t tern_writer_stuck_ms(struct tern_writer *writer);
/* Returns the errno that stopped writing, or 0. */
int tern_writer_error(struct tern_writer *writer);
/* Waits until everything is written or has failed. Blocks. */
void tern_writer_drain(struct tern_writer *writer);

#endif
