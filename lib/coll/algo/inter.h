/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_INTER_H
#define TERN_INTER_H

/* What the files on intercommunicators share (inter.c, inter_reduce.c, inter_price.c). */

#include "lib/coll/plan/compose.h"

/* Returns true if this rank is the root. */
static inline bool is_root(const struct tern_plan_args *args)
{
    return args->root == TERN_ROOT_ME;
}

/* Returns true if another rank of this group is the root. */
static inline bool beside_root(const struct tern_plan_args *args)
{
    return args->root == TERN_ROOT_BESIDE_ME;
}

/* Returns part i of `whole`, which is cut evenly. */
static inline struct tern_ref even_block(struct tern_ref whole, int parts, int64_t i)
{
    int64_t begin = cut(whole.count, parts, i);
    return part(whole, begin, cut(whole.count, parts, i + 1) - begin);
}

/* A reference to no units. */
static const struct tern_ref nothing = {0, 0, -1, TERN_TEMPORARY};

/* Adds a phase of the whole local group. Returns NULL if the plan fails. */
struct tern_phase *tern_inter_add_local(struct tern_plan *plan, enum tern_collective collective);
/* Adds a phase of messages to the remote group, made by `algorithm`, from `send` to `recv`. Returns
 * NULL if the plan fails. */
struct tern_phase *tern_inter_add_across(struct tern_plan *plan,
                                         const struct tern_algorithm *algorithm,
                                         struct tern_ref send, struct tern_ref recv);
/* Algorithms for tern_inter_add_across: give data to the root in the remote group; exchange data
 * with a rank of the remote group. */
extern const struct tern_algorithm tern_inter_give, tern_inter_swap;
/* Makes `count` units, cut evenly among the local group, the phase's blocks. */
void tern_inter_set_even_blocks(struct tern_plan *plan, struct tern_phase *phase, int64_t count);
/* Adds a broadcast of `data` from rank 0 to its group. */
void tern_inter_add_bcast(struct tern_plan *plan, struct tern_ref data);

/* The stages of the algorithms, for their prices. */
void tern_inter_linear_stages(const struct tern_shape *, struct tern_stages *);
void tern_inter_linear_exchange_stages(const struct tern_shape *, struct tern_stages *);
void tern_inter_leaders_bcast_stages(const struct tern_shape *, struct tern_stages *);
void tern_inter_spread_bcast_stages(const struct tern_shape *, struct tern_stages *);
void tern_inter_leaders_gather_stages(const struct tern_shape *, struct tern_stages *);
void tern_inter_leaders_allgather_stages(const struct tern_shape *, struct tern_stages *);
void tern_inter_spread_allgather_stages(const struct tern_shape *, struct tern_stages *);
void tern_inter_spread_alltoall_stages(const struct tern_shape *, struct tern_stages *);
void tern_inter_leaders_reduce_stages(const struct tern_shape *, struct tern_stages *);
void tern_inter_spread_reduce_stages(const struct tern_shape *, struct tern_stages *);
void tern_inter_leaders_allreduce_stages(const struct tern_shape *, struct tern_stages *);
void tern_inter_spread_allreduce_stages(const struct tern_shape *, struct tern_stages *);
void tern_inter_leaders_scatter_stages(const struct tern_shape *, struct tern_stages *);
void tern_inter_spread_scatter_stages(const struct tern_shape *, struct tern_stages *);

#endif
