/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/btl/ofi/fabric/device_regions.h"

#include "lib/accel/device_range.h"
#include "lib/accel/device_share.h"
#include "lib/util/base/error.h"
#include "lib/settings/param.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { REGIONS = 256 };

/* A lane's lock, then this one, then the fabric's. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* A registration that is kept, or the note that the provider refuses this memory. */
static struct entry {
    struct tern_ofi_kept *kept; /* NULL: refused, if there is an id */
    struct fid_ep *endpoint;
    uint64_t id;   /* of the allocation; 0: free entry */
    uintptr_t base; /* of the allocation */
} entries[REGIONS];
static uint64_t uses;

static void drop(struct entry *entry)
{
    if (entry->kept) {
        tern_ofi_deregister(&entry->kept->region);
        free(entry->kept);
    }
    *entry = (struct entry){0};
}

static bool is_idle(const struct entry *entry)
{
    return !entry->kept || !entry->kept->uses;
}

static void drop_freed(void)
{
    for (struct entry *entry = entries; entry < entries + REGIONS; entry++)
        if (entry->id && is_idle(entry) && !tern_accel_lives(entry->base, entry->id))
            drop(entry);
}

/* Ends all registrations that are not in use. Returns true if there were some. */
static bool drop_idle(void)
{
    bool any = false;
    for (struct entry *entry = entries; entry < entries + REGIONS; entry++)
        if (entry->kept && !entry->kept->uses) {
            drop(entry);
            any = true;
        }
    return any;
}

/* Returns a free entry; if there is none, that of the unused registration which was used last the
 * longest time ago. NULL: all are in use. */
static struct entry *find_room(void)
{
    struct entry *oldest = NULL;
    drop_freed();
    for (struct entry *entry = entries; entry < entries + REGIONS; entry++) {
        if (!entry->id)
            return entry;
        if (is_idle(entry) && (!oldest || !entry->kept ||
                               (oldest->kept && entry->kept->used_at < oldest->kept->used_at)))
            oldest = entry;
    }
    if (oldest)
        drop(oldest);
    return oldest;
}

/* Returns the entry for this use of the memory; NULL: there is none. */
static struct entry *find(struct fid_ep *endpoint, uintptr_t start, uintptr_t end, uint64_t access,
                          uint64_t id)
{
    for (struct entry *entry = entries; entry < entries + REGIONS; entry++) {
        const struct tern_ofi_kept *kept = entry->kept;
        if (entry->id == id && entry->endpoint == endpoint &&
            (!kept || ((kept->access & access) == access && kept->start <= start &&
                       kept->end >= end)))
            return entry;
    }
    return NULL;
}

static int enter(struct tern_ofi_kept *fresh, const struct tern_accel_place *place)
{
    return tern_ofi_register_device(fresh->rail, fresh->endpoint, (const void *)fresh->start,
                                    fresh->end - fresh->start, fresh->access, place,
                                    &fresh->region);
}

/* Registers the whole allocation at `base`; if the provider refuses, once more without what is only
 * kept, then only what is needed: a GPU may show other devices less than all of its memory. */
static int make(struct tern_ofi_kept *fresh, const struct tern_accel_place *place, uintptr_t base,
                size_t bytes)
{
    struct tern_ofi_kept needed = *fresh;
    fresh->start = base;
    fresh->end = base + bytes;
    int rc = enter(fresh, place);
    if (rc && drop_idle())
        rc = enter(fresh, place);
    if (rc && (needed.start != fresh->start || needed.end != fresh->end)) {
        *fresh = needed;
        rc = enter(fresh, place);
    }
    return rc;
}

/* Makes a registration, and an entry for it if there is room. */
static int get_fresh(struct tern_ofi_kept *fresh, const struct tern_accel_place *place)
{
    uintptr_t base;
    size_t bytes;
    int rc = tern_accel_allocation((const void *)fresh->start, place, &base, &bytes);
    if (rc)
        return TERN_ERR_UNSUPPORTED;
    if (fresh->end > base + bytes) /* several allocations in a row, as VMM makes them */
        return tern_error(TERN_ERR_UNSUPPORTED, "a buffer is in several allocations");
    bool keep = place->id && strcmp(tern_param_string("btl_ofi_cache"), "never") != 0;
    struct entry *entry = keep ? find_room() : NULL;
    rc = make(fresh, place, base, bytes);
    if (entry && rc != TERN_ERR_NO_MEM)
        *entry = (struct entry){
            .kept = rc ? NULL : fresh, .endpoint = fresh->endpoint, .id = place->id, .base = base};
    return rc;
}

int tern_ofi_device_get(uint32_t rail, struct fid_ep *endpoint, const void *start, size_t length,
                        uint64_t access, const struct tern_accel_place *place,
                        struct tern_ofi_kept **ret_kept)
{
    struct tern_ofi_kept *kept = NULL;
    int rc = TERN_ERR_NO_MEM;
    if (place->device < 0)
        return tern_error(TERN_ERR_UNSUPPORTED, "a buffer was freed");
    pthread_mutex_lock(&lock);
    struct entry *entry = place->id ? find(endpoint, (uintptr_t)start, (uintptr_t)start + length,
                                           access, place->id)
                                    : NULL;
    if (entry) {
        kept = entry->kept;
        rc = kept ? 0 : tern_error(TERN_ERR_UNSUPPORTED, "the provider refuses this memory");
    } else if ((kept = malloc(sizeof *kept))) {
        *kept = (struct tern_ofi_kept){.start = (uintptr_t)start,
                                       .end = (uintptr_t)start + length,
                                       .rail = rail,
                                       .endpoint = endpoint,
                                       .access = access,
                                       .by_id = true};
        rc = get_fresh(kept, place);
        if (rc)
            free(kept);
    }
    if (!rc) {
        kept->uses++;
        kept->used_at = ++uses;
        *ret_kept = kept;
    }
    pthread_mutex_unlock(&lock);
    return rc;
}

static bool is_entered(const struct tern_ofi_kept *kept)
{
    for (int i = 0; i < REGIONS; i++)
        if (entries[i].kept == kept)
            return true;
    return false;
}

void tern_ofi_device_put(struct tern_ofi_kept *kept)
{
    pthread_mutex_lock(&lock);
    if (--kept->uses == 0 && !is_entered(kept)) {
        tern_ofi_deregister(&kept->region);
        free(kept);
    }
    pthread_mutex_unlock(&lock);
}

void tern_ofi_devices_forget(struct fid_ep *endpoint)
{
    pthread_mutex_lock(&lock);
    for (struct entry *entry = entries; entry < entries + REGIONS; entry++) {
        if (!entry->id || (endpoint && entry->endpoint != endpoint))
            continue;
        if (is_idle(entry)) {
            drop(entry);
        } else if (endpoint) { /* its last user frees the rest */
            tern_ofi_deregister(&entry->kept->region);
            *entry = (struct entry){0};
        }
    }
    pthread_mutex_unlock(&lock);
}
