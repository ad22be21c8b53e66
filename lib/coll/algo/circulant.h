/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_CIRCULANT_H
#define TERN_CIRCULANT_H

/*
 * Reduce-scatter and allgather over a circulant graph (Träff 2024, arXiv 2410.14234): any number of
 * ranks n, ceil(log2 n) rounds, n - 1 blocks sent by each: as few of both as can be. Commutative
 * operations only.
 */

#include "lib/coll/plan/build.h"

/*
 * Adds up the inputs so that rank r has block r of the sum, in its place in `a`, which is as long
 * as `input` and may be it. `offsets`: n + 1 numbers, where the blocks begin and the last one ends;
 * NULL: the vector cut evenly. Takes temporary 0, as long as the vector.
 */
void tern_plan_add_circulant_reduce(struct tern_plan *plan, struct tern_ref input,
                                    struct tern_ref a, const int64_t *offsets);

/* Every rank r has block r in `a`, cut evenly; then all have all. After what is in the plan. */
void tern_plan_add_circulant_gather(struct tern_plan *plan, struct tern_ref a, int own);

/* Price of either, of a vector of `bytes`. */
void tern_stages_add_circulant(struct tern_stages *stages, int64_t size, int64_t bytes,
                               int64_t unit, bool reduced);

#endif
