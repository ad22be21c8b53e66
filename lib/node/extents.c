/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/node/extents.h"

#include <string.h>

uint64_t tern_extents_size(uint32_t most)
{
    return sizeof(struct tern_extents) + 2 * (uint64_t)most * sizeof(struct tern_extent);
}

void tern_extents_begin(struct tern_extents *extents, uint32_t most)
{
    *extents = (struct tern_extents){.most = most};
}

static struct tern_extent *copy_of(struct tern_extents *extents, uint32_t which)
{
    return extents->elements + (uint64_t)which * extents->most;
}

/* Replaces `gone` elements from `at` on by `come` others, in the copy that does not count, and
 * makes it count. The caller has checked that there is room. */
static void replace(struct tern_extents *extents, uint64_t at, uint64_t gone,
                    const struct tern_extent *new, uint64_t come, uint64_t bytes)
{
    uint32_t old = extents->valid, other = !old;
    const struct tern_extent *from = copy_of(extents, old);
    struct tern_extent *to = copy_of(extents, other);
    uint64_t count = extents->lists[old].count, behind = count - at - gone;
    memcpy(to, from, at * sizeof *to);
    memcpy(to + at, new, come * sizeof *to);
    memcpy(to + at + come, from + at + gone, behind * sizeof *to);
    extents->lists[other].count = count - gone + come;
    __atomic_store_n(&extents->lists[other].bytes, bytes, __ATOMIC_RELAXED);
    /* release: a process that takes over from one that was killed sees the whole copy */
    __atomic_store_n(&extents->valid, other, __ATOMIC_RELEASE);
}

bool tern_extents_take(struct tern_extents *extents, uint64_t size, uint64_t from, uint64_t to,
                       uint64_t *ret_start)
{
    const struct tern_extent *all = copy_of(extents, extents->valid);
    uint64_t count = extents->lists[extents->valid].count, start = 0, at = 0;
    for (;; at++) {
        if (at == count || all[at].start >= to)
            return false;
        start = all[at].start > from ? all[at].start : from;
        uint64_t end = all[at].end < to ? all[at].end : to;
        if (start < end && end - start >= size)
            break;
    }
    struct tern_extent left[2];
    uint64_t come = 0;
    if (all[at].start < start)
        left[come++] = (struct tern_extent){all[at].start, start};
    if (start + size < all[at].end)
        left[come++] = (struct tern_extent){start + size, all[at].end};
    if (count - 1 + come > extents->most)
        return false;
    replace(extents, at, 1, left, come, extents->lists[extents->valid].bytes - size);
    *ret_start = start;
    return true;
}

/* Returns the number of elements that begin before `start`. */
static uint64_t count_before(const struct tern_extent *all, uint64_t count, uint64_t start)
{
    uint64_t low = 0, high = count;
    while (low < high) {
        uint64_t middle = low + (high - low) / 2;
        if (all[middle].start < start)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

bool tern_extents_give(struct tern_extents *extents, uint64_t start, uint64_t size)
{
    const struct tern_extent *all = copy_of(extents, extents->valid);
    uint64_t count = extents->lists[extents->valid].count;
    uint64_t at = count_before(all, count, start), gone = 0;
    struct tern_extent whole = {start, start + size};
    if (at < count && all[at].start == whole.end) {
        whole.end = all[at].end;
        gone++;
    }
    if (at > 0 && all[at - 1].end == whole.start) {
        whole.start = all[--at].start;
        gone++;
    }
    if (!gone && count == extents->most)
        return false;
    replace(extents, at, gone, &whole, 1, extents->lists[extents->valid].bytes + size);
    return true;
}

uint64_t tern_extents_free(const struct tern_extents *extents)
{
    uint32_t valid = __atomic_load_n(&extents->valid, __ATOMIC_RELAXED);
    return __atomic_load_n(&extents->lists[valid].bytes, __ATOMIC_RELAXED);
}

uint64_t tern_extents_needed(const struct tern_extents *extents)
{
    return extents->lists[extents->valid].count + 1;
}
