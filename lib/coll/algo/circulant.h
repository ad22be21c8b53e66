/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_CIRCULANT_H
#define TERN_CIRCULANT_H

/*
 * Reduce-scatter and allgather over a circulant graph (Träff 2024, arXiv 2410.14234). For any
 * number of ranks n: ceil(log2 n) rounds, and each rank sends n - 1 blocks; both are the least
 * possible. For commutative operations only.
 */

#include "lib/coll/plan/build.h"

/*
 * Adds a reduce-scatter: then rank r has block r of the sum, at its place in `a`. `a` is as long as
 * `input` and may be `input`. `offsets`: n + 1 numbers, the begin of each block and the end of the
 * last one; NULL: the vector is cut evenly. Uses temporary 0, which is as long as the vector.
 */
void tern_plan_add_circulant_reduce(struct tern_plan *plan, struct tern_ref input,
                                    struct tern_ref a, const int64_t *offsets);

/* Adds an allgather, after all earlier steps: every rank r has block r in `a`, cut evenly; then
 * every rank has all blocks. */
void tern_plan_add_circulant_gather(struct tern_plan *plan, struct tern_ref a, int own);

/* Adds the price of the reduce-scatter (`reduced`) or the allgather of a vector of `bytes`. */
void tern_stages_add_circulant(struct tern_stages *stages, int64_t size, int64_t bytes,
                               int64_t unit, bool reduced);

#endif
