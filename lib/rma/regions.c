/* SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE
#include "lib/rma/regions.h"

#include "lib/util/base/error.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>

/* Returns how many regions begin before `at`; `also`: or at it. */
static int count_before(const struct tern_rma_regions *regions, uint64_t at, bool also)
{
    int low = 0, high = regions->count;
    while (low < high) {
        int middle = low + (high - low) / 2;
        uint64_t base = (uintptr_t)regions->list[middle].base;
        if (base < at || (also && base == at))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static int make_room(struct tern_rma_regions *regions, int count)
{
    if (count <= regions->room)
        return 0;
    int room = count < 8 ? 8 : count < 2 * regions->room ? 2 * regions->room : count;
    struct tern_rma_region *list = realloc(regions->list, (size_t)room * sizeof *list);
    if (!list)
        return tern_error(TERN_ERR_NO_MEM, "no memory for the list of %d regions of a window",
                          count);
    regions->list = list;
    regions->room = room;
    return 0;
}

static int refuse_overlap(const struct tern_rma_region *region, const void *base, int64_t size)
{
    return tern_error(TERN_ERR_RMA_ATTACH,
                      "the %lld bytes at %p overlap the %lld bytes at %p, which are attached "
                      "already; detach these first",
                      (long long)size, base, (long long)region->size, (void *)region->base);
}

int tern_regions_add(struct tern_rma_regions *regions, struct tern_rma_control *control,
                     void *base, int64_t size)
{
    char *begin = base, *end = begin + size;
    /* regions without bytes come first among those that begin at one address */
    int place = count_before(regions, (uintptr_t)base, size > 0);
    struct tern_rma_region *next = regions->list + place;
    if (place > 0 && next[-1].base + next[-1].size > begin)
        return refuse_overlap(&next[-1], base, size);
    if (place < regions->count && next->base < end)
        return refuse_overlap(next, base, size);
    tern_rma_spin(&control->region_lock); /* others may read the list */
    int rc = make_room(regions, regions->count + 1);
    if (!rc) {
        next = regions->list + place;
        memmove(next + 1, next, (size_t)(regions->count++ - place) * sizeof *next);
        *next = (struct tern_rma_region){begin, size};
        control->regions = (uintptr_t)regions->list;
        control->region_count = (uint32_t)regions->count;
        tern_store_release(&control->region_changes, control->region_changes + 1);
    }
    tern_rma_unspin(&control->region_lock);
    return rc;
}

int tern_regions_remove(struct tern_rma_regions *regions, struct tern_rma_control *control,
                        const void *base)
{
    int place = count_before(regions, (uintptr_t)base, true) - 1;
    if (place < 0 || regions->list[place].base != base)
        return tern_error(TERN_ERR_RMA_ATTACH,
                          "no memory that begins at %p is attached; base must be what was passed "
                          "to MPI_Win_attach", base);
    tern_rma_spin(&control->region_lock);
    struct tern_rma_region *gone = regions->list + place;
    memmove(gone, gone + 1, (size_t)(--regions->count - place) * sizeof *gone);
    control->region_count = (uint32_t)regions->count;
    tern_store_release(&control->region_changes, control->region_changes + 1);
    tern_rma_unspin(&control->region_lock);
    return 0;
}

/* Reads the list of another process; its lock keeps the list where it is. */
static int read_list(struct tern_rma_regions *copy, const struct tern_rma_control *control, int pid)
{
    int count = (int)control->region_count;
    int rc = make_room(copy, count);
    if (rc)
        return rc;
    size_t bytes = (size_t)count * sizeof *copy->list;
    struct iovec here = {copy->list, bytes}, there = {(void *)(uintptr_t)control->regions, bytes};
    errno = 0;
    if (bytes && process_vm_readv(pid, &here, 1, &there, 1, 0) != (ssize_t)bytes)
        return tern_error(TERN_ERR_OTHER, "cannot read what process %d has attached to a window: "
                                          "%s", pid, errno ? strerror(errno) : "a part is missing");
    copy->count = count;
    copy->changes = control->region_changes;
    return 0;
}

int tern_regions_read(struct tern_rma_regions *copy, struct tern_rma_control *control, int pid)
{
    if (tern_load_acquire(&control->region_changes) == copy->changes)
        return 0;
    tern_rma_spin(&control->region_lock);
    int rc = read_list(copy, control, pid);
    tern_rma_unspin(&control->region_lock);
    return rc;
}

bool tern_regions_hold(const struct tern_rma_regions *regions, uint64_t at, int64_t length)
{
    uint64_t left = (uint64_t)length;
    int i = count_before(regions, at, true) - 1;
    for (; i >= 0 && i < regions->count; i++) {
        uint64_t base = (uintptr_t)regions->list[i].base;
        uint64_t offset = at - base, size = (uint64_t)regions->list[i].size;
        if (at < base || offset > size)
            return false;
        if (left <= size - offset)
            return true;
        left -= size - offset;
        at = base + size;
    }
    return false;
}

void tern_regions_free(struct tern_rma_regions *regions)
{
    free(regions->list);
    *regions = (struct tern_rma_regions){0};
}
