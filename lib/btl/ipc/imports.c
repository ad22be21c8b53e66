/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/btl/ipc/ipc.h"

#include "lib/node/segment.h"
#include "lib/util/base/error.h"

#include <pthread.h>

enum { IMPORTS = 128 };

static struct tern_ipc_import imports[IMPORTS];
static uint64_t uses;
static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;

/* Reads the record that a transfer names. Returns false if there is none for these bytes. */
static bool read_record(uint32_t owner, const struct tern_transfer *transfer,
                        struct tern_accel_shared *ret_shared)
{
    const struct tern_ipc_record *record = (void *)(tern_segment.base + transfer->key);
    if (!tern_segment.base || !transfer->key || transfer->key % TERN_CACHE_LINE ||
        transfer->key > tern_segment.size - sizeof *record || record->magic != TERN_IPC_MAGIC ||
        record->owner != owner)
        return false;
    struct tern_accel_shared shared = record->shared;
    *ret_shared = shared;
    return shared.id && shared.bytes && transfer->address >= shared.base &&
           transfer->address - shared.base < shared.bytes &&
           transfer->length <= shared.bytes - (transfer->address - shared.base);
}

static void forget(struct tern_ipc_import *import)
{
    tern_accel_close(&import->opened);
    *import = (struct tern_ipc_import){0};
}

/* Returns true if the owner has dropped the record: it has freed the memory, or has more of it than
 * it keeps records of. */
static bool is_dropped(const struct tern_ipc_import *import)
{
    const struct tern_ipc_record *record = (void *)(tern_segment.base + import->record);
    return __atomic_load_n(&record->shared.id, __ATOMIC_RELAXED) != import->shared.id;
}

static bool overlaps(const struct tern_ipc_import *import, const struct tern_accel_shared *shared)
{
    return import->shared.base < shared->base + shared->bytes &&
           shared->base < import->shared.base + import->shared.bytes;
}

/* Returns true if memory of `owner` is open in another context of a device than `place` has. The
 * driver opens the memory of a process in one context of each device only. */
static bool is_elsewhere(const struct tern_ipc_import *import, uint32_t owner,
                         const struct tern_accel_place *place)
{
    const struct tern_accel_place *open = &import->opened.place;
    return import->owner == owner && import->opened.base && open->context != place->context &&
           (open->device == place->device || open->device < 0 || place->device < 0) &&
           tern_accel_is_open(&import->opened);
}

/* Closes what must not or need not be open beside an allocation of `owner` in `place`. The driver
 * refuses a handle that covers the same addresses as one that is open. Returns a free entry; NULL:
 * there is none, or one that must not be open is in use. */
static struct tern_ipc_import *make_room(uint32_t owner, const struct tern_accel_shared *shared,
                                         const struct tern_accel_place *place)
{
    struct tern_ipc_import *room = NULL, *oldest = NULL;
    for (struct tern_ipc_import *import = imports; import < imports + IMPORTS; import++) {
        bool elsewhere = import->record && is_elsewhere(import, owner, place);
        if (elsewhere && import->users)
            return NULL;
        if (import->record && !import->users &&
            (elsewhere || is_dropped(import) ||
             (import->owner == owner && overlaps(import, shared))))
            forget(import);
        if (!import->record)
            room = import;
        else if (!import->users && (!oldest || import->used < oldest->used))
            oldest = import;
    }
    if (!room && oldest) {
        forget(oldest);
        room = oldest;
    }
    return room;
}

/* Closes all that is open of an owner and not in use. */
static void close_all_of(uint32_t owner)
{
    for (int i = 0; i < IMPORTS; i++)
        if (imports[i].record && imports[i].owner == owner && !imports[i].users)
            forget(&imports[i]);
}

static struct tern_ipc_import *open_import(uint32_t owner, uint64_t record,
                                           const struct tern_accel_shared *shared,
                                           const struct tern_accel_place *place)
{
    struct tern_accel_opened opened = {0};
    struct tern_ipc_import *import = make_room(owner, shared, place);
    if (!import)
        return NULL;
    int rc = tern_accel_open(shared, place, &opened);
    if (rc == TERN_ERR_AGAIN) { /* the owner's memory may be laid out in larger pieces */
        close_all_of(owner);
        rc = tern_accel_open(shared, place, &opened);
    }
    if (rc == TERN_ERR_AGAIN) /* the program has opened a handle itself */
        return NULL;
    if (rc == TERN_ERR_UNSUPPORTED)
        tern_ipc_say_staged();
    *import = (struct tern_ipc_import){
        .owner = owner, .record = record, .shared = *shared, .opened = opened};
    return import;
}

static struct tern_ipc_import *find(uint32_t owner, uint64_t id)
{
    for (int i = 0; i < IMPORTS; i++)
        if (imports[i].record && imports[i].owner == owner && imports[i].shared.id == id)
            return &imports[i];
    return NULL;
}

/* Returns true if an import can serve a buffer in this place: it is open in the buffer's context,
 * or on the device of memory that has no context. */
static bool serves(const struct tern_ipc_import *import, const struct tern_accel_place *place)
{
    const struct tern_accel_place *open = &import->opened.place;
    return tern_accel_is_open(&import->opened) &&
           (!place || (place->context ? open->context == place->context
                                      : open->device == place->device));
}

static struct tern_ipc_import *find_or_open(uint32_t owner, const struct tern_transfer *transfer,
                                            const struct tern_accel_place *place)
{
    struct tern_accel_shared shared;
    struct tern_accel_place other; /* a copy: its import may be closed to make room */
    if (!read_record(owner, transfer, &shared))
        return NULL;
    struct tern_ipc_import *import = find(owner, shared.id);
    if (import && !import->opened.base)
        return NULL;
    if (import && !serves(import, place)) { /* another context, or its own was destroyed */
        if (import->users)
            return NULL;
        forget(import);
        import = NULL;
    }
    if (import)
        return import;
    if (!place && tern_accel_current(&other))
        place = &other;
    if (place && !place->context) /* memory of no context: any of its device serves */
        for (int i = 0; i < IMPORTS && !place->context; i++)
            if (imports[i].record && imports[i].owner == owner && serves(&imports[i], place)) {
                other = imports[i].opened.place;
                place = &other;
            }
    return place ? open_import(owner, transfer->key, &shared, place) : NULL;
}

struct tern_ipc_import *tern_ipc_find_import(uint32_t owner, const struct tern_transfer *transfer,
                                             const struct tern_accel_place *place)
{
    pthread_mutex_lock(&gate);
    struct tern_ipc_import *import = find_or_open(owner, transfer, place);
    if (import && !import->opened.base)
        import = NULL;
    if (import) {
        import->users++;
        import->used = ++uses;
    }
    pthread_mutex_unlock(&gate);
    return import;
}

void *tern_ipc_open(uint32_t owner, uint64_t key, uint64_t address, uint64_t bytes,
                    const struct tern_accel_place *place, char **ret_memory)
{
    struct tern_transfer range = {.key = key, .address = address, .length = bytes};
    struct tern_ipc_import *import = tern_ipc_find_import(owner, &range, place);
    if (import)
        *ret_memory = import->opened.base + (address - import->shared.base);
    return import;
}

void tern_ipc_release(struct tern_ipc_import *import)
{
    pthread_mutex_lock(&gate);
    import->users--;
    pthread_mutex_unlock(&gate);
}

void tern_ipc_forget_imports(void)
{
    pthread_mutex_lock(&gate);
    for (int i = 0; i < IMPORTS; i++)
        if (imports[i].record)
            forget(&imports[i]);
    pthread_mutex_unlock(&gate);
}
