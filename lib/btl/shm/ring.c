/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/btl/shm/ring.h"

#include "lib/util/base/error.h"
#include "lib/util/machine/line_costs.h"

#include <stdlib.h>
#include <string.h>

uint32_t tern_ring_prepared_most = TERN_PREPARED_SAFE;

/* Returns the number of slots. They take about a quarter to a half of a ring; the share is larger
 * in small rings, which carry small messages. */
static uint32_t slots_for(uint64_t size)
{
    uint32_t count = 32;
    while ((uint64_t)count * 2 * sizeof(struct tern_ring_slot) * 4 <= size)
        count *= 2;
    return count;
}

void tern_ring_format(struct tern_ring *ring, uint64_t size, uint32_t source)
{
    ring->size = size;
    ring->slot_count = slots_for(size);
    ring->data_size = size - sizeof *ring - ring->slot_count * sizeof(struct tern_ring_slot);
    ring->source = source;
}

bool tern_ring_sane(const struct tern_ring *ring, uint64_t available)
{
    uint32_t n = ring->slot_count;
    return ring->size <= available && n && (n & (n - 1)) == 0 &&
           ring->data_size % TERN_CACHE_LINE == 0 &&
           sizeof *ring + n * sizeof(struct tern_ring_slot) + ring->data_size == ring->size;
}

int tern_ring_open_out(struct tern_ring_out *out, struct tern_ring *ring)
{
    uint32_t *data_end = calloc(ring->slot_count, sizeof *data_end);
    if (!data_end)
        return tern_error(TERN_ERR_NO_MEM, "no memory for a ring of %u slots", ring->slot_count);
    *out = (struct tern_ring_out){
        .ring = ring,
        .mask = ring->slot_count - 1,
        .payload_max = ring->data_size / 4 & ~(TERN_CACHE_LINE - 1u),
        .data_end = data_end,
    };
    return 0;
}

void tern_ring_close_out(struct tern_ring_out *out)
{
    free(out->data_end);
    out->data_end = NULL;
}

void tern_ring_open_in(struct tern_ring_in *in, struct tern_ring *ring, struct tern_cells *cells)
{
    *in = (struct tern_ring_in){.ring = ring, .cells = cells, .mask = ring->slot_count - 1};
}

void tern_cells_order(struct tern_cells *cells, bool in_turn)
{
    for (char *cell = cells->next; cell; memcpy(&cell, cell, sizeof cell))
        cells->last = cell;
    cells->in_turn = in_turn;
}

bool tern_ring_refresh(struct tern_ring_out *out, uint32_t length)
{
    /* acquire: pairs with the receiver's release of `consumed` */
    uint32_t consumed = tern_load_acquire(&out->ring->consumed);
    if (consumed != out->consumed) {
        out->consumed = consumed;
        if (consumed == out->head)
            out->data_head = out->data_tail =
                0; /* empty: begin again at 0, in lines that both caches hold */
        else
            out->data_tail = out->data_end[(consumed - 1) & out->mask];
    }
    if (out->head - out->consumed > out->mask)
        return false;
    return length <= TERN_RING_INLINE || tern_ring_data_fit(out, length) >= 0;
}
