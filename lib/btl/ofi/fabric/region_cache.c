/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/btl/ofi/fabric/region_cache.h"

#include "lib/accel/accel.h"
#include "lib/btl/ofi/fabric/device_regions.h"
#include "lib/btl/ofi/fabric/memory_watch.h"
#include "lib/util/base/error.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* A lane's lock, then this one, then the fabric's. The watching thread takes none of them. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
/* what the watch of the same index belongs to; NULL: the watch is free */
static struct tern_ofi_kept *kept[TERN_MEMORY_WATCHES];
static int kept_count;
static uint64_t uses, kept_bytes;

/* What is known of memory that begins at a page: it is watched only if it is used again and again,
 * because munmap of watched memory waits for our thread. */
struct habit {
    uintptr_t page;
    uint32_t uses;   /* since it was watched last */
    uint32_t needed; /* uses before it is watched; doubled each time that it was taken away */
};
enum { HABITS = 1024, USES_FIRST = 2, USES_MOST = 4096 };
static struct habit habits[HABITS];

/* ---- one registration ---- */

static struct tern_ofi_kept *make(uint32_t rail, struct fid_ep *endpoint, const void *start,
                                  size_t length, uint64_t access)
{
    struct tern_ofi_kept *fresh = malloc(sizeof *fresh);
    if (fresh)
        *fresh = (struct tern_ofi_kept){.start = (uintptr_t)start,
                                        .end = (uintptr_t)start + length,
                                        .rail = rail,
                                        .endpoint = endpoint,
                                        .access = access,
                                        .uses = 1};
    return fresh;
}

static void end(struct tern_ofi_kept *old)
{
    tern_ofi_deregister(&old->region);
    free(old);
}

/* Ends the registration of a watch, which nobody uses. */
static void end_at(int i)
{
    struct tern_ofi_kept *old = kept[i];
    kept[i] = NULL;
    kept_count--;
    kept_bytes -= old->end - old->start;
    tern_memory_watch_end(old->watch);
    end(old);
}

/* ---- habits ---- */

static struct habit *habit_of(uintptr_t start)
{
    enum { PAGE_SHIFT = 12, MIX = 40 };
    uintptr_t page = start >> PAGE_SHIFT;
    struct habit *habit = &habits[(page * 0x9e3779b97f4a7c15u >> MIX) % HABITS];
    if (habit->page != page)
        *habit = (struct habit){.page = page, .needed = USES_FIRST};
    return habit;
}

/* Counts a use. Returns true if a registration is worth keeping. */
static bool is_used_again(uintptr_t start)
{
    struct habit *habit = habit_of(start);
    return ++habit->uses >= habit->needed || !tern_ofi_fabric.keeps_used;
}

/* Notes that memory was taken away whose registration was kept. */
static void note_taken(uintptr_t start)
{
    struct habit *habit = habit_of(start);
    habit->uses = 0;
    if (habit->needed < USES_MOST)
        habit->needed *= 2;
}

/* ---- all of them ---- */

static void end_stale(int i)
{
    note_taken(kept[i]->start);
    end_at(i);
}

/* Ends what has lost its memory and is not in use. */
static void sweep(void)
{
    for (int i = 0; i < TERN_MEMORY_WATCHES && kept_count; i++)
        if (kept[i] && !kept[i]->uses && tern_memory_watch_is_stale(kept[i]->watch))
            end_stale(i);
}

static struct tern_ofi_kept *find(struct fid_ep *endpoint, uintptr_t start, uintptr_t last,
                                  uint64_t access)
{
    for (int i = 0; i < TERN_MEMORY_WATCHES; i++) {
        struct tern_ofi_kept *at = kept[i];
        if (at && at->start <= start && at->end >= last && (at->access & access) == access &&
            at->endpoint == endpoint && !tern_memory_watch_is_stale(at->watch))
            return at;
    }
    return NULL;
}

/* Ends the registration that was not used for the longest time. Returns false if all are in use. */
static bool evict(void)
{
    int oldest = -1;
    for (int i = 0; i < TERN_MEMORY_WATCHES; i++)
        if (kept[i] && !kept[i]->uses && (oldest < 0 || kept[i]->used_at < kept[oldest]->used_at))
            oldest = i;
    if (oldest >= 0)
        end_at(oldest);
    return oldest >= 0;
}

/* Returns the index of a free watch for a registration of `bytes` bytes; -1 if there is none. */
static int make_room(uint64_t bytes)
{
    uint64_t most = tern_ofi_fabric.keeps_bytes;
    if (bytes > most)
        return -1;
    while (kept_count == TERN_MEMORY_WATCHES || kept_bytes + bytes > most)
        if (!evict())
            return -1;
    int i = 0;
    while (kept[i])
        i++;
    return i;
}

/* Registers; if the provider refuses, once more without what is only kept: memory may be locked up
 * to a limit. */
static int enter(struct tern_ofi_kept *fresh)
{
    const void *start = (const void *)fresh->start;
    size_t length = fresh->end - fresh->start;
    int rc = tern_ofi_register(fresh->rail, fresh->endpoint, start, length, fresh->access,
                               &fresh->region);
    if (rc && kept_count) {
        while (evict())
            ;
        rc = tern_ofi_register(fresh->rail, fresh->endpoint, start, length, fresh->access,
                               &fresh->region);
    }
    return rc;
}

/* Makes a registration that will be kept, if its memory can be watched. */
static int get_fresh(uint32_t rail, struct fid_ep *endpoint, const void *start, size_t length,
                     uint64_t access, bool keep, struct tern_ofi_kept **ret_kept)
{
    struct tern_ofi_kept *fresh = make(rail, endpoint, start, length, access);
    int i = fresh && keep ? make_room(length) : -1;
    if (!fresh)
        return TERN_ERR_NO_MEM;
    /* watched first: what changes from now on is known */
    if (i >= 0 && tern_memory_watch_begin(&tern_memory_watches[i], start, length))
        fresh->watch = &tern_memory_watches[i];
    int rc = enter(fresh);
    if (rc) {
        if (fresh->watch)
            tern_memory_watch_end(fresh->watch);
        free(fresh);
        return rc;
    }
    if (fresh->watch) {
        kept[i] = fresh;
        kept_count++;
        kept_bytes += length;
        fresh->used_at = ++uses;
    }
    *ret_kept = fresh;
    return 0;
}

int tern_ofi_cache_get(uint32_t rail, struct fid_ep *endpoint, const void *start, size_t length,
                       uint64_t access, struct tern_ofi_kept **ret_kept)
{
    struct tern_ofi_kept *found = NULL;
    struct tern_accel_place place;
    if (TERN_UNLIKELY(tern_ofi_fabric.devices) && tern_accel_find(start, &place))
        return tern_ofi_device_get(rail, endpoint, start, length, access, &place, ret_kept);
    if (!tern_ofi_fabric.keeps)
        return get_fresh(rail, endpoint, start, length, access, false, ret_kept);
    pthread_mutex_lock(&lock);
    bool quiet = !kept_count || tern_memory_watch_is_quiet();
    int rc = 0;
    if (quiet) {
        sweep();
        found = find(endpoint, (uintptr_t)start, (uintptr_t)start + length, access);
    }
    if (found) {
        found->uses++;
        found->used_at = ++uses;
        *ret_kept = found;
    } else {
        bool keep = quiet && is_used_again((uintptr_t)start);
        rc = get_fresh(rail, endpoint, start, length, access, keep, ret_kept);
    }
    pthread_mutex_unlock(&lock);
    return rc;
}

void tern_ofi_cache_put(struct tern_ofi_kept *old)
{
    if (!old)
        return;
    if (TERN_UNLIKELY(old->by_id)) {
        tern_ofi_device_put(old);
        return;
    }
    pthread_mutex_lock(&lock);
    bool last = --old->uses == 0;
    if (last && !old->watch)
        end(old);
    else if (last && tern_memory_watch_is_stale(old->watch))
        end_stale((int)(old->watch - tern_memory_watches));
    pthread_mutex_unlock(&lock);
}

/* Ends the registration of a watch, which is in use. Its last user frees the rest. */
static void abandon_at(int i)
{
    struct tern_ofi_kept *old = kept[i];
    kept[i] = NULL;
    kept_count--;
    kept_bytes -= old->end - old->start;
    tern_memory_watch_end(old->watch);
    old->watch = NULL;
    tern_ofi_deregister(&old->region);
}

void tern_ofi_cache_forget(struct fid_ep *endpoint)
{
    tern_ofi_devices_forget(endpoint);
    pthread_mutex_lock(&lock);
    for (int i = 0; i < TERN_MEMORY_WATCHES; i++)
        if (kept[i] && kept[i]->endpoint == endpoint) {
            if (kept[i]->uses)
                abandon_at(i);
            else
                end_at(i);
        }
    pthread_mutex_unlock(&lock);
}

void tern_ofi_cache_stop(void)
{
    tern_memory_watch_stop();
}
