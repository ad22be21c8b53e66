/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_RMA_REGIONS_H
#define TERN_RMA_REGIONS_H

/*
 * What is attached to a dynamic window. Each rank keeps its own regions, and tells in its control
 * words where they are listed and how often the list has changed. A rank of the same node that
 * reaches the memory without the target's help keeps a copy of the list, and reads it again when it
 * has changed. A target that is asked looks at its own list.
 *
 * Call all of them with the lock of the window's lane held.
 */

#include "lib/rma/control.h"

#include <stdbool.h>
#include <stdint.h>

struct tern_rma_region {
    char *base;
    int64_t size;
};

/* The regions of a rank, by address. They do not overlap. All zero: none. */
struct tern_rma_regions {
    struct tern_rma_region *list; /* owned */
    int count, room;
    uint32_t changes; /* a copy: control->region_changes when it was read */
};

/* Add and remove a region of this rank. `control`: this rank's. Return 0, TERN_ERR_RMA_ATTACH or
 * TERN_ERR_NO_MEM. */
int tern_regions_add(struct tern_rma_regions *regions, struct tern_rma_control *control,
                     void *base, int64_t size);
int tern_regions_remove(struct tern_rma_regions *regions, struct tern_rma_control *control,
                        const void *base);

/* Brings a copy of the regions of process `pid` up to date. `control`: that process's. Returns 0,
 * TERN_ERR_NO_MEM or TERN_ERR_OTHER. */
int tern_regions_read(struct tern_rma_regions *copy, struct tern_rma_control *control, int pid);

/* Returns true if all `length` bytes at `at` are attached, in one region or in several that follow
 * each other without a gap. */
bool tern_regions_hold(const struct tern_rma_regions *regions, uint64_t at, int64_t length);

/* Frees the list. */
void tern_regions_free(struct tern_rma_regions *regions);

#endif
