/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_INTER_H
#define TERN_INTER_H

/* What the files on intercommunicators share (inter.c, inter_reduce.c). */

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
/* Adds a broadcast of `data` from rank 0 to its group. */
void tern_inter_add_bcast(struct tern_plan *plan, struct tern_ref data);

#endif
