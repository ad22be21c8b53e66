/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Moving data over several nodes: within the nodes, among their leaders, within the nodes again
 * (Karonis et al. 2000, Exploiting hierarchy in parallel computer networks). If the ranks of each
 * node are a range, a node's blocks are side by side in the user's buffers. Otherwise leaders keep
 * all blocks in the order of nodes, and copies put them into the order of ranks.
 */
#include "lib/coll/plan/compose.h"
#include "lib/coll/algo/hierarchy.h"

#include <stdlib.h>

/* --- barrier --- */

static void build_up(struct tern_plan *plan)
{
    struct tern_ref nothing = in_temp(0, 0, 0), result;
    int64_t ready;
    tern_plan_add_reduce(plan, team_of(&plan->args), 0, false, nothing, nothing, nothing, &result,
                         &ready);
}

static void build_down(struct tern_plan *plan)
{
    tern_plan_add_bcast(plan, team_of(&plan->args), 0, in_temp(0, 0, 0), -1);
}

static void tree_stages(const struct tern_shape *shape, struct tern_stages *stages)
{
    tern_stages_add_tree(stages, shape->size, 2, 0, false, 0);
}

static const struct tern_algorithm up = {"up", build_up, NULL, tree_stages},
                                   down = {"down", build_down, NULL, tree_stages};

static void climb(struct tern_plan *plan, const struct tern_algorithm *algorithm)
{
    struct tern_phase *phase =
        tern_plan_add_phase(plan, TERN_BARRIER, tern_subgroup_in_node(&plan->args));
    if (phase)
        phase->algorithm = algorithm;
}

void tern_hierarchical_barrier(struct tern_plan *plan)
{
    tern_plan_compose(plan, 0);
    climb(plan, &up);
    tern_plan_add_phase(plan, TERN_BARRIER, tern_subgroup_among_leaders(&plan->args, 0, -1));
    climb(plan, &down);
    tern_plan_finish(plan);
}

/* --- bcast --- */

static void bcast_in_node(struct tern_plan *plan, int leader, struct tern_ref data)
{
    struct tern_phase *phase =
        tern_plan_add_phase(plan, TERN_BCAST, tern_subgroup_in_node(&plan->args));
    if (!phase)
        return;
    phase->args.root = tern_topology_local_rank(plan->args.topology, leader);
    tern_phase_recv(plan, phase, data);
}

/* Returns the leader of this rank's node; the root leads its own node. */
static int leader_of(const struct tern_plan_args *args)
{
    return tern_leader_of(args->topology, tern_topology_node(args->topology, args->rank), 0,
                          args->root);
}

void tern_hierarchical_bcast(struct tern_plan *plan)
{
    const struct tern_plan_args *args = &plan->args;
    struct tern_ref data = in_recv(0, args->recv_count);
    tern_plan_compose(plan, 0);
    struct tern_phase *phase =
        tern_plan_add_phase(plan, TERN_BCAST, tern_subgroup_among_leaders(args, 0, args->root));
    if (phase) {
        phase->args.root = tern_topology_node(args->topology, args->root);
        tern_phase_recv(plan, phase, data);
    }
    bcast_in_node(plan, leader_of(args), data);
    tern_plan_finish(plan);
}

/* --- blocks by nodes and by ranks --- */

/* Copies between `send` and `recv`, one of which has the blocks in the order of ranks, the other in
 * the order of nodes. `root` 1: from nodes to ranks. */
static void build_turn(struct tern_plan *plan)
{
    const struct tern_plan_args *args = &plan->args;
    const struct tern_topology *topology = args->topology;
    for (int i = 0; i < topology->run_count; i++) {
        const struct tern_node_run *run = &topology->run[i];
        int64_t by_node = topology->node[run->node].before + run->local_rank;
        int64_t from = args->root ? by_node : run->first, to = args->root ? run->first : by_node;
        add_copy(plan, in_send(from * args->send_count, run->count * args->send_count),
                 in_recv(to * args->recv_count, run->count * args->recv_count), 0);
    }
}

static const struct tern_algorithm turn = {"turn", build_turn, NULL, NULL};

void tern_plan_add_turn(struct tern_plan *plan, struct tern_ref from, struct tern_ref to,
                        bool to_ranks)
{
    struct tern_phase *phase =
        tern_plan_add_phase(plan, TERN_ALLGATHER, tern_subgroup_of_all(&plan->args));
    if (!phase)
        return;
    phase->algorithm = &turn;
    phase->args.root = to_ranks;
    tern_phase_send(plan, phase, from);
    tern_phase_recv(plan, phase, to);
}

static bool equal_nodes(const struct tern_topology *topology)
{
    return topology->largest == topology->smallest;
}

/* Sets the blocks of a phase among nodes: counts and displacements of the blocks of each node,
 * times `block` units. */
static void set_node_blocks(struct tern_plan *plan, struct tern_phase *phase, bool sends,
                            int64_t block)
{
    const struct tern_topology *topology = plan->args.topology;
    int64_t *numbers = tern_phase_set_blocks(plan, phase, topology->nodes, sends);
    for (int i = 0; numbers && i < topology->nodes; i++) {
        numbers[i] = topology->node[i].size * block;
        numbers[topology->nodes + i] = topology->node[i].before * block;
    }
}

/* --- gather, scatter --- */

static int64_t block_bytes(const struct tern_plan_args *args, bool sends)
{
    return sends ? args->send_count * args->send_size : args->recv_count * args->recv_size;
}

/* Gathers blocks in the order of nodes: at the root in the receive buffer if this is also the order
 * of ranks, else in a temporary. */
void tern_hierarchical_gather(struct tern_plan *plan)
{
    const struct tern_plan_args *args = &plan->args;
    const struct tern_topology *topology = args->topology;
    bool root = args->rank == args->root, direct = root && topology->consecutive;
    int64_t block = block_bytes(args, !root);
    int leader = leader_of(args);
    const struct tern_node *node = &topology->node[tern_topology_node(topology, args->rank)];
    /* where this node's blocks go, and the length of one there */
    int64_t unit = direct ? args->recv_count : block;
    struct tern_ref all = direct ? in_recv(0, unit) : in_kept(0, unit);
    struct tern_ref here = part(all, root ? node->before * unit : 0, unit);
    tern_plan_compose(plan, leader != args->rank || direct ? 0
                            : root                         ? args->size * block
                                                           : node->size * block);
    struct tern_phase *phase = tern_plan_add_phase(plan, TERN_GATHER, tern_subgroup_in_node(args));
    if (phase) {
        phase->args.root = tern_topology_local_rank(topology, leader);
        phase->args.in_place = args->in_place && direct;
        tern_phase_send(plan, phase,
                        args->in_place ? in_recv(args->rank * args->recv_count, args->recv_count)
                                       : in_send(0, args->send_count));
        tern_phase_recv(plan, phase, here);
    }
    bool equal = equal_nodes(topology);
    phase = tern_plan_add_phase(plan, equal ? TERN_GATHER : TERN_GATHERV,
                                tern_subgroup_among_leaders(args, 0, args->root));
    if (phase) {
        phase->args.root = tern_topology_node(topology, args->root);
        phase->args.in_place = root;
        here.count *= node->size;
        all.count = here.count;
        tern_phase_send(plan, phase, here);
        tern_phase_recv(plan, phase, all);
        if (root && !equal)
            set_node_blocks(plan, phase, false, unit);
    }
    if (root && !direct)
        tern_plan_add_turn(plan, in_kept(0, block), in_recv(0, args->recv_count), true);
    tern_plan_finish(plan);
}

/* Gather with the direction of all messages reversed. */
void tern_hierarchical_scatter(struct tern_plan *plan)
{
    const struct tern_plan_args *args = &plan->args;
    const struct tern_topology *topology = args->topology;
    bool root = args->rank == args->root, direct = root && topology->consecutive;
    int64_t block = block_bytes(args, root);
    int leader = leader_of(args);
    const struct tern_node *node = &topology->node[tern_topology_node(topology, args->rank)];
    int64_t unit = direct ? args->send_count : block;
    struct tern_ref all = direct ? in_send(0, unit) : in_kept(0, unit);
    struct tern_ref here = part(all, root ? node->before * unit : 0, unit);
    tern_plan_compose(plan, leader != args->rank || direct ? 0
                            : root                         ? args->size * block
                                                           : node->size * block);
    if (root && !direct)
        tern_plan_add_turn(plan, in_send(0, args->send_count), in_kept(0, block), false);
    bool equal = equal_nodes(topology);
    struct tern_phase *phase =
        tern_plan_add_phase(plan, equal ? TERN_SCATTER : TERN_SCATTERV,
                            tern_subgroup_among_leaders(args, 0, args->root));
    if (phase) {
        struct tern_ref whole = part(here, 0, node->size * unit);
        phase->args.root = tern_topology_node(topology, args->root);
        phase->args.in_place = root;
        tern_phase_send(plan, phase, part(all, 0, whole.count));
        tern_phase_recv(plan, phase, whole);
        if (root && !equal)
            set_node_blocks(plan, phase, true, unit);
    }
    phase = tern_plan_add_phase(plan, TERN_SCATTER, tern_subgroup_in_node(args));
    if (phase) {
        phase->args.root = tern_topology_local_rank(topology, leader);
        phase->args.in_place = args->in_place;
        tern_phase_send(plan, phase, here);
        tern_phase_recv(plan, phase, in_recv(0, args->recv_count));
    }
    tern_plan_finish(plan);
}

/* --- allgather --- */

/* The leaders gather in the receive buffer, or in the order of nodes in a temporary, which is then
 * copied to the order of ranks. */
void tern_hierarchical_allgather(struct tern_plan *plan)
{
    const struct tern_plan_args *args = &plan->args;
    const struct tern_topology *topology = args->topology;
    struct tern_subgroup among = tern_subgroup_among_leaders(args, 0, -1);
    bool direct = topology->consecutive, leads = among.rank >= 0;
    int64_t block = block_bytes(args, false), unit = direct ? args->recv_count : block;
    const struct tern_node *node = &topology->node[tern_topology_node(topology, args->rank)];
    struct tern_ref all = direct ? in_recv(0, unit) : in_kept(0, unit);
    struct tern_ref own = in_recv(args->rank * args->recv_count, args->recv_count);
    tern_plan_compose(plan, leads && !direct ? args->size * block : 0);
    struct tern_phase *phase = tern_plan_add_phase(plan, TERN_GATHER, tern_subgroup_in_node(args));
    if (phase) {
        phase->args.in_place = args->in_place && direct && leads;
        tern_phase_send(plan, phase, args->in_place ? own : in_send(0, args->send_count));
        tern_phase_recv(plan, phase, part(all, node->before * unit, unit));
    }
    bool equal = equal_nodes(topology);
    phase = tern_plan_add_phase(plan, equal ? TERN_ALLGATHER : TERN_ALLGATHERV, among);
    if (phase) {
        phase->args.in_place = true;
        tern_phase_recv(plan, phase, part(all, 0, node->size * unit));
        if (!equal)
            set_node_blocks(plan, phase, false, unit);
    }
    if (leads && !direct)
        tern_plan_add_turn(plan, in_kept(0, block), in_recv(0, args->recv_count), true);
    bcast_in_node(plan, tern_leader_of(topology, tern_topology_node(topology, args->rank), 0, -1),
                  in_recv(0, args->size * args->recv_count));
    tern_plan_finish(plan);
}

/* --- allgatherv --- */

/* Returns where each rank's block begins if all are packed in the order of nodes; entry n is the
 * end. The caller frees the array. Returns NULL if there is no memory. */
static int64_t *packed_places(const struct tern_plan_args *args)
{
    const struct tern_topology *topology = args->topology;
    int64_t at = 0, *places = calloc((size_t)args->size + 1, sizeof *places);
    for (int node = 0; places && node < topology->nodes; node++)
        for (int i = topology->node[node].run; i >= 0; i = topology->run[i].next)
            for (int r = topology->run[i].first;
                 r < topology->run[i].first + topology->run[i].count; r++) {
                places[r] = at;
                at += data_bytes(args, recv_block(args, r));
            }
    if (places)
        places[args->size] = at;
    return places;
}

/* Copies the packed blocks to where the user wants them. */
static void spread_step(const struct tern_plan *plan, int64_t i, struct tern_step *ret_step)
{
    const struct tern_plan_args *args = &plan->args;
    struct tern_ref block = recv_block(args, (int)i);
    bool here = args->in_place && i == args->rank;
    *ret_step = here ? step_none()
                     : step_copy(in_send(plan->offsets[i], data_bytes(args, block)), block, 0);
}

static void build_spread(struct tern_plan *plan)
{
    plan->offsets = packed_places(&plan->args);
    plan->failed |= !plan->offsets;
    set_tail(plan, plan->args.size, spread_step);
}

static const struct tern_algorithm spread = {"spread", build_spread, NULL, NULL};

/* Sets the blocks of `count` ranks or nodes, each of which begins where the one before ends.
 * Displacements are relative to the first. `first_of` returns the first rank of each. */
static void set_packed_blocks(struct tern_plan *plan, struct tern_phase *phase,
                              const int64_t *places, int count,
                              int (*first_of)(const struct tern_plan_args *args, int i))
{
    const struct tern_plan_args *args = &plan->args;
    int64_t *numbers = tern_phase_set_blocks(plan, phase, count, false);
    for (int i = 0; numbers && i < count; i++) {
        int next = first_of(args, i + 1);
        numbers[count + i] = places[first_of(args, i)] - places[first_of(args, 0)];
        numbers[i] = places[next] - places[first_of(args, i)];
    }
}

/* Returns the first rank of a node; n behind the last node. */
static int first_of_node(const struct tern_plan_args *args, int node)
{
    return node < args->topology->nodes ? tern_topology_rank(args->topology, node, 0) : args->size;
}

static int mate(const struct tern_plan_args *args, int local_rank)
{
    const struct tern_topology *topology = args->topology;
    int node = tern_topology_node(topology, args->rank);
    return local_rank < topology->node[node].size ? tern_topology_rank(topology, node, local_rank)
                                                  : first_of_node(args, node + 1);
}

/* Blocks travel packed, and are copied to their places at the end. */
void tern_hierarchical_allgatherv(struct tern_plan *plan)
{
    const struct tern_plan_args *args = &plan->args;
    const struct tern_topology *topology = args->topology;
    int64_t *places = packed_places(args);
    if (!places) {
        plan->failed = true;
        return;
    }
    struct tern_subgroup here = tern_subgroup_in_node(args),
                         among = tern_subgroup_among_leaders(args, 0, -1);
    tern_plan_compose(plan, places[args->size]);
    struct tern_phase *phase = tern_plan_add_phase(plan, TERN_GATHERV, here);
    if (phase) {
        tern_phase_send(plan, phase,
                        args->in_place ? recv_block(args, args->rank)
                                       : in_send(0, args->send_count));
        tern_phase_recv(plan, phase, in_kept(places[mate(args, 0)], 0));
        if (!here.rank)
            set_packed_blocks(plan, phase, places, here.size, mate);
    }
    phase = tern_plan_add_phase(plan, TERN_ALLGATHERV, among);
    if (phase) {
        phase->args.in_place = true;
        tern_phase_recv(plan, phase, in_kept(0, 0));
        set_packed_blocks(plan, phase, places, topology->nodes, first_of_node);
    }
    bcast_in_node(plan, mate(args, 0), in_kept(0, places[args->size]));
    phase = tern_plan_add_phase(plan, TERN_ALLGATHERV, tern_subgroup_of_all(args));
    if (phase) {
        phase->algorithm = &spread;
        phase->args.in_place = args->in_place;
        tern_phase_send(plan, phase, in_kept(0, 0));
        tern_phase_recv(plan, phase, in_recv(0, 0));
        phase->args.blocks = args->blocks;
    }
    free(places);
    tern_plan_finish(plan);
}

/* --- prices --- */

void tern_hierarchical_barrier_stages(const struct tern_shape *shape, struct tern_stages *stages)
{
    tern_stages_add_level(stages, shape, tree_stages, TERN_LEVEL_NODE, 1, 0);
    tern_stages_add_phase(stages, shape, TERN_BARRIER, TERN_LEVEL_LEADERS, 1, 0);
    tern_stages_add_level(stages, shape, tree_stages, TERN_LEVEL_NODE, 1, 0);
}

void tern_hierarchical_bcast_stages(const struct tern_shape *shape, struct tern_stages *stages)
{
    tern_stages_add_phase(stages, shape, TERN_BCAST, TERN_LEVEL_LEADERS, 1, shape->bytes);
    tern_stages_add_phase(stages, shape, TERN_BCAST, TERN_LEVEL_NODE, 1, shape->bytes);
}

void tern_hierarchical_gather_stages(const struct tern_shape *shape, struct tern_stages *stages)
{
    tern_stages_add_phase(stages, shape, TERN_GATHER, TERN_LEVEL_NODE, 1, shape->bytes);
    tern_stages_add_phase(stages, shape, TERN_GATHER, TERN_LEVEL_LEADERS, 1,
                          shape->node_size * shape->bytes);
}

void tern_hierarchical_scatter_stages(const struct tern_shape *shape, struct tern_stages *stages)
{
    tern_stages_add_phase(stages, shape, TERN_SCATTER, TERN_LEVEL_LEADERS, 1,
                          shape->node_size * shape->bytes);
    tern_stages_add_phase(stages, shape, TERN_SCATTER, TERN_LEVEL_NODE, 1, shape->bytes);
}

void tern_hierarchical_allgather_stages(const struct tern_shape *shape, struct tern_stages *stages)
{
    tern_stages_add_phase(stages, shape, TERN_GATHER, TERN_LEVEL_NODE, 1, shape->bytes);
    tern_stages_add_phase(stages, shape, TERN_ALLGATHER, TERN_LEVEL_LEADERS, 1,
                          shape->node_size * shape->bytes);
    tern_stages_add_phase(stages, shape, TERN_BCAST, TERN_LEVEL_NODE, 1,
                          shape->size * shape->bytes);
}

void tern_hierarchical_allgatherv_stages(const struct tern_shape *shape, struct tern_stages *stages)
{
    tern_hierarchical_allgather_stages(shape, stages);
    tern_stages_add(stages, (struct tern_stage){.repeat = 1,
                                                .senders = shape->size,
                                                .copied = shape->size * shape->bytes});
}
