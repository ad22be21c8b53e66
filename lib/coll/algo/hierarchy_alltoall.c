/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * All to all by way of the nodes, for short blocks. Between two nodes there is one message each
 * way, with all blocks between their ranks. The ranks of a node divide these messages: each rank
 * has a range of other nodes (its share). First every rank passes the blocks for the nodes of a
 * share to the rank of its node that has the share. These ranks exchange the messages between
 * nodes. Then the blocks that arrived are distributed within the node. (Node-aware aggregation;
 * compare Namugwanya et al. 2023, arXiv 2306.16589, and the decompositions of Träff and Hunold
 * 2020, arXiv 1910.13373.)
 *
 * So a block is sent three times instead of once. If m is the number of ranks of a node, a rank
 * sends m messages within the node and nodes / m messages between nodes, instead of n - 1.
 */
#include "lib/coll/plan/compose.h"
#include "lib/coll/algo/hierarchy.h"

/* A share: the nodes lo .. hi - 1, which have `ranks` ranks; the nodes below have `before`
 * ranks. */
struct share {
    int node;  /* node of the rank that has the share */
    int width; /* number of ranks of that node */
    int lo, hi;
    int64_t before, ranks;
};

static int64_t ranks_before(const struct tern_topology *topology, int node)
{
    return node < topology->nodes ? topology->node[node].before : topology->size;
}

static struct share share_of(const struct tern_topology *topology, int node, int local_rank)
{
    struct share share = {.node = node, .width = topology->node[node].size};
    share.lo = (int)cut(topology->nodes, share.width, local_rank);
    share.hi = (int)cut(topology->nodes, share.width, local_rank + 1);
    share.before = ranks_before(topology, share.lo);
    share.ranks = ranks_before(topology, share.hi) - share.before;
    return share;
}

static struct share own_share(const struct tern_plan_args *args)
{
    return share_of(args->topology, tern_topology_node(args->topology, args->rank),
                    tern_topology_local_rank(args->topology, args->rank));
}

/* Returns the local rank on `node` that has `other` in its share. */
static int owner_of(const struct tern_topology *topology, int node, int other)
{
    return (int)part_of(topology->nodes, topology->node[node].size, other);
}

/* --- steps of its own: blocks are `send_count` units long, everything is in temporaries --- */

/* Sorts blocks from the order (sender here, rank there) to (node there, sender here, rank
 * there). */
static void sort_step(const struct tern_plan *plan, int64_t i, struct tern_step *ret_step)
{
    const struct tern_plan_args *args = &plan->args;
    struct share share = own_share(args);
    int64_t unit = args->send_count, sender = i % share.width;
    const struct tern_node *node = &args->topology->node[share.lo + i / share.width];
    int64_t at = node->before - share.before;
    *ret_step =
        step_copy(in_send((sender * share.ranks + at) * unit, node->size * unit),
                  in_recv((share.width * at + sender * node->size) * unit, node->size * unit), 0);
}

static void build_sort(struct tern_plan *plan)
{
    struct share share = own_share(&plan->args);
    set_tail(plan, (int64_t)(share.hi - share.lo) * share.width, sort_step);
}

/*
 * Exchanges messages with the nodes of the share. Nodes a and b meet in round a + b, modulo the
 * number of nodes. So every pair meets once, in one round for both, and every rank goes through its
 * rounds upwards. With any window, the earliest unfinished round can always proceed.
 */
static void meet_step(const struct tern_plan *plan, int64_t i, struct tern_step *ret_step)
{
    const struct tern_plan_args *args = &plan->args;
    const struct tern_topology *topology = args->topology;
    struct share share = own_share(args);
    int first = topology->nodes - share.node; /* this node's partner in round 0 */
    if (first < share.lo || first >= share.hi)
        first = share.lo;
    int other = first + (int)(i / 2);
    if (other >= share.hi)
        other -= share.hi - share.lo;
    const struct tern_node *node = &topology->node[other];
    int64_t begin = share.width * (node->before - share.before) * args->send_count;
    int64_t count = share.width * (int64_t)node->size * args->send_count;
    struct tern_ref out = in_send(begin, count), in = in_recv(begin, count);
    if (other == share.node) {
        *ret_step = i % 2 ? step_copy(out, in, 0) : step_none();
        return;
    }
    int peer = tern_topology_rank(topology, other, owner_of(topology, other, share.node));
    *ret_step = i % 2 ? step_send(peer, out, 0) : step_recv(peer, in, 0);
}

static void build_meet(struct tern_plan *plan)
{
    struct share share = own_share(&plan->args);
    set_tail(plan, 2 * (int64_t)(share.hi - share.lo), meet_step);
}

/* Sorts blocks from the order (rank there, rank here) to (rank here, rank there). */
static void transpose_step(const struct tern_plan *plan, int64_t i, struct tern_step *ret_step)
{
    const struct tern_plan_args *args = &plan->args;
    struct share share = own_share(args);
    int64_t unit = args->send_count, to = i % share.width * share.ranks + i / share.width;
    *ret_step = step_copy(in_send(i * unit, unit), in_recv(to * unit, unit), 0);
}

static void build_transpose(struct tern_plan *plan)
{
    struct share share = own_share(&plan->args);
    set_tail(plan, share.ranks * share.width, transpose_step);
}

static const struct tern_algorithm sort = {"sort", build_sort, NULL, NULL},
                                   meet = {"meet", build_meet, NULL, NULL},
                                   transpose = {"transpose", build_transpose, NULL, NULL};

static void add_own(struct tern_plan *plan, const struct tern_algorithm *algorithm,
                    struct tern_ref from, struct tern_ref to)
{
    struct tern_phase *phase =
        tern_plan_add_phase(plan, TERN_ALLTOALL, tern_subgroup_of_all(&plan->args));
    if (!phase)
        return;
    phase->algorithm = algorithm;
    tern_phase_send(plan, phase, from);
    tern_phase_recv(plan, phase, to);
}

/* --- within the node --- */

/* All to all within the node. One side is `all`, the blocks for all ranks in the order of nodes.
 * The other side is `mine`, the blocks of this rank's share from or for every rank here. `out`:
 * from `all` to `mine`. */
static void exchange_in_node(struct tern_plan *plan, struct tern_ref all, struct tern_ref mine,
                             bool out)
{
    const struct tern_plan_args *args = &plan->args;
    struct share own = own_share(args);
    struct tern_phase *phase =
        tern_plan_add_phase(plan, TERN_ALLTOALLV, tern_subgroup_in_node(args));
    if (!phase)
        return;
    tern_phase_send(plan, phase, out ? all : mine);
    tern_phase_recv(plan, phase, out ? mine : all);
    int64_t *by_share = tern_phase_set_blocks(plan, phase, own.width, out);
    for (int i = 0; by_share && i < own.width; i++) {
        struct share share = share_of(args->topology, own.node, i);
        by_share[i] = share.ranks * all.count;
        by_share[own.width + i] = share.before * all.count;
    }
    int64_t *by_rank = tern_phase_set_blocks(plan, phase, own.width, !out);
    for (int i = 0; by_rank && i < own.width; i++) {
        by_rank[i] = own.ranks * mine.count;
        by_rank[own.width + i] = i * own.ranks * mine.count;
    }
}

void tern_hierarchical_alltoall(struct tern_plan *plan)
{
    const struct tern_plan_args *args = &plan->args;
    bool direct = args->topology->consecutive;
    int64_t block = args->recv_count * args->recv_size;
    if (!block)
        return;
    struct share share = own_share(args);
    int64_t room = share.width * share.ranks * block;
    struct tern_ref a = in_kept(0, block), b = in_kept(room, block);
    struct tern_ref by_nodes = in_kept(2 * room, block); /* all of the user's blocks */
    struct tern_ref send =
        args->in_place ? in_recv(0, args->recv_count) : in_send(0, args->send_count);
    struct tern_ref recv = in_recv(0, args->recv_count);
    tern_plan_compose(plan, 2 * room + (direct ? 0 : args->size * block));
    if (!direct)
        tern_plan_add_turn(plan, send, by_nodes, false);
    exchange_in_node(plan, direct ? send : by_nodes, a, true);
    add_own(plan, &sort, a, b);
    add_own(plan, &meet, b, a);
    add_own(plan, &transpose, a, b);
    exchange_in_node(plan, direct ? recv : by_nodes, b, false);
    if (!direct)
        tern_plan_add_turn(plan, by_nodes, recv, true);
    tern_plan_finish(plan);
}

/* --- price --- */

static void linear_stages(const struct tern_shape *shape, struct tern_stages *stages)
{
    tern_stages_add(stages, (struct tern_stage){.repeat = 1,
                                                .messages = shape->size - 1,
                                                .bytes = shape->bytes,
                                                .distance = shape->size,
                                                .senders = shape->size});
}

void tern_hierarchical_alltoall_stages(const struct tern_shape *shape, struct tern_stages *stages)
{
    enum { LEAST = 64 }; /* copying fewer bytes takes as long */
    int64_t width = shape->node_size, handed = shape->size * shape->bytes / width, bundle;
    if (__builtin_mul_overflow(width * width, shape->bytes, &bundle))
        bundle = INT64_MAX / 4; /* costs more than anything else would */
    tern_stages_add_level(stages, shape, linear_stages, TERN_LEVEL_NODE, 1, handed);
    tern_stages_add(stages, (struct tern_stage){.repeat = 1,
                                                .messages = (shape->nodes + width - 1) / width,
                                                .bytes = bundle,
                                                .distance = shape->nodes - 1,
                                                .senders = shape->nodes,
                                                .level = TERN_LEVEL_LEADERS,
                                                .lanes = (int32_t)width});
    int64_t bytes = shape->bytes > LEAST ? shape->bytes : LEAST;
    tern_stages_add(stages, (struct tern_stage){.repeat = 1,
                                                .senders = shape->size,
                                                .copied = shape->size * (shape->bytes + bytes)});
    tern_stages_add_level(stages, shape, linear_stages, TERN_LEVEL_NODE, 1, handed);
}
