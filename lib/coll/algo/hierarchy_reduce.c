/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Reductions over several nodes: within each node to its leader, among the leaders, and back. Each
 * node's data cross the network once (Karonis et al. 2000, Exploiting hierarchy in parallel
 * computer networks). If order matters, the nodes must be ranges of ranks. Then the sums of nodes
 * are reduced in rank order if the leaders' inputs are.
 */
#include "lib/coll/plan/compose.h"
#include "lib/coll/algo/hierarchy.h"

#include <stdlib.h>

bool tern_plan_fits_levels(const struct tern_plan_args *args)
{
    return tern_topology_has_levels(args->topology) &&
           (args->commutative || args->topology->consecutive);
}

bool tern_plan_fits_ranges(const struct tern_plan_args *args)
{
    return tern_plan_fits_levels(args) && args->topology->consecutive;
}

/* Reduces `input` within the node to the rank with local rank `root`. If `in_place`, that rank's
 * input is in `result`. */
static void reduce_in_node(struct tern_plan *plan, int root, struct tern_ref input, bool in_place,
                           struct tern_ref result)
{
    struct tern_phase *phase =
        tern_plan_add_phase(plan, TERN_REDUCE, tern_subgroup_in_node(&plan->args));
    if (!phase)
        return;
    phase->args.root = root;
    phase->args.in_place = in_place && phase->args.rank == root;
    tern_phase_send(plan, phase, input);
    tern_phase_recv(plan, phase, result);
}

static void bcast_in_node(struct tern_plan *plan, int root, struct tern_ref data)
{
    struct tern_phase *phase =
        tern_plan_add_phase(plan, TERN_BCAST, tern_subgroup_in_node(&plan->args));
    if (!phase)
        return;
    phase->args.root = root;
    tern_phase_recv(plan, phase, data);
}

/* One message of the algorithm itself: from the root if `in_place` (this rank receives), else to
 * the root. */
static void build_message(struct tern_plan *plan)
{
    const struct tern_plan_args *args = &plan->args;
    if (args->in_place)
        add_recv(plan, args->root, in_recv(0, args->recv_count), 0);
    else
        add_send(plan, args->root, in_send(0, args->send_count), 0);
}

static const struct tern_algorithm message = {"message", build_message, NULL, NULL};

static void add_message(struct tern_plan *plan, int from, int to, struct tern_ref out,
                        struct tern_ref in)
{
    if (from == to || (plan->args.rank != from && plan->args.rank != to))
        return;
    struct tern_phase *phase =
        tern_plan_add_phase(plan, TERN_REDUCE, tern_subgroup_of_all(&plan->args));
    if (!phase)
        return;
    phase->algorithm = &message;
    phase->args.in_place = plan->args.rank == to;
    phase->args.root = phase->args.in_place ? from : to;
    tern_phase_send(plan, phase, out);
    tern_phase_recv(plan, phase, in);
}

/* The root leads its node, unless order matters: then the node's first rank leads, and sends the
 * result to the root. */
void tern_hierarchical_reduce(struct tern_plan *plan)
{
    const struct tern_plan_args *args = &plan->args;
    const struct tern_topology *topology = args->topology;
    int64_t count = args->recv_count;
    int node = tern_topology_node(topology, args->rank);
    int root_node = tern_topology_node(topology, args->root);
    int top = args->commutative ? args->root : tern_topology_rank(topology, root_node, 0);
    int leader = tern_leader_of(topology, node, 0, top);
    bool at_home = args->rank == top && top == args->root;
    tern_plan_compose(plan, at_home || leader != args->rank ? 0 : count);
    struct tern_ref sum = at_home ? in_recv(0, count) : in_kept(0, count);
    bool in_place = args->in_place && at_home; /* the root's input may be where its sum arrives */
    reduce_in_node(plan, tern_topology_local_rank(topology, leader), in_input(args, 0, count),
                   in_place, sum);
    struct tern_phase *phase =
        tern_plan_add_phase(plan, TERN_REDUCE, tern_subgroup_among_leaders(args, 0, top));
    if (phase) {
        phase->args.root = root_node;
        phase->args.in_place = args->rank == top;
        tern_phase_send(plan, phase, sum);
        tern_phase_recv(plan, phase, sum);
    }
    add_message(plan, top, args->root, in_kept(0, count), in_recv(0, count));
    tern_plan_finish(plan);
}

void tern_hierarchical_allreduce(struct tern_plan *plan)
{
    const struct tern_plan_args *args = &plan->args;
    struct tern_ref result = in_recv(0, args->recv_count);
    tern_plan_compose(plan, 0);
    reduce_in_node(plan, 0, in_input(args, 0, args->recv_count), args->in_place, result);
    struct tern_phase *phase =
        tern_plan_add_phase(plan, TERN_ALLREDUCE, tern_subgroup_among_leaders(args, 0, -1));
    if (phase) {
        phase->args.in_place = true;
        tern_phase_recv(plan, phase, result);
    }
    bcast_in_node(plan, 0, result);
    tern_plan_finish(plan);
}

/* --- reduce_scatter --- */

/* Returns the units of a run's blocks. */
static int64_t run_count(const struct tern_plan_args *args, const struct tern_node_run *run)
{
    if (!args->blocks)
        return run->count * args->recv_count;
    int64_t count = 0;
    for (int i = 0; i < run->count; i++)
        count += tern_recv_count(args, run->first + i);
    return count;
}

/* Returns the units of the blocks of each node; *ret_total: of all. The caller frees the array.
 * Returns NULL if there is no memory. */
static int64_t *node_counts(const struct tern_plan_args *args, int64_t *ret_total)
{
    const struct tern_topology *topology = args->topology;
    int64_t *counts = calloc((size_t)topology->nodes, sizeof *counts), total = 0;
    for (int i = 0; counts && i < topology->run_count; i++) {
        int64_t count = run_count(args, &topology->run[i]);
        counts[topology->run[i].node] += count;
        total += count;
    }
    *ret_total = total;
    return counts;
}

/* Copies the vector from the order of ranks to the order of nodes. */
static void build_by_nodes(struct tern_plan *plan)
{
    const struct tern_topology *topology = plan->args.topology;
    const struct tern_node_run *run = topology->run;
    int64_t begin = 0, *counts = calloc((size_t)topology->run_count, sizeof *counts);
    if (!counts) {
        plan->failed = true;
        return;
    }
    for (int i = 0; i < topology->run_count; i++) { /* where each run begins */
        counts[i] = begin;
        begin += run_count(&plan->args, &run[i]);
    }
    int64_t at = 0;
    for (int node = 0; node < topology->nodes; node++)
        for (int i = topology->node[node].run; i >= 0; i = run[i].next) {
            int64_t count = (i + 1 < topology->run_count ? counts[i + 1] : begin) - counts[i];
            add_copy(plan, in_send(counts[i], count), in_recv(at, count), 0);
            at += count;
        }
    free(counts);
}

static const struct tern_algorithm by_nodes = {"by_nodes", build_by_nodes, NULL, NULL};

/* Each node reduces the whole vector. The leaders scatter the sum by nodes, and each leader then
 * within its node. */
void tern_hierarchical_reduce_scatter(struct tern_plan *plan)
{
    const struct tern_plan_args *args = &plan->args;
    const struct tern_topology *topology = args->topology;
    int64_t total, *counts = node_counts(args, &total);
    int node = tern_topology_node(topology, args->rank);
    if (!counts) {
        plan->failed = true;
        return;
    }
    struct tern_subgroup among = tern_subgroup_among_leaders(args, 0, -1);
    struct tern_ref sum = in_kept(0, total), other = in_kept(total, total);
    tern_plan_compose(plan, among.rank < 0 ? 0 : 2 * total);
    reduce_in_node(plan, 0, in_input(args, 0, total), false, sum);
    if (among.rank >= 0 && !topology->consecutive) {
        struct tern_phase *phase =
            tern_plan_add_phase(plan, TERN_REDUCE_SCATTER, tern_subgroup_of_all(args));
        if (phase) {
            phase->algorithm = &by_nodes;
            phase->args.blocks = args->blocks;
            phase->send = sum;
            phase->recv = other;
            phase->args.recv_count = args->recv_count;
        }
        sum = other;
        other = in_kept(0, total);
    }
    struct tern_phase *phase = tern_plan_add_phase(plan, TERN_REDUCE_SCATTER, among);
    if (phase) {
        tern_phase_send(plan, phase, sum);
        tern_phase_recv(plan, phase, other);
        int64_t *blocks = tern_phase_set_blocks(plan, phase, phase->args.size, false);
        for (int i = 0; blocks && i < topology->nodes; i++)
            blocks[i] = counts[i];
    }
    phase = tern_plan_add_phase(plan, TERN_SCATTERV, tern_subgroup_in_node(args));
    if (phase) {
        tern_phase_send(plan, phase, other);
        tern_phase_recv(plan, phase, in_recv(0, tern_recv_count(args, args->rank)));
        int64_t *blocks =
            phase->args.rank ? NULL : tern_phase_set_blocks(plan, phase, phase->args.size, true);
        for (int i = 0; blocks && i < phase->args.size; i++)
            blocks[i] = tern_recv_count(args, tern_topology_rank(topology, node, i));
        tern_blocks_lie_in_a_row(blocks, phase->args.size);
    }
    free(counts);
    tern_plan_finish(plan);
}

/* --- prefix reductions --- */

/* `to` = `from` op `to`; a copy if `to` has no value yet (`root` is not 0). */
static void build_join(struct tern_plan *plan)
{
    const struct tern_plan_args *args = &plan->args;
    struct tern_ref from = in_send(0, args->send_count), to = in_recv(0, args->recv_count);
    if (args->root)
        add_copy(plan, from, to, 0);
    else
        add_reduce(plan, from, to, 0);
}

static const struct tern_algorithm join = {"join", build_join, NULL, NULL};

static void add_join(struct tern_plan *plan, struct tern_ref from, struct tern_ref to, bool copy)
{
    struct tern_phase *phase =
        tern_plan_add_phase(plan, TERN_REDUCE, tern_subgroup_of_all(&plan->args));
    if (!phase)
        return;
    phase->algorithm = &join;
    phase->args.root = copy;
    tern_phase_send(plan, phase, from);
    tern_phase_recv(plan, phase, to);
}

static void prefix_in_node(struct tern_plan *plan, struct tern_ref input, bool in_place)
{
    enum tern_collective collective = (enum tern_collective)plan->args.collective;
    struct tern_phase *phase =
        tern_plan_add_phase(plan, collective, tern_subgroup_in_node(&plan->args));
    if (!phase)
        return;
    phase->args.in_place = in_place;
    tern_phase_send(plan, phase, input);
    tern_phase_recv(plan, phase, in_recv(0, plan->args.recv_count));
}

/* The last rank of each node, which has the node's sum `total`, gets the sum of all lower nodes,
 * and broadcasts it within the node. */
static void sum_below(struct tern_plan *plan, struct tern_ref total, struct tern_ref below)
{
    const struct tern_plan_args *args = &plan->args;
    struct tern_phase *phase = tern_plan_add_phase(
        plan, TERN_EXSCAN, tern_subgroup_among_leaders(args, TERN_LAST_LOCAL_RANK, -1));
    if (phase) {
        tern_phase_send(plan, phase, total);
        tern_phase_recv(plan, phase, below);
    }
    int node = tern_topology_node(args->topology, args->rank);
    if (node)
        bcast_in_node(plan, args->topology->node[node].size - 1, below);
}

/* A prefix reduction within the node; then the sum of the lower nodes is reduced to it as the left
 * operand. */
void tern_hierarchical_scan(struct tern_plan *plan)
{
    const struct tern_plan_args *args = &plan->args;
    int64_t count = args->recv_count;
    struct tern_ref result = in_recv(0, count), below = in_kept(0, count);
    tern_plan_compose(plan, count);
    prefix_in_node(plan, in_input(args, 0, count), args->in_place);
    sum_below(plan, result, below);
    if (tern_topology_node(args->topology, args->rank))
        add_join(plan, below, result, false);
    tern_plan_finish(plan);
}

void tern_hierarchical_exscan(struct tern_plan *plan)
{
    const struct tern_plan_args *args = &plan->args;
    int64_t count = args->recv_count;
    struct tern_ref result = in_recv(0, count), below = in_kept(0, count),
                    total = in_kept(count, count);
    int local = tern_topology_local_rank(args->topology, args->rank);
    bool last = local == tern_subgroup_in_node(args).size - 1;
    tern_plan_compose(plan, 2 * count);
    /* keeps its input: the prefix within the node does not include it and may overwrite it */
    if (last)
        add_join(plan, in_input(args, 0, count), total, true);
    prefix_in_node(plan, in_input(args, 0, count), args->in_place);
    if (last && local)
        add_join(plan, result, total, false);
    sum_below(plan, total, below);
    if (tern_topology_node(args->topology, args->rank))
        add_join(plan, below, result, !local);
    tern_plan_finish(plan);
}

/* --- prices --- */

void tern_hierarchical_reduce_stages(const struct tern_shape *shape, struct tern_stages *stages)
{
    tern_stages_add_phase(stages, shape, TERN_REDUCE, TERN_LEVEL_NODE, 1, shape->bytes);
    tern_stages_add_phase(stages, shape, TERN_REDUCE, TERN_LEVEL_LEADERS, 1, shape->bytes);
}

void tern_hierarchical_allreduce_stages(const struct tern_shape *shape, struct tern_stages *stages)
{
    tern_stages_add_phase(stages, shape, TERN_REDUCE, TERN_LEVEL_NODE, 1, shape->bytes);
    tern_stages_add_phase(stages, shape, TERN_ALLREDUCE, TERN_LEVEL_LEADERS, 1, shape->bytes);
    tern_stages_add_phase(stages, shape, TERN_BCAST, TERN_LEVEL_NODE, 1, shape->bytes);
}

void tern_hierarchical_reduce_scatter_stages(const struct tern_shape *shape,
                                             struct tern_stages *stages)
{
    int64_t whole = shape->size * shape->bytes;
    tern_stages_add_phase(stages, shape, TERN_REDUCE, TERN_LEVEL_NODE, 1, whole);
    tern_stages_add_phase(stages, shape, TERN_REDUCE_SCATTER, TERN_LEVEL_LEADERS, 1,
                          whole / shape->nodes);
    tern_stages_add_phase(stages, shape, TERN_SCATTER, TERN_LEVEL_NODE, 1, shape->bytes);
}

void tern_hierarchical_scan_stages(const struct tern_shape *shape, struct tern_stages *stages)
{
    tern_stages_add_phase(stages, shape, TERN_SCAN, TERN_LEVEL_NODE, 1, shape->bytes);
    tern_stages_add_phase(stages, shape, TERN_EXSCAN, TERN_LEVEL_LEADERS, 1, shape->bytes);
    tern_stages_add_phase(stages, shape, TERN_BCAST, TERN_LEVEL_NODE, 1, shape->bytes);
    tern_stages_add(
        stages, (struct tern_stage){.repeat = 1, .senders = shape->size, .reduced = shape->bytes});
}
