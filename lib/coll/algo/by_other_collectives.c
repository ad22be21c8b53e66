/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/coll/algo/by_other_collectives.h"

#include "lib/coll/plan/compose.h"

bool tern_plan_fits_sequence(const struct tern_plan_args *args)
{
    return !args->inner && !tern_topology_has_levels(args->topology);
}

bool tern_plan_fits_equal_parts(const struct tern_plan_args *args)
{
    return tern_plan_fits_sequence(args) && args->recv_count % args->size == 0;
}

/* A reference of length 0, for a phase that sends or receives nothing. */
static struct tern_ref nothing(void)
{
    return in_recv(0, 0);
}

static struct tern_phase *add(struct tern_plan *plan, enum tern_collective collective, int root,
                              struct tern_ref send, struct tern_ref recv)
{
    struct tern_phase *phase =
        tern_plan_add_phase(plan, collective, tern_subgroup_of_all(&plan->args));
    if (!phase)
        return NULL;
    phase->args.root = root;
    phase->args.topology = NULL; /* no leaders: there is one level */
    tern_phase_send(plan, phase, send);
    tern_phase_recv(plan, phase, recv);
    return phase;
}

static void in_place(struct tern_phase *phase, bool is)
{
    if (phase)
        phase->args.in_place = is;
}

static bool at(const struct tern_plan *plan, int root)
{
    return plan->args.rank == root;
}

void tern_gather_by_allgather(struct tern_plan *plan)
{
    const struct tern_plan_args *args = &plan->args;
    bool root = at(plan, args->root);
    int64_t bytes = args->send_count * args->send_size;
    tern_plan_compose(plan, root ? 0 : args->size * bytes);
    in_place(add(plan, TERN_ALLGATHER, 0, in_send(0, args->send_count),
                 root ? in_recv(0, args->recv_count) : in_kept(0, bytes)),
             root && args->in_place);
    tern_plan_finish(plan);
}

/* Returns the bytes of a scatter's block. The root knows what it sends. */
static int64_t block_bytes(const struct tern_plan_args *args)
{
    return args->rank == args->root ? args->send_count * args->send_size
                                    : args->recv_count * args->recv_size;
}

void tern_scatter_by_bcast(struct tern_plan *plan)
{
    const struct tern_plan_args *args = &plan->args;
    bool root = at(plan, args->root);
    int64_t bytes = block_bytes(args), n = args->size, p = args->rank;
    tern_plan_compose(plan, n * bytes);
    /* some broadcasts send to the root what it has already: they must not write to the input */
    if (root)
        tern_plan_add_copy_phase(plan, in_send(0, n * args->send_count), in_kept(0, n * bytes));
    add(plan, TERN_BCAST, args->root, nothing(), in_kept(0, n * bytes));
    if (!root || !args->in_place)
        tern_plan_add_copy_phase(plan, in_kept(p * bytes, bytes), in_recv(0, args->recv_count));
    tern_plan_finish(plan);
}

void tern_allgather_by_gather(struct tern_plan *plan)
{
    const struct tern_plan_args *args = &plan->args;
    bool root = at(plan, 0);
    struct tern_ref own =
        args->in_place ? recv_block(args, args->rank) : in_send(0, args->send_count);
    tern_plan_compose(plan, 0);
    in_place(add(plan, TERN_GATHER, 0, root && args->in_place ? nothing() : own,
                 root ? in_recv(0, args->recv_count) : nothing()),
             root && args->in_place);
    add(plan, TERN_BCAST, 0, nothing(), in_recv(0, args->size * args->recv_count));
    tern_plan_finish(plan);
}

void tern_reduce_by_allreduce(struct tern_plan *plan)
{
    const struct tern_plan_args *args = &plan->args;
    int64_t count = args->recv_count;
    bool root = at(plan, args->root);
    tern_plan_compose(plan, root ? 0 : count);
    in_place(add(plan, TERN_ALLREDUCE, 0, in_input(args, 0, count),
                 root ? in_recv(0, count) : in_kept(0, count)),
             root && args->in_place);
    tern_plan_finish(plan);
}

void tern_reduce_by_scatter(struct tern_plan *plan)
{
    const struct tern_plan_args *args = &plan->args;
    int64_t part = args->recv_count / args->size;
    tern_plan_compose(plan, part);
    add(plan, TERN_REDUCE_SCATTER_BLOCK, 0, in_input(args, 0, part), in_kept(0, part));
    add(plan, TERN_GATHER, args->root, in_kept(0, part),
        at(plan, args->root) ? in_recv(0, part) : nothing());
    tern_plan_finish(plan);
}

void tern_allreduce_by_reduce(struct tern_plan *plan)
{
    const struct tern_plan_args *args = &plan->args;
    int64_t count = args->recv_count;
    tern_plan_compose(plan, 0);
    in_place(add(plan, TERN_REDUCE, 0, in_input(args, 0, count), in_recv(0, count)),
             args->in_place && at(plan, 0));
    add(plan, TERN_BCAST, 0, nothing(), in_recv(0, count));
    tern_plan_finish(plan);
}

void tern_allreduce_by_scatter(struct tern_plan *plan)
{
    const struct tern_plan_args *args = &plan->args;
    int64_t part = args->recv_count / args->size;
    struct tern_ref own = args->in_place ? in_kept(0, part) : in_recv(args->rank * part, part);
    tern_plan_compose(plan, args->in_place ? part : 0);
    add(plan, TERN_REDUCE_SCATTER_BLOCK, 0, in_input(args, 0, part), own);
    in_place(add(plan, TERN_ALLGATHER, 0, args->in_place ? own : nothing(), in_recv(0, part)),
             !args->in_place);
    tern_plan_finish(plan);
}

void tern_reduce_scatter_by_reduce(struct tern_plan *plan)
{
    const struct tern_plan_args *args = &plan->args;
    int64_t whole = tern_recv_total(args), own = tern_recv_count(args, args->rank);
    bool root = at(plan, 0), equal = !args->blocks;
    tern_plan_compose(plan, root ? whole : 0);
    add(plan, TERN_REDUCE, 0, in_input(args, 0, whole),
        root ? in_kept(0, whole) : in_recv(0, whole));
    struct tern_phase *phase =
        add(plan, equal ? TERN_SCATTER : TERN_SCATTERV, 0,
            root ? in_kept(0, equal ? own : whole) : nothing(), in_recv(0, own));
    int64_t *blocks =
        phase && root && !equal ? tern_phase_set_blocks(plan, phase, args->size, true) : NULL;
    for (int r = 0; blocks && r < args->size; r++)
        blocks[r] = tern_recv_count(args, r);
    tern_blocks_lie_in_a_row(blocks, args->size);
    tern_plan_finish(plan);
}

void tern_reduce_scatter_by_allreduce(struct tern_plan *plan)
{
    const struct tern_plan_args *args = &plan->args;
    int64_t part = args->recv_count, whole = args->size * part;
    tern_plan_compose(plan, whole);
    add(plan, TERN_ALLREDUCE, 0, in_input(args, 0, whole), in_kept(0, whole));
    tern_plan_add_copy_phase(plan, in_kept(args->rank * part, part), in_recv(0, part));
    tern_plan_finish(plan);
}

/* --- prices --- */

static void add_price(struct tern_stages *stages, const struct tern_shape *shape,
                      enum tern_collective collective, int64_t bytes)
{
    tern_stages_add_phase(stages, shape, collective, TERN_LEVEL_ALL, 1, bytes);
}

void tern_gather_by_allgather_stages(const struct tern_shape *shape, struct tern_stages *stages)
{
    add_price(stages, shape, TERN_ALLGATHER, shape->bytes);
}

void tern_scatter_by_bcast_stages(const struct tern_shape *shape, struct tern_stages *stages)
{
    add_price(stages, shape, TERN_BCAST, shape->bytes * shape->size);
    tern_stages_add(
        stages,
        (struct tern_stage){.repeat = 1, .senders = 1, .copied = (shape->size + 1) * shape->bytes});
}

void tern_allgather_by_gather_stages(const struct tern_shape *shape, struct tern_stages *stages)
{
    add_price(stages, shape, TERN_GATHER, shape->bytes);
    add_price(stages, shape, TERN_BCAST, shape->bytes * shape->size);
}

void tern_reduce_by_allreduce_stages(const struct tern_shape *shape, struct tern_stages *stages)
{
    add_price(stages, shape, TERN_ALLREDUCE, shape->bytes);
}

void tern_reduce_by_scatter_stages(const struct tern_shape *shape, struct tern_stages *stages)
{
    add_price(stages, shape, TERN_REDUCE_SCATTER_BLOCK, shape->bytes / shape->size);
    add_price(stages, shape, TERN_GATHER, shape->bytes / shape->size);
}

void tern_allreduce_by_reduce_stages(const struct tern_shape *shape, struct tern_stages *stages)
{
    add_price(stages, shape, TERN_REDUCE, shape->bytes);
    add_price(stages, shape, TERN_BCAST, shape->bytes);
}

void tern_allreduce_by_scatter_stages(const struct tern_shape *shape, struct tern_stages *stages)
{
    add_price(stages, shape, TERN_REDUCE_SCATTER_BLOCK, shape->bytes / shape->size);
    add_price(stages, shape, TERN_ALLGATHER, shape->bytes / shape->size);
}

void tern_reduce_scatter_by_reduce_stages(const struct tern_shape *shape,
                                          struct tern_stages *stages)
{
    add_price(stages, shape, TERN_REDUCE, shape->bytes * shape->size);
    add_price(stages, shape, TERN_SCATTER, shape->bytes);
}

void tern_reduce_scatterv_by_reduce_stages(const struct tern_shape *shape,
                                           struct tern_stages *stages)
{
    add_price(stages, shape, TERN_REDUCE, shape->bytes * shape->size);
    /* scatterv has no price */
    tern_stages_add_tree(stages, shape->size, shape->size + 1, shape->bytes, false, 0);
}

void tern_reduce_scatter_by_allreduce_stages(const struct tern_shape *shape,
                                             struct tern_stages *stages)
{
    add_price(stages, shape, TERN_ALLREDUCE, shape->bytes * shape->size);
    tern_stages_add(
        stages, (struct tern_stage){.repeat = 1, .senders = shape->size, .copied = shape->bytes});
}
