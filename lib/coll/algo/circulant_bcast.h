/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_CIRCULANT_BCAST_H
#define TERN_CIRCULANT_BCAST_H

/*
 * Pipelined broadcast over a circulant graph, for any number of ranks n, in the least possible
 * number of rounds: blocks - 1 + ceil(log2 n) (Träff, arXiv 2205.10072 and 2407.18004); and
 * reduction, which is the broadcast backwards.
 */

#include "lib/coll/plan/build.h"

/* Adds a broadcast of `data`, after all earlier steps. `data` is the receive buffer, or a temporary
 * that is copied to the receive buffer at the end. */
void tern_plan_set_circulant_bcast(struct tern_plan *plan, struct tern_ref data);

/* Adds a reduction to the root, for commutative operations only. */
void tern_plan_set_circulant_reduce(struct tern_plan *plan);

/* Adds the price of the reduction if `reduced`, else of the broadcast. */
void tern_circulant_stages(const struct tern_shape *shape, struct tern_stages *stages,
                           bool reduced);

#endif
