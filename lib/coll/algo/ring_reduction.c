/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/coll/algo/ring_reduction.h"

struct tern_ref tern_ring_chunk(struct tern_ref vector, int size, int64_t chunk)
{
    int c = wrap(chunk, size);
    int64_t begin = cut(vector.count, size, c);
    return part(vector, begin, cut(vector.count, size, c + 1) - begin);
}

/* Round k: sends partial sum p-k, receives p-k-1 and adds this rank's input to it. */
struct tern_step tern_ring_reduce_step(int rank, int size, int64_t i, struct tern_ref input,
                                       struct tern_ref result, int spare)
{
    bool in_place = input.buffer == result.buffer;
    int64_t k = i / 3;
    struct tern_ref arriving = tern_ring_chunk(result, size, rank - k - 1);
    if (in_place)
        arriving = in_temp(spare + (int)(k % 2), 0, arriving.count);
    switch (i % 3) {
    case 0: /* the last reduction made the sum that is sent */
        return step_send(wrap((int64_t)rank + 1, size),
                         tern_ring_chunk(k ? result : input, size, rank - k), places_before(1));
    /* in place: the reduction that freed this temporary two rounds ago is complete, because the
     * send of the last round waited for it */
    case 1: {
        struct tern_step step = step_recv(wrap((int64_t)rank - 1, size), arriving, 0);
        step.flags = TERN_STEP_AWAITED;
        return step;
    }
    default:
        if (in_place)
            return step_reduce(arriving, tern_ring_chunk(result, size, rank - k - 1),
                               places_before(1));
        return step_reduce(tern_ring_chunk(input, size, rank - k - 1), arriving, places_before(1));
    }
}
