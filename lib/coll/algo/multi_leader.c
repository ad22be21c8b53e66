/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Several leaders per node, as many as the node has network cards (coll_nics). Each leader carries
 * its share of the data between the nodes, all at the same time (Bayatpour et al. 2017, Scalable
 * reduction collectives with data partitioning-based multi-leader design; Träff and Hunold 2020,
 * Decomposing MPI collectives for exploiting multi-lane communication, arXiv 1910.13373).
 */
#include "lib/coll/plan/compose.h"
#include "lib/coll/algo/hierarchy.h"

#include <stdlib.h>

static int lanes_of(int64_t nics, int64_t ranks)
{
    return (int)(nics < ranks ? nics : ranks);
}

static int lanes(const struct tern_plan_args *args)
{
    int64_t nics =
        args->model ? args->model->nics_per_node : tern_model_of_parameters(1).nics_per_node;
    return lanes_of(nics, args->topology->smallest);
}

bool tern_plan_fits_lanes(const struct tern_plan_args *args)
{
    return tern_plan_fits_levels(args) && lanes(args) > 1;
}

/* Sets the shares of the data, one per leader, as the blocks of a phase within the node. */
static void set_shares(struct tern_plan *plan, struct tern_phase *phase, int64_t count, int shares,
                       bool sends)
{
    int n = phase->args.size;
    int64_t *counts = tern_phase_set_blocks(plan, phase, n, sends);
    for (int l = 0; counts && l < shares; l++) {
        counts[n + l] = cut(count, shares, l);
        counts[l] = cut(count, shares, l + 1) - counts[n + l];
    }
}

/* Returns this rank's share of `data`; empty if the rank does not lead. */
static struct tern_ref share_of(const struct tern_plan_args *args, struct tern_ref data)
{
    int shares = lanes(args), local = tern_topology_local_rank(args->topology, args->rank);
    if (local >= shares)
        return part(data, data.count, 0);
    int64_t begin = cut(data.count, shares, local);
    return part(data, begin, cut(data.count, shares, local + 1) - begin);
}

static void tell_shares(struct tern_plan *plan, struct tern_ref data)
{
    struct tern_phase *phase =
        tern_plan_add_phase(plan, TERN_ALLGATHERV, tern_subgroup_in_node(&plan->args));
    if (!phase)
        return;
    phase->args.in_place = true;
    tern_phase_recv(plan, phase, part(data, 0, 0));
    set_shares(plan, phase, data.count, lanes(&plan->args), false);
}

/* Reduces within the node so that each leader gets its share of the sum in `share`. */
static void scatter_sum(struct tern_plan *plan, struct tern_ref share)
{
    const struct tern_plan_args *args = &plan->args;
    struct tern_phase *phase =
        tern_plan_add_phase(plan, TERN_REDUCE_SCATTER, tern_subgroup_in_node(args));
    if (!phase)
        return;
    tern_phase_send(plan, phase, in_input(args, 0, args->recv_count));
    tern_phase_recv(plan, phase, share);
    set_shares(plan, phase, args->recv_count, lanes(args), false);
}

/* Adds a phase among the leaders with this rank's local rank. Returns NULL if this rank does not
 * lead. */
static struct tern_phase *add_lane(struct tern_plan *plan, enum tern_collective collective)
{
    const struct tern_plan_args *args = &plan->args;
    int shares = lanes(args), local = tern_topology_local_rank(args->topology, args->rank);
    if (local >= shares)
        return NULL;
    struct tern_phase *phase =
        tern_plan_add_phase(plan, collective, tern_subgroup_among_leaders(args, local, -1));
    if (phase)
        phase->lanes = shares;
    return phase;
}

void tern_multi_leader_allreduce(struct tern_plan *plan)
{
    const struct tern_plan_args *args = &plan->args;
    struct tern_ref result = in_recv(0, args->recv_count), share = share_of(args, result);
    struct tern_ref sum = args->in_place ? in_kept(0, share.count) : share;
    tern_plan_compose(plan, args->in_place ? share.count : 0);
    scatter_sum(plan, sum);
    struct tern_phase *phase = add_lane(plan, TERN_ALLREDUCE);
    if (phase) {
        phase->args.in_place = !args->in_place;
        tern_phase_send(plan, phase, sum);
        tern_phase_recv(plan, phase, share);
    }
    tell_shares(plan, result);
    tern_plan_finish(plan);
}

/* The root gathers the shares within its node. */
void tern_multi_leader_reduce(struct tern_plan *plan)
{
    const struct tern_plan_args *args = &plan->args;
    const struct tern_topology *topology = args->topology;
    int64_t count = args->recv_count;
    int root_node = tern_topology_node(topology, args->root);
    struct tern_ref sum = in_kept(0, share_of(args, in_recv(0, count)).count);
    struct tern_ref total = in_kept(sum.count, sum.count);
    tern_plan_compose(plan, 2 * sum.count);
    scatter_sum(plan, sum);
    struct tern_phase *phase = add_lane(plan, TERN_REDUCE);
    if (phase) {
        phase->args.root = root_node;
        tern_phase_send(plan, phase, sum);
        tern_phase_recv(plan, phase, total);
    }
    phase = tern_topology_node(topology, args->rank) == root_node
                ? tern_plan_add_phase(plan, TERN_GATHERV, tern_subgroup_in_node(args))
                : NULL;
    if (phase) {
        phase->args.root = tern_topology_local_rank(topology, args->root);
        tern_phase_send(plan, phase, total);
        tern_phase_recv(plan, phase, in_recv(0, 0));
        if (args->rank == args->root)
            set_shares(plan, phase, count, lanes(args), false);
    }
    tern_plan_finish(plan);
}

/* The root scatters the shares within its node. Data with gaps are sent as a packed copy. */
void tern_multi_leader_bcast(struct tern_plan *plan)
{
    const struct tern_plan_args *args = &plan->args;
    const struct tern_topology *topology = args->topology;
    int64_t bytes = args->recv_count * args->recv_size;
    int root_node = tern_topology_node(topology, args->root);
    bool root = args->rank == args->root, packed = !args->recv_bytes;
    struct tern_ref user = in_recv(0, args->recv_count);
    struct tern_ref data = packed ? in_kept(0, bytes) : user, share = share_of(args, data);
    tern_plan_compose(plan, packed ? bytes : 0);
    if (packed && root)
        tern_plan_add_copy_phase(plan, user, data);
    struct tern_phase *phase =
        tern_topology_node(topology, args->rank) == root_node
            ? tern_plan_add_phase(plan, TERN_SCATTERV, tern_subgroup_in_node(args))
            : NULL;
    if (phase) {
        phase->args.root = tern_topology_local_rank(topology, args->root);
        phase->args.in_place = root;
        tern_phase_send(plan, phase, part(data, 0, 0));
        tern_phase_recv(plan, phase, share);
        if (root)
            set_shares(plan, phase, bytes, lanes(args), true);
    }
    phase = add_lane(plan, TERN_BCAST);
    if (phase) {
        phase->args.root = root_node;
        tern_phase_recv(plan, phase, share);
    }
    tell_shares(plan, data);
    if (packed && !root)
        tern_plan_add_copy_phase(plan, data, user);
    tern_plan_finish(plan);
}

/* --- allgather --- */

/* Returns where the blocks of each leader's share of each node begin, in units of a block: leader
 * by leader, and for each leader node by node; then the end. The caller frees the array. Returns
 * NULL if there is no memory. */
static int64_t *share_offsets(const struct tern_topology *topology, int shares)
{
    int64_t *offsets = calloc((size_t)shares * (size_t)topology->nodes + 1, sizeof *offsets);
    int64_t i = 0, at = 0;
    for (int l = 0; offsets && l < shares; l++)
        for (int node = 0; node < topology->nodes; node++) {
            int size = topology->node[node].size;
            offsets[i++] = at;
            at += cut(size, shares, l + 1) - cut(size, shares, l);
        }
    if (offsets)
        offsets[i] = at;
    return offsets;
}

/* Copies the shares to where the user wants them. */
static void spread_step(const struct tern_plan *plan, int64_t i, struct tern_step *ret_step)
{
    const struct tern_plan_args *args = &plan->args;
    const struct tern_topology *topology = args->topology;
    const struct tern_node *node = &topology->node[i % topology->nodes];
    int64_t to = node->before + cut(node->size, lanes(args), i / topology->nodes);
    int64_t from = plan->offsets[i], count = plan->offsets[i + 1] - from;
    *ret_step = step_copy(in_send(from * args->send_count, count * args->send_count),
                          in_recv(to * args->recv_count, count * args->recv_count), 0);
}

static void build_spread(struct tern_plan *plan)
{
    int shares = lanes(&plan->args);
    plan->offsets = share_offsets(plan->args.topology, shares);
    if (plan->offsets)
        set_tail(plan, (int64_t)shares * plan->args.topology->nodes, spread_step);
    else
        plan->failed = true;
}

static const struct tern_algorithm spread = {"spread", build_spread, NULL, NULL};

/* Sends every rank's block to the leader that has it in its share. The leader's blocks arrive in
 * `share`. */
static void gather_shares(struct tern_plan *plan, struct tern_ref share)
{
    const struct tern_plan_args *args = &plan->args;
    int shares = lanes(args), local = tern_topology_local_rank(args->topology, args->rank);
    struct tern_phase *phase =
        tern_plan_add_phase(plan, TERN_ALLTOALLV, tern_subgroup_in_node(args));
    if (!phase)
        return;
    struct tern_ref own = args->in_place ? in_recv(args->rank * args->recv_count, args->recv_count)
                                         : in_send(0, args->send_count);
    int n = phase->args.size;
    tern_phase_send(plan, phase, own);
    tern_phase_recv(plan, phase, share);
    int64_t *out = tern_phase_set_blocks(plan, phase, n, true);
    int64_t *in = tern_phase_set_blocks(plan, phase, n, false);
    if (!out || !in)
        return;
    out[part_of(n, shares, local)] = own.count;
    if (local >= shares)
        return;
    int64_t first = cut(n, shares, local);
    for (int64_t r = first; r < cut(n, shares, local + 1); r++) {
        in[r] = share.count;
        in[n + r] = (r - first) * share.count;
    }
}

/* Each leader gathers its share of all nodes, packed. Then the leaders send all shares to the ranks
 * of their nodes. */
void tern_multi_leader_allgather(struct tern_plan *plan)
{
    const struct tern_plan_args *args = &plan->args;
    const struct tern_topology *topology = args->topology;
    int64_t block = args->recv_count * args->recv_size;
    int shares = lanes(args), nodes = topology->nodes;
    int local = tern_topology_local_rank(topology, args->rank);
    int node = tern_topology_node(topology, args->rank);
    int64_t *offsets = share_offsets(topology, shares);
    if (!offsets) {
        plan->failed = true;
        return;
    }
    tern_plan_compose(plan, args->size * block);
    const int64_t *mine = local < shares ? offsets + (int64_t)local * nodes : NULL;
    gather_shares(plan, in_kept(mine ? mine[node] * block : 0, block));
    struct tern_phase *phase = add_lane(plan, TERN_ALLGATHERV);
    if (phase) {
        phase->args.in_place = true;
        tern_phase_recv(plan, phase, in_kept(mine[0] * block, 0));
        int64_t *numbers = tern_phase_set_blocks(plan, phase, nodes, false);
        for (int i = 0; numbers && i < nodes; i++) {
            numbers[i] = (mine[i + 1] - mine[i]) * block;
            numbers[nodes + i] = (mine[i] - mine[0]) * block;
        }
    }
    phase = tern_plan_add_phase(plan, TERN_ALLGATHERV, tern_subgroup_in_node(args));
    if (phase) {
        phase->args.in_place = true;
        tern_phase_recv(plan, phase, in_kept(0, 0));
        int64_t *numbers = tern_phase_set_blocks(plan, phase, phase->args.size, false);
        for (int l = 0; numbers && l < shares; l++) {
            int64_t begin = offsets[(int64_t)l * nodes], end = offsets[(int64_t)(l + 1) * nodes];
            numbers[l] = (end - begin) * block;
            numbers[phase->args.size + l] = begin * block;
        }
    }
    phase = tern_plan_add_phase(plan, TERN_ALLGATHER, tern_subgroup_of_all(args));
    if (phase) {
        phase->algorithm = &spread;
        tern_phase_send(plan, phase, in_kept(0, block));
        tern_phase_recv(plan, phase, in_recv(0, args->recv_count));
    }
    free(offsets);
    tern_plan_finish(plan);
}

bool tern_plan_fits_lanes_of_ranges(const struct tern_plan_args *args)
{
    return tern_plan_fits_lanes(args) && args->topology->consecutive;
}

/* --- prices --- */

static int shares_of(const struct tern_shape *shape)
{
    return lanes_of(shape->model->nics_per_node, shape->node_size);
}

static void add_shares(struct tern_stages *stages, const struct tern_shape *shape,
                       enum tern_collective collective)
{
    tern_stages_add_phase(stages, shape, collective, TERN_LEVEL_NODE, 1,
                          shape->bytes / shape->node_size);
}

static void add_lanes(struct tern_stages *stages, const struct tern_shape *shape,
                      enum tern_collective collective)
{
    int shares = shares_of(shape);
    tern_stages_add_phase(stages, shape, collective, TERN_LEVEL_LEADERS, shares,
                          shape->bytes / shares);
}

void tern_multi_leader_allreduce_stages(const struct tern_shape *shape, struct tern_stages *stages)
{
    add_shares(stages, shape, TERN_REDUCE_SCATTER);
    add_lanes(stages, shape, TERN_ALLREDUCE);
    add_shares(stages, shape, TERN_ALLGATHERV);
}

/* One rank exchanges messages with all leaders of its node. */
static void add_handing_over(struct tern_stages *stages, const struct tern_shape *shape)
{
    int shares = shares_of(shape);
    tern_stages_add(stages, (struct tern_stage){.repeat = 1,
                                                .messages = shares,
                                                .bytes = shape->bytes / shares,
                                                .distance = shares,
                                                .senders = shares,
                                                .level = TERN_LEVEL_NODE,
                                                .lanes = 1});
}

void tern_multi_leader_reduce_stages(const struct tern_shape *shape, struct tern_stages *stages)
{
    add_shares(stages, shape, TERN_REDUCE_SCATTER);
    add_lanes(stages, shape, TERN_REDUCE);
    add_handing_over(stages, shape);
}

void tern_multi_leader_bcast_stages(const struct tern_shape *shape, struct tern_stages *stages)
{
    add_handing_over(stages, shape);
    add_lanes(stages, shape, TERN_BCAST);
    add_shares(stages, shape, TERN_ALLGATHERV);
}

void tern_multi_leader_allgather_stages(const struct tern_shape *shape, struct tern_stages *stages)
{
    int shares = shares_of(shape);
    int64_t each = (shape->node_size + shares - 1) / shares, whole = shape->size * shape->bytes;
    tern_stages_add(stages, (struct tern_stage){.repeat = 1,
                                                .messages = each,
                                                .bytes = shape->bytes,
                                                .distance = shape->node_size,
                                                .senders = shape->node_size,
                                                .level = TERN_LEVEL_NODE,
                                                .lanes = 1});
    tern_stages_add_phase(stages, shape, TERN_ALLGATHER, TERN_LEVEL_LEADERS, shares,
                          each * shape->bytes);
    tern_stages_add_phase(stages, shape, TERN_ALLGATHERV, TERN_LEVEL_NODE, 1,
                          whole / shape->node_size);
    tern_stages_add(stages,
                    (struct tern_stage){.repeat = 1, .senders = shape->size, .copied = whole});
}
