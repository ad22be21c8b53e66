/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/node/shared_lock.h"

#include <errno.h>

void tern_shared_lock_begin(struct tern_shared_lock *lock)
{
    pthread_mutexattr_t shared;
    pthread_mutexattr_init(&shared);
    pthread_mutexattr_setpshared(&shared, PTHREAD_PROCESS_SHARED);
    pthread_mutexattr_setrobust(&shared, PTHREAD_MUTEX_ROBUST);
    pthread_mutex_init(&lock->mutex, &shared);
    pthread_mutexattr_destroy(&shared);
}

void tern_shared_lock_take(struct tern_shared_lock *lock)
{
    if (pthread_mutex_lock(&lock->mutex) == EOWNERDEAD)
        pthread_mutex_consistent(&lock->mutex);
}

void tern_shared_lock_leave(struct tern_shared_lock *lock)
{
    pthread_mutex_unlock(&lock->mutex);
}
