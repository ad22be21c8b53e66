/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_SEQUENCE_H
#define TERN_SEQUENCE_H

/*
 * Collectives that are others one after the other, among the same ranks (by_others.c). So that none
 * is priced above what it could be made of: Traff, Gropp, Thakur, Self-Consistent MPI Performance
 * Guidelines, IEEE TPDS 2010.
 */

#include "lib/coll/plan/build.h"

/* All ranks are alike, and this is no phase itself. */
bool tern_plan_fits_sequence(const struct tern_plan_args *args);
/* The same, of a reduction whose vector has as many elements for each rank. */
bool tern_plan_fits_equal_parts(const struct tern_plan_args *args);

void tern_gather_by_allgather(struct tern_plan *plan);
void tern_scatter_by_bcast(struct tern_plan *plan);
void tern_allgather_by_gather(struct tern_plan *plan);
void tern_reduce_by_allreduce(struct tern_plan *plan);
void tern_reduce_by_scatter(struct tern_plan *plan);
void tern_allreduce_by_reduce(struct tern_plan *plan);
void tern_allreduce_by_scatter(struct tern_plan *plan);
void tern_reduce_scatter_by_reduce(struct tern_plan *plan);
void tern_reduce_scatter_by_allreduce(struct tern_plan *plan);

/* Their prices. */
void tern_gather_by_allgather_stages(const struct tern_shape *, struct tern_stages *);
void tern_scatter_by_bcast_stages(const struct tern_shape *, struct tern_stages *);
void tern_allgather_by_gather_stages(const struct tern_shape *, struct tern_stages *);
void tern_reduce_by_allreduce_stages(const struct tern_shape *, struct tern_stages *);
void tern_reduce_by_scatter_stages(const struct tern_shape *, struct tern_stages *);
void tern_allreduce_by_reduce_stages(const struct tern_shape *, struct tern_stages *);
void tern_allreduce_by_scatter_stages(const struct tern_shape *, struct tern_stages *);
void tern_reduce_scatterv_by_reduce_stages(const struct tern_shape *, struct tern_stages *);
void tern_reduce_scatter_by_reduce_stages(const struct tern_shape *, struct tern_stages *);
void tern_reduce_scatter_by_allreduce_stages(const struct tern_shape *, struct tern_stages *);

#endif
