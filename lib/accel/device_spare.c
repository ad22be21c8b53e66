/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/accel/device_spare.h"

#include "lib/accel/device_context.h"
#include "lib/accel/device_share.h"

#include <pthread.h>

enum { SPARES = 8 };
static const size_t least = 1 << 20, most = 64 << 20, all = 128 << 20; /* bytes */

static struct spare {
    uint64_t address; /* 0: free entry */
    size_t bytes;
    void *context;
    uint64_t id; /* of the allocation */
    bool used;
} spares[SPARES];
static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;

static size_t round_up(size_t bytes)
{
    size_t rounded = least;
    while (rounded < bytes)
        rounded *= 2;
    return rounded;
}

/* Forgets what went with its context. Returns the bytes of the others. */
static size_t count_living(void)
{
    size_t bytes = 0;
    for (struct spare *spare = spares; spare < spares + SPARES; spare++) {
        if (spare->address && !spare->used && !tern_accel_lives(spare->address, spare->id))
            spare->address = 0;
        bytes += spare->address ? spare->bytes : 0;
    }
    return bytes;
}

static struct spare *find(const void *context, size_t bytes)
{
    struct spare *best = NULL;
    for (struct spare *spare = spares; spare < spares + SPARES; spare++)
        if (spare->address && !spare->used && spare->context == context &&
            spare->bytes >= bytes && (!best || spare->bytes < best->bytes) &&
            tern_accel_lives(spare->address, spare->id))
            best = spare;
    return best;
}

static struct spare *find_room(void)
{
    for (int i = 0; i < SPARES; i++)
        if (!spares[i].address)
            return &spares[i];
    return NULL;
}

/* Allocates in the current context, which is `context`. */
static struct spare *make(const struct tern_cu_driver *driver, void *context, size_t bytes)
{
    struct spare *room = find_room();
    struct tern_accel_place place;
    tern_cu_addr address;
    if (!room || driver->alloc(&address, bytes))
        return NULL;
    if (!tern_cu_find_place(driver, (void *)(uintptr_t)address, &place) || !place.id) {
        driver->free(address);
        return NULL;
    }
    *room = (struct spare){.address = address, .bytes = bytes, .context = context,
                           .id = place.id};
    return room;
}

void *tern_accel_spare_take(const struct tern_accel_place *place, size_t bytes)
{
    const struct tern_cu_driver *driver = tern_cu_driver();
    struct tern_accel_entry entry;
    struct spare *spare = NULL;
    if (!driver || bytes > most || tern_cu_enter(driver, place, &entry))
        return NULL;
    bytes = round_up(bytes);
    pthread_mutex_lock(&gate);
    spare = find(entry.context, bytes);
    if (!spare && count_living() + bytes <= all)
        spare = make(driver, entry.context, bytes);
    if (spare)
        spare->used = true;
    void *memory = spare ? (void *)(uintptr_t)spare->address : NULL;
    pthread_mutex_unlock(&gate);
    tern_cu_leave(driver, &entry);
    return memory;
}

void tern_accel_spare_give(void *memory)
{
    pthread_mutex_lock(&gate);
    for (int i = 0; i < SPARES; i++)
        if (spares[i].address == (uintptr_t)memory)
            spares[i].used = false;
    pthread_mutex_unlock(&gate);
}

void tern_accel_spare_leave(const void *context)
{
    pthread_mutex_lock(&gate);
    count_living();
    for (int i = 0; i < SPARES; i++)
        if (spares[i].address && spares[i].context == context) {
            tern_cu_driver()->free(spares[i].address);
            spares[i].address = 0;
        }
    pthread_mutex_unlock(&gate);
}
