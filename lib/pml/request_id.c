/* SPDX-License-Identifier: BSD-3-Clause */

/* Packets name a request by the index in a lane's table and the lane, so that a packet never makes
 * us follow an address. */

#include "lib/pml/pml_request.h"

#include <stdlib.h>

_Static_assert(TERN_LANES_MAX == 1 << TERN_NUMBER_LANE_BITS, "a number names any lane");

int tern_number_give(struct tern_pml_request *request)
{
    if (request->number)
        return 0;
    struct tern_lane *lane = request->req.lane;
    uint32_t free = lane->first_free_number;
    if (!free) {
        uint32_t size = lane->number_count ? lane->number_count * 2 : 64;
        struct tern_pml_request **larger = realloc(lane->numbers, size * sizeof *larger);
        if (!larger)
            return tern_error(TERN_ERR_NO_MEM, "no memory for %u requests in flight", size);
        free = lane->number_count ? lane->number_count : 1;
        for (uint32_t i = free; i < size; i++)
            larger[i] = (void *)(uintptr_t)((i + 1 < size ? i + 1 : 0) * 2 + 1);
        lane->numbers = larger;
        lane->number_count = size;
    }
    lane->first_free_number = (uintptr_t)lane->numbers[free] / 2;
    lane->numbers[free] = request;
    request->cursor.stage = NULL;
    request->number = free << TERN_NUMBER_LANE_BITS | lane->index;
    return 0;
}

void tern_number_take_back(struct tern_pml_request *request)
{
    if (!request->number)
        return;
    tern_cursor_unstage(&request->cursor);
    struct tern_lane *lane = request->req.lane;
    uint32_t index = request->number >> TERN_NUMBER_LANE_BITS;
    lane->numbers[index] = (void *)(uintptr_t)(lane->first_free_number * 2 + 1);
    lane->first_free_number = index;
    request->number = 0;
}

struct tern_pml_request *tern_number_find(uint64_t number)
{
    const struct tern_lane *lane = &tern_lanes[tern_number_lane(number)];
    uint64_t index = number >> TERN_NUMBER_LANE_BITS;
    if (index == 0 || index >= lane->number_count || (uintptr_t)lane->numbers[index] & 1)
        return NULL;
    return lane->numbers[index];
}
