/* SPDX-License-Identifier: BSD-3-Clause */

/* The prices of the algorithms of intercommunicators (inter.c). shape->size is the larger group. */
#include "lib/coll/algo/inter.h"

/* Adds messages to the remote group, at the same time, from `senders` ranks. */
static void add_messages(struct tern_stages *stages, const struct tern_shape *shape,
                         int64_t messages, int64_t bytes, int64_t senders)
{
    tern_stages_add(stages, (struct tern_stage){.repeat = 1,
                                                .messages = messages,
                                                .bytes = bytes,
                                                .distance = shape->size,
                                                .senders = senders});
}

static void add_local_stages(struct tern_stages *stages, const struct tern_shape *shape,
                             enum tern_collective collective, int64_t bytes)
{
    tern_stages_add_phase(stages, shape, collective, TERN_LEVEL_GROUP, 1, bytes);
}

/* From or to one root. */
void tern_inter_linear_stages(const struct tern_shape *shape, struct tern_stages *stages)
{
    add_messages(stages, shape, shape->size, shape->bytes, 1);
}

void tern_inter_linear_exchange_stages(const struct tern_shape *shape, struct tern_stages *stages)
{
    add_messages(stages, shape, shape->size, shape->bytes, shape->size + shape->other_size);
}

void tern_inter_leaders_bcast_stages(const struct tern_shape *shape, struct tern_stages *stages)
{
    add_messages(stages, shape, 1, shape->bytes, 1);
    add_local_stages(stages, shape, TERN_BCAST, shape->bytes);
}

void tern_inter_spread_bcast_stages(const struct tern_shape *shape, struct tern_stages *stages)
{
    add_messages(stages, shape, shape->size, shape->bytes / shape->size, 1);
    add_local_stages(stages, shape, TERN_ALLGATHERV, shape->bytes / shape->size);
}

/* Gather; scatter is its reverse. */
void tern_inter_leaders_gather_stages(const struct tern_shape *shape, struct tern_stages *stages)
{
    add_local_stages(stages, shape, TERN_GATHER, shape->bytes);
    add_messages(stages, shape, 1, shape->size * shape->bytes, 1);
}

void tern_inter_leaders_allgather_stages(const struct tern_shape *shape, struct tern_stages *stages)
{
    add_local_stages(stages, shape, TERN_GATHER, shape->bytes);
    add_messages(stages, shape, 1, shape->size * shape->bytes, 2);
    add_local_stages(stages, shape, TERN_BCAST, shape->size * shape->bytes);
}

void tern_inter_spread_allgather_stages(const struct tern_shape *shape, struct tern_stages *stages)
{
    int64_t each = (shape->size + shape->other_size - 1) / shape->other_size;
    add_messages(stages, shape, each, shape->bytes, shape->size + shape->other_size);
    add_local_stages(stages, shape, TERN_ALLGATHERV, shape->bytes);
}

void tern_inter_spread_alltoall_stages(const struct tern_shape *shape, struct tern_stages *stages)
{
    add_messages(stages, shape, 1, shape->size * shape->bytes, 2 * shape->size);
    add_local_stages(stages, shape, TERN_ALLTOALL, shape->bytes);
}

void tern_inter_leaders_reduce_stages(const struct tern_shape *shape, struct tern_stages *stages)
{
    add_local_stages(stages, shape, TERN_REDUCE, shape->bytes);
    add_messages(stages, shape, 1, shape->bytes, 1);
}

void tern_inter_spread_reduce_stages(const struct tern_shape *shape, struct tern_stages *stages)
{
    add_local_stages(stages, shape, TERN_REDUCE_SCATTER, shape->bytes / shape->size);
    add_messages(stages, shape, shape->size, shape->bytes / shape->size, 1);
}

void tern_inter_leaders_allreduce_stages(const struct tern_shape *shape, struct tern_stages *stages)
{
    tern_inter_leaders_reduce_stages(shape, stages);
    add_local_stages(stages, shape, TERN_BCAST, shape->bytes);
}

void tern_inter_spread_allreduce_stages(const struct tern_shape *shape, struct tern_stages *stages)
{
    int64_t part_bytes = shape->bytes / shape->size;
    add_local_stages(stages, shape, TERN_REDUCE_SCATTER, part_bytes);
    add_messages(stages, shape, 1, shape->bytes / shape->other_size,
                 shape->size + shape->other_size);
    add_local_stages(stages, shape, TERN_ALLGATHERV, part_bytes);
}

/* Reduce_scatter; `bytes` are those of the whole vector. */
void tern_inter_leaders_scatter_stages(const struct tern_shape *shape, struct tern_stages *stages)
{
    tern_inter_leaders_reduce_stages(shape, stages);
    add_local_stages(stages, shape, TERN_SCATTER, shape->bytes / shape->size);
}

void tern_inter_spread_scatter_stages(const struct tern_shape *shape, struct tern_stages *stages)
{
    int64_t part_bytes = shape->bytes / shape->size;
    add_local_stages(stages, shape, TERN_REDUCE_SCATTER, part_bytes);
    add_messages(stages, shape, 1, shape->bytes / shape->other_size,
                 shape->size + shape->other_size);
    add_messages(stages, shape, 2, part_bytes / 2, shape->size);
}
