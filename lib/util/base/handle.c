/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/util/base/handle.h"

#include <pthread.h>
#include <stdlib.h>

_Atomic int tern_threads;

/* A row of the list that TERN_HANDLE_GUARDED writes. Both are relative to their own address, so
 * that the dynamic linker need not touch them. */
struct guarded {
    int32_t instruction, landing;
};
/* The linker makes both; they are NULL if nothing of this program reads a handle. */
extern const struct guarded __start_tern_guarded[] __attribute__((weak, visibility("hidden")));
extern const struct guarded __stop_tern_guarded[] __attribute__((weak, visibility("hidden")));

static uintptr_t absolute(const int32_t *relative)
{
    return (uintptr_t)relative + (uintptr_t)(intptr_t)*relative;
}

uintptr_t tern_handle_landing(uintptr_t instruction)
{
    for (const struct guarded *row = __start_tern_guarded; row < __stop_tern_guarded; row++)
        if (absolute(&row->instruction) == instruction)
            return absolute(&row->landing);
    return 0;
}

/* The objects freed last, while tern_object_keep is set. A user who still holds the handle of one
 * finds no other object there. */
enum { KEPT = 1024 };
static struct tern_object *kept[KEPT];
static unsigned next;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
bool tern_object_keep;

void tern_object_keep_freed(bool on)
{
    pthread_mutex_lock(&mutex);
    __atomic_store_n(&tern_object_keep, on, __ATOMIC_RELAXED);
    for (int i = 0; i < KEPT && !on; i++) {
        free(kept[i]);
        kept[i] = NULL;
    }
    pthread_mutex_unlock(&mutex);
}

void tern_object_free(struct tern_object *object)
{
    object->own.magic = TERN_MAGIC_FREED;
    if (tern_object_kept()) {
        pthread_mutex_lock(&mutex);
        struct tern_object *oldest = kept[next % KEPT];
        kept[next++ % KEPT] = object;
        object = oldest;
        pthread_mutex_unlock(&mutex);
    }
    free(object);
}
