/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_BY_OTHER_COLLECTIVES_H
#define TERN_BY_OTHER_COLLECTIVES_H

/*
 * Collectives made of other collectives, one after the other, among the same ranks. With them no
 * collective costs more than a sequence of others that does its work: Traff, Gropp, Thakur,
 * Self-Consistent MPI Performance Guidelines, IEEE TPDS 2010.
 */

#include "lib/coll/plan/build.h"

/* Returns true if all ranks form one level and the plan is not a phase itself. */
bool tern_plan_fits_sequence(const struct tern_plan_args *args);
/* Returns true if moreover the vector of the reduction has equally many elements for each rank. */
bool tern_plan_fits_equal_parts(const struct tern_plan_args *args);

/* Functions `build` of these algorithms: the first collective made of the second. */
void tern_gather_by_allgather(struct tern_plan *plan);
void tern_scatter_by_bcast(struct tern_plan *plan);
void tern_allgather_by_gather(struct tern_plan *plan);
void tern_reduce_by_allreduce(struct tern_plan *plan);
void tern_reduce_by_scatter(struct tern_plan *plan);
void tern_allreduce_by_reduce(struct tern_plan *plan);
void tern_allreduce_by_scatter(struct tern_plan *plan);
void tern_reduce_scatter_by_reduce(struct tern_plan *plan);
void tern_reduce_scatter_by_allreduce(struct tern_plan *plan);

/* The stages of these algorithms, for their prices. */
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
