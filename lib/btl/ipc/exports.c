/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/btl/ipc/ipc.h"

#include "lib/accel/device_spare.h"
#include "lib/btl/path.h"
#include "lib/btl/peer.h"
#include "lib/node/pieces.h"
#include "lib/node/segment.h"
#include "lib/rte/rte.h"
#include "lib/util/base/error.h"

#include <pthread.h>
#include <stdio.h>


enum { RECORDS = 64 };

/* What this rank knows of its records. */
static struct export {
    uint64_t id, base; /* id 0: free */
    uint32_t users;    /* registrations that name it */
    bool refused;      /* the driver makes no handle; there is no record */
    bool spare;        /* memory of ours, with a copy of a message */
    uint64_t used;     /* number of the last use */
} exports[RECORDS];
static struct tern_ipc_record *records;
static uint64_t records_at; /* offset in the node's memory */
static uint64_t uses;
static bool spares_refused; /* the driver shares not even memory that we make for it; atomic */
static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;

void tern_ipc_say_staged(void)
{
    static bool said; /* atomic */
    char text[900];
    if (__atomic_exchange_n(&said, true, __ATOMIC_RELAXED))
        return;
    snprintf(text, sizeof text,
             "messages between devices of this node go through the host, which is slower: %s",
             tern_error_text(TERN_ERR_UNSUPPORTED));
    tern_rte_remark(TERN_REMARK_STAGED, text);
}

static int make_records(void)
{
    uint64_t offset;
    if (records)
        return 0;
    if (!tern_segment.base || tern_segment_take(RECORDS * sizeof *records, &offset))
        return TERN_ERR_NO_MEM;
    records_at = offset;
    records = (struct tern_ipc_record *)(tern_segment.base + offset);
    return 0;
}

static void drop(struct export *export)
{
    __atomic_store_n(&records[export - exports].shared.id, 0, __ATOMIC_RELAXED);
    *export = (struct export){0};
}

static struct export *find(uint64_t id)
{
    for (int i = 0; i < RECORDS; i++)
        if (exports[i].id == id)
            return &exports[i];
    return NULL;
}

/* Drops the records of memory that was freed meanwhile. */
static void drop_freed(void)
{
    for (struct export *export = exports; export < exports + RECORDS; export++)
        if (export->id && !export->users && !tern_accel_lives(export->base, export->id))
            drop(export);
}

/* Returns a free entry; if there is none, that of the unused record which was used last the longest
 * time ago. NULL: all are in use. */
static struct export *find_room(void)
{
    struct export *oldest = NULL;
    drop_freed();
    for (struct export *export = exports; export < exports + RECORDS; export++) {
        if (!export->id)
            return export;
        if (!export->users && (!oldest || export->used < oldest->used))
            oldest = export;
    }
    if (oldest)
        drop(oldest);
    return oldest;
}

/* Makes a record of the allocation that holds `start`. Returns NULL if there is no room. */
static struct export *add(const void *start, const struct tern_accel_place *place, bool spare)
{
    struct tern_accel_shared shared = {.base = (uintptr_t)start};
    struct export *export = find_room();
    if (!export)
        return NULL;
    struct tern_ipc_record *record = &records[export - exports];
    bool refused = tern_accel_share(start, place, &shared) != 0;
    if (refused && spare) {
        tern_ipc_say_staged();
        __atomic_store_n(&spares_refused, true, __ATOMIC_RELAXED);
    }
    *export = (struct export){
        .id = place->id, .base = shared.base, .refused = refused, .spare = spare};
    *record = (struct tern_ipc_record){
        .magic = TERN_IPC_MAGIC, .owner = tern_rte.local_rank, .shared = shared};
    return export;
}

/* Returns the record of the allocation that holds `start`; NULL: it cannot be shared. */
static struct export *take(const void *start, const struct tern_accel_place *place, bool spare)
{
    struct export *export = make_records() ? NULL : find(place->id);
    if (!export && records)
        export = add(start, place, spare);
    if (!export || export->refused)
        return NULL;
    export->users++;
    export->used = ++uses;
    return export;
}

/* Registers memory of the program, or of ours (`spare`). */
static int register_run(struct tern_peer *peer, const void *start, bool spare,
                        struct tern_registration *ret_registration)
{
    struct tern_accel_place place;
    struct tern_registration registration = {.address = (uintptr_t)start};
    if (peer->rank == tern_rte.rank) { /* a message to this rank itself needs no export */
        registration.handle = spare ? (void *)start : NULL;
        *ret_registration = registration;
        return 0;
    }
    if (!tern_accel_find(start, &place) || !place.id)
        return TERN_ERR_UNSUPPORTED;
    pthread_mutex_lock(&gate);
    struct export *export = take(start, &place, spare);
    registration.handle = export;
    if (export)
        registration.key = records_at + (uint64_t)(export - exports) * sizeof *records;
    pthread_mutex_unlock(&gate);
    if (!export)
        return TERN_ERR_UNSUPPORTED;
    *ret_registration = registration;
    tern_path_add(&peer->path, TERN_IPC_PATH);
    return 0;
}

uint64_t tern_ipc_share(const void *start)
{
    struct tern_accel_place place;
    uint64_t key = 0;
    if (!tern_accel_find(start, &place) || !place.id)
        return 0;
    pthread_mutex_lock(&gate);
    bool is_new = !find(place.id);
    struct export *export = take(start, &place, false);
    if (export)
        key = records_at + (uint64_t)(export - exports) * sizeof *records;
    else if (is_new)
        tern_ipc_say_staged();
    pthread_mutex_unlock(&gate);
    return key;
}

void tern_ipc_unshare(uint64_t key)
{
    pthread_mutex_lock(&gate);
    exports[(key - records_at) / sizeof *records].users--;
    pthread_mutex_unlock(&gate);
}

int tern_ipc_register(struct tern_peer *peer, const void *start, size_t length,
                      struct tern_registration *ret_registration)
{
    (void)length;
    return register_run(peer, start, false, ret_registration);
}

int tern_ipc_register_copy(struct tern_peer *peer, struct tern_cursor *cursor,
                           struct tern_registration *ret_registration)
{
    size_t length = (size_t)cursor->length;
    void *spare = NULL;
    if (cursor->place && !__atomic_load_n(&spares_refused, __ATOMIC_RELAXED))
        spare = tern_accel_spare_take(cursor->place, length);
    if (!spare)
        return TERN_ERR_UNSUPPORTED;
    if (register_run(peer, spare, true, ret_registration)) {
        tern_accel_spare_give(spare);
        return TERN_ERR_UNSUPPORTED;
    }
    if (tern_cursor_pack(cursor, spare, length) == length && !cursor->error)
        return 0;
    tern_ipc_deregister(peer, ret_registration);
    return TERN_ERR_UNSUPPORTED; /* the way through the host says what is wrong with the buffer */
}

void tern_ipc_deregister(struct tern_peer *peer, const struct tern_registration *registration)
{
    struct export *export = registration->handle;
    if (!export)
        return;
    if (peer->rank == tern_rte.rank) {
        tern_accel_spare_give((void *)(uintptr_t)registration->address);
        return;
    }
    pthread_mutex_lock(&gate);
    export->users--;
    bool spare = export->spare;
    pthread_mutex_unlock(&gate);
    if (spare)
        tern_accel_spare_give((void *)(uintptr_t)registration->address);
}

void tern_ipc_forget_exports(void)
{
    pthread_mutex_lock(&gate);
    for (int i = 0; records && i < RECORDS; i++)
        drop(&exports[i]);
    pthread_mutex_unlock(&gate);
}
