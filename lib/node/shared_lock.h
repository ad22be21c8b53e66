/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_SHARED_LOCK_H
#define TERN_SHARED_LOCK_H

/* A lock between processes, in the memory that they share. If its owner is killed, the system
 * passes the lock on; so what the lock guards must make sense after each store. */

#include <pthread.h>

struct tern_shared_lock {
    pthread_mutex_t mutex;
};

/* Call once, before any process takes the lock. */
void tern_shared_lock_begin(struct tern_shared_lock *lock);
/* Blocks while another thread or process has the lock. */
void tern_shared_lock_take(struct tern_shared_lock *lock);
void tern_shared_lock_leave(struct tern_shared_lock *lock);

#endif
