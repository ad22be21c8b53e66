/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_TWO_TREE_H
#define TERN_TWO_TREE_H

/*
 * Two pipelined binary trees over the same ranks. Each tree carries every second segment. A rank
 * that is an inner node in one tree is a leaf in the other, so every link works in both directions
 * at full rate (Sanders, Speck, Träff 2009).
 */

#include "lib/coll/plan/build.h"

/* Adds a broadcast of `data`, after all earlier steps. `data` is the receive buffer, or a temporary
 * that is copied to the receive buffer at the end. */
void tern_plan_set_two_tree_bcast(struct tern_plan *plan, struct tern_ref data);

/* Adds a reduction to the root, for commutative operations only. */
void tern_plan_set_two_tree_reduce(struct tern_plan *plan);

/* Adds the price of the reduction if `reduced`, else of the broadcast. */
void tern_two_tree_stages(const struct tern_shape *shape, struct tern_stages *stages, bool reduced);

#endif
