/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_HIERARCHY_H
#define TERN_HIERARCHY_H

/*
 * Collectives over several nodes: within the nodes, among their leaders, within the nodes again
 * (Karonis et al. 2000). For the tables of the collectives (hierarchy*.c).
 */

#include "lib/coll/plan/build.h"

/* Returns true if there are several nodes, and some have several ranks. If order matters, nodes
 * must be ranges of ranks. */
bool tern_plan_fits_levels(const struct tern_plan_args *args);
/* Returns true if tern_plan_fits_levels does, and nodes are ranges of ranks in any case. */
bool tern_plan_fits_ranges(const struct tern_plan_args *args);
/* Returns true if tern_plan_fits_levels does, and every node has several leaders (coll_nics). */
bool tern_plan_fits_lanes(const struct tern_plan_args *args);
/* Returns true if tern_plan_fits_lanes does, and nodes are ranges of ranks. */
bool tern_plan_fits_lanes_of_ranges(const struct tern_plan_args *args);

/* Adds a phase that puts all blocks from the order of nodes into the order of ranks (`to_ranks`),
 * or back. `from` and `to` are the first block. */
void tern_plan_add_turn(struct tern_plan *plan, struct tern_ref from, struct tern_ref to,
                        bool to_ranks);

/* Functions `build` of the algorithms. */
void tern_hierarchical_barrier(struct tern_plan *plan);
void tern_hierarchical_bcast(struct tern_plan *plan);
void tern_hierarchical_gather(struct tern_plan *plan);
void tern_hierarchical_scatter(struct tern_plan *plan);
void tern_hierarchical_allgather(struct tern_plan *plan);
void tern_hierarchical_allgatherv(struct tern_plan *plan);
void tern_hierarchical_alltoall(struct tern_plan *plan);
void tern_hierarchical_reduce(struct tern_plan *plan);
void tern_hierarchical_allreduce(struct tern_plan *plan);
void tern_multi_leader_bcast(struct tern_plan *plan);
void tern_multi_leader_allgather(struct tern_plan *plan);
void tern_multi_leader_reduce(struct tern_plan *plan);
void tern_multi_leader_allreduce(struct tern_plan *plan);
void tern_hierarchical_reduce_scatter(struct tern_plan *plan);
void tern_hierarchical_scan(struct tern_plan *plan);
void tern_hierarchical_exscan(struct tern_plan *plan);

/* The stages of these algorithms, for their prices. */
void tern_hierarchical_barrier_stages(const struct tern_shape *, struct tern_stages *);
void tern_hierarchical_bcast_stages(const struct tern_shape *, struct tern_stages *);
void tern_hierarchical_gather_stages(const struct tern_shape *, struct tern_stages *);
void tern_hierarchical_scatter_stages(const struct tern_shape *, struct tern_stages *);
void tern_hierarchical_allgather_stages(const struct tern_shape *, struct tern_stages *);
void tern_hierarchical_allgatherv_stages(const struct tern_shape *, struct tern_stages *);
void tern_hierarchical_alltoall_stages(const struct tern_shape *, struct tern_stages *);
void tern_hierarchical_reduce_stages(const struct tern_shape *, struct tern_stages *);
void tern_hierarchical_allreduce_stages(const struct tern_shape *, struct tern_stages *);
void tern_multi_leader_bcast_stages(const struct tern_shape *, struct tern_stages *);
void tern_multi_leader_allgather_stages(const struct tern_shape *, struct tern_stages *);
void tern_multi_leader_reduce_stages(const struct tern_shape *, struct tern_stages *);
void tern_multi_leader_allreduce_stages(const struct tern_shape *, struct tern_stages *);
void tern_hierarchical_reduce_scatter_stages(const struct tern_shape *, struct tern_stages *);
void tern_hierarchical_scan_stages(const struct tern_shape *, struct tern_stages *);

#endif
