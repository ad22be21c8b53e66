/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_RING_REDUCTION_H
#define TERN_RING_REDUCTION_H

/* Reduction of a vector around a ring (Patarasu, Yuan 2009), as the tail of a plan
 * (ring_reduction.c). Commutative operations only. */

#include "lib/coll/plan/build.h"

/* Returns the number of steps of the reduce-scatter. At its end rank p has part p + 1 of the vector
 * complete. */
static inline int64_t ring_reduce_steps(int size)
{
    return 3 * (int64_t)(size - 1);
}

/* Returns part `chunk` of a vector; any integer, taken modulo `size`. */
struct tern_ref tern_ring_chunk(struct tern_ref vector, int size, int64_t chunk);

/*
 * Returns step i of the reduce-scatter. `result` gets the partial sums. If the input is in `result`
 * itself, partial sums arrive in the temporaries `spare` and `spare` + 1, each as long as a chunk;
 * else they arrive in `result`.
 */
struct tern_step tern_ring_reduce_step(int rank, int size, int64_t i, struct tern_ref input,
                                       struct tern_ref result, int spare);

/* Adds the price of n - 1 rounds in which every rank sends a part of `bytes` to the next rank. */
static inline void tern_stages_add_ring(struct tern_stages *stages, int64_t size, int64_t bytes,
                                        bool reduced)
{
    tern_stages_add(stages, (struct tern_stage){.repeat = (double)(size - 1),
                                                .messages = 1,
                                                .bytes = bytes,
                                                .distance = 1,
                                                .senders = size,
                                                .reduced = reduced ? bytes : 0,
                                                .relay = true});
}

/* Adds the price of a chain over all ranks, segment by segment. */
static inline void tern_stages_add_chain(struct tern_stages *stages, const struct tern_shape *shape,
                                         bool reduced)
{
    int64_t segment = shape->segment_bytes;
    int64_t bytes = shape->bytes < segment ? shape->bytes : segment;
    struct tern_stage step = {.repeat = (double)(shape->size - 1),
                              .messages = 1,
                              .bytes = bytes,
                              .distance = 1,
                              .senders = 1,
                              .reduced = reduced ? bytes : 0,
                              .relay = true};
    tern_stages_add(stages, step);
    step.repeat = (double)((shape->bytes + segment - 1) / segment - 1);
    step.senders = shape->size - 1;
    step.flows = true;
    tern_stages_add(stages, step);
}

#endif
