/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/accel/device_runs.h"

#include "lib/accel/device_context.h"
#include "lib/accel/device_share.h"

#include <pthread.h>
#include <string.h>

/* A shorter list is written sooner than it is copied to the device. */
enum { WORTH = 512 };

/* The most lists of all contexts, and of one. */
enum { SLOTS = 64, OF_CONTEXT = 16 };

/* Memory for a list. */
static struct slot {
    uint64_t address;           /* of the memory; 0: free entry */
    uint64_t id;                /* of its allocation */
    unsigned long long context; /* id */
    void *stream;               /* that has filled it */
    struct tern_accel_runs_key key; /* key.program is 0: no list */
    struct tern_accel_runs runs;
    uint64_t used; /* number of the last use */
    int starting;  /* threads that have found the list and not yet started their kernels */
} slots[SLOTS];
static uint64_t uses;
static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;

/* Returns the id of the batch's context; 0: not known. */
static unsigned long long context_of(const struct tern_accel_batch *batch)
{
    return batch->entry.context && !batch->error
               ? tern_cu_context_id(tern_cu_driver(), batch->entry.context)
               : 0;
}

bool tern_accel_runs_find(struct tern_accel_batch *batch, const struct tern_accel_runs_key *key,
                          struct tern_accel_runs *ret_runs)
{
    unsigned long long context = context_of(batch);
    bool found = false;
    pthread_mutex_lock(&gate);
    for (struct slot *slot = slots; context && slot < slots + SLOTS && !found; slot++)
        if (slot->context == context && slot->stream == batch->stream &&
            memcmp(&slot->key, key, sizeof *key) == 0) {
            slot->used = ++uses;
            slot->starting++;
            *ret_runs = slot->runs;
            found = true;
        }
    pthread_mutex_unlock(&gate);
    return found;
}

void tern_accel_runs_started(const struct tern_accel_runs *runs)
{
    pthread_mutex_lock(&gate);
    for (int i = 0; i < SLOTS; i++)
        if (slots[i].address == (uintptr_t)runs->list)
            slots[i].starting--;
    pthread_mutex_unlock(&gate);
}

/* Allocates memory for a list in the current context. Returns false if there is none. */
static bool allocate(const struct tern_cu_driver *driver, struct slot *slot)
{
    struct tern_accel_place place;
    tern_cu_addr address;
    if (driver->alloc(&address, TERN_ACCEL_PINNED))
        return false;
    if (!tern_cu_find_place(driver, (void *)(uintptr_t)address, &place) || !place.id) {
        driver->free(address);
        return false;
    }
    slot->address = address;
    slot->id = place.id;
    return true;
}

/* Returns a slot whose memory the batch may fill: one without a list, else a new one, else that of
 * the list that was not used for the longest time, all of its context. NULL: there is none. */
static struct slot *find_room(const struct tern_accel_batch *batch, unsigned long long context)
{
    struct slot *oldest = NULL, *fresh = NULL;
    int count = 0;
    for (struct slot *slot = slots; slot < slots + SLOTS; slot++) {
        bool own = slot->address && slot->context == context && slot->stream == batch->stream;
        if (own && !slot->key.program)
            return slot;
        if (slot->address && slot->context != context && !tern_accel_lives(slot->address, slot->id))
            *slot = (struct slot){0}; /* it went with its context */
        if (!slot->address)
            fresh = slot;
        count += own;
        if (own && !slot->starting && (!oldest || slot->used < oldest->used))
            oldest = slot;
    }
    if (!fresh || count >= OF_CONTEXT || !allocate(tern_cu_driver(), fresh))
        return oldest;
    fresh->context = context;
    fresh->stream = batch->stream;
    return fresh;
}

void tern_accel_runs_keep(struct tern_accel_batch *batch, const struct tern_accel_runs_key *key,
                          const struct tern_accel_runs *runs)
{
    const struct tern_cu_driver *driver = tern_cu_driver();
    unsigned long long context = runs->count < WORTH ? 0 : context_of(batch);
    if (!context)
        return;
    pthread_mutex_lock(&gate);
    struct slot *slot = find_room(batch, context);
    if (slot) {
        slot->key = (struct tern_accel_runs_key){0};
        if (driver->copy(slot->address, (uintptr_t)runs->list,
                         (size_t)runs->count * sizeof *runs->list, batch->stream) == 0) {
            slot->key = *key;
            slot->runs = *runs;
            slot->runs.list = (struct tern_ptx_run *)(uintptr_t)slot->address;
            slot->used = ++uses;
        }
    }
    pthread_mutex_unlock(&gate);
}

void tern_accel_runs_forget(uint64_t program)
{
    pthread_mutex_lock(&gate);
    for (int i = 0; i < SLOTS; i++)
        if (slots[i].key.program == program)
            slots[i].key = (struct tern_accel_runs_key){0};
    pthread_mutex_unlock(&gate);
}

void tern_accel_runs_leave(const void *context)
{
    const struct tern_cu_driver *driver = tern_cu_driver();
    unsigned long long id = tern_cu_context_id(driver, context);
    if (!id)
        return;
    pthread_mutex_lock(&gate);
    for (int i = 0; i < SLOTS; i++)
        if (slots[i].address && slots[i].context == id) {
            driver->free(slots[i].address);
            slots[i] = (struct slot){0};
        }
    pthread_mutex_unlock(&gate);
}
