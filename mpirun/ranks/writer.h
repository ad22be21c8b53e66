/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_MPIRUN_RANKS_WRITER_H
#define TERN_MPIRUN_RANKS_WRITER_H

/* Writes to a descriptor in a thread of its own, so that a slow reader (or a stopped terminal)
 * never stops mpirun. Setting O_NONBLOCK instead would change the descriptor for everybody who
 * shares it, the user's shell among them. */

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

struct tern_writer {
    int fd;
    int notify_fd; /* eventfd: written when room was made, or writing failed */
    pthread_t thread;
    pthread_mutex_t
        lock; /* of all below: mpirun's loop appends, the thread takes all there is at once */
    pthread_cond_t filled, emptied;
    char *waiting;
    size_t waiting_bytes, waiting_room;
    size_t writing_bytes; /* taken by the thread, not written yet */
    int error_number;     /* what stopped it, or 0; everything after is dropped */
};

enum { TERN_WRITER_FULL = 1 << 20 };

/* 0 or TERN_ERR_OTHER. */
int tern_writer_start(struct tern_writer *writer, int fd, int notify_fd);
void tern_writer_add(struct tern_writer *writer, const char *data, size_t size);
/* More is waiting than should be: stop feeding. */
bool tern_writer_full(struct tern_writer *writer);
int tern_writer_error(struct tern_writer *writer);
/* Waits until everything is written or cannot be. */
void tern_writer_drain(struct tern_writer *writer);

#endif
