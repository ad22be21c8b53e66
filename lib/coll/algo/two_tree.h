/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_TWO_TREE_H
#define TERN_TWO_TREE_H

/*
 * Two pipelined binary trees over the same ranks, each carrying every second segment; who is inner
 * in one is a leaf in the other, so that every link works in both directions at full rate (Sanders,
 * Speck, Träff 2009).
 */

#include "lib/coll/plan/build.h"

/* Broadcast of `data`, after what is in the plan: the receive buffer, or a temporary that is copied
 * to the receive buffer in the end. */
void tern_plan_set_two_tree_bcast(struct tern_plan *plan, struct tern_ref data);

/* Reduction to the root; commutative operations only. */
void tern_plan_set_two_tree_reduce(struct tern_plan *plan);

/* Price of either. */
void tern_two_tree_stages(const struct tern_shape *shape, struct tern_stages *stages, bool reduced);

#endif
