/* SPDX-License-Identifier: BSD-3-Clause */

/* Which memory belongs to a window. */

#include "lib/rma/window.h"

#include "lib/node/segment.h"
#include "lib/util/base/error.h"

#include <stdlib.h>

char *tern_window_memory(const struct tern_window *window, uint64_t at, int64_t length)
{
    if (window->dynamic)
        return tern_regions_hold(&window->regions, at, length) ? (char *)(uintptr_t)at : NULL;
    const struct tern_rma_target *self = &window->targets[window->rank];
    if (at > (uint64_t)self->size || (uint64_t)length > (uint64_t)self->size - at)
        return NULL;
    return self->base + at;
}

int tern_window_find_regions(struct tern_window *window, int rank,
                             const struct tern_rma_regions **ret_regions)
{
    const struct tern_rma_target *target = &window->targets[rank];
    *ret_regions = &window->regions;
    if (rank == window->rank)
        return 0;
    if (!window->copies)
        window->copies = calloc((unsigned)window->size, sizeof *window->copies);
    if (!window->copies)
        return tern_error(TERN_ERR_NO_MEM, "no memory for the regions of a window");
    *ret_regions = &window->copies[rank];
    return tern_regions_read(&window->copies[rank], target->control, target->pid);
}

int tern_window_attach(struct tern_window *window, void *base, int64_t size)
{
    tern_lane_lock(window->context->lane);
    int rc = tern_regions_add(&window->regions, window->targets[window->rank].control, base, size);
    tern_lane_unlock(window->context->lane);
    return rc;
}

int tern_window_detach(struct tern_window *window, const void *base)
{
    tern_lane_lock(window->context->lane);
    int rc = tern_regions_remove(&window->regions, window->targets[window->rank].control, base);
    tern_lane_unlock(window->context->lane);
    return rc;
}

char *tern_window_find_near(const struct tern_rma_target *target, uint64_t address, int64_t length)
{
    uint64_t offset = address - target->node_address; /* wraps around if it lies before */
    uint64_t bytes = __atomic_load_n(target->node_bytes, __ATOMIC_ACQUIRE);
    if (offset > bytes || (uint64_t)length > bytes - offset ||
        !tern_segment_reach(offset + (uint64_t)length))
        return NULL;
    return tern_segment.base + offset;
}
