/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_DEVICE_ORDER_H
#define TERN_DEVICE_ORDER_H

/*
 * The order in which the ranks of a node stand in rings and trees if their buffers are on GPUs:
 * neighbours are near each other. Each slow way, such as that between two NUMA nodes, then carries
 * a ring's traffic once in each direction.
 */

#include "lib/util/machine/gpu_way.h"

#include <stdbool.h>
#include <stdint.h>

struct tern_device_order {
    int32_t size; /* number of ranks */
    /* the rank at each place, and the place of each rank; NULL: ranks are in their own order */
    int32_t *rank_at, *place_of;
    /* Ranks that are joined by better ways than the worst one, `far`, form groups. `group`: ranks
     * of the largest; `near`: the worst way within a group. If all ways are alike there is one
     * group, and both are equal. */
    int32_t group;
    uint8_t near, far; /* enum tern_gpu_reach */
};

/* Makes the order of `size` ranks. reach[size * a + b] is how ranks a and b reach each other (enum
 * tern_gpu_reach), the same from both sides. All ranks get the same order from the same numbers.
 * Returns 0 or TERN_ERR_NO_MEM. Free *ret_order with tern_device_order_free. */
int tern_device_order_make(int32_t size, const uint8_t *reach,
                           struct tern_device_order **ret_order);
/* Frees the order. `order` may be NULL. */
void tern_device_order_free(struct tern_device_order *order);

#endif
