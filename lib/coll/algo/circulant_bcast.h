/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_ROUNDS_H
#define TERN_ROUNDS_H

/*
 * Pipelined broadcast over a circulant graph in as few rounds as there can be: blocks - 1 +
 * ceil(log2 n), for any number of ranks n (Träff, arXiv 2205.10072 and 2407.18004), and reduction,
 * the same backwards.
 */

#include "lib/coll/plan/build.h"

/* Broadcast of `data`, after what is in the plan: the receive buffer, or a temporary that is copied
 * to the receive buffer in the end. */
void tern_plan_set_rounds_bcast(struct tern_plan *plan, struct tern_ref data);

/* Reduction to the root; commutative operations only. */
void tern_plan_set_rounds_reduce(struct tern_plan *plan);

/* Price of either. */
void tern_rounds_stages(const struct tern_shape *shape, struct tern_stages *stages, bool reduced);

#endif
