/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_TOPOLOGY_H
#define TERN_TOPOLOGY_H

/*
 * On which nodes the ranks of a communicator stand: an argument of plans. Nodes are numbered by
 * their lowest rank, the ranks of a node by their order (local ranks). Kept as runs, so that a
 * million ranks in blocks are as many entries as there are nodes.
 */

#include <stdbool.h>
#include <stdint.h>

/* Ranks first .. first + count - 1, on `node`, the first of them at `local_rank`. */
struct tern_node_run {
    int32_t first, count, node, local_rank;
    int32_t next; /* the node's next run; -1: none */
};

struct tern_node {
    int32_t size, run; /* the first one */
    int32_t before;    /* ranks of the nodes before */
};

struct tern_topology {
    int32_t size, nodes, run_count;
    int32_t largest, smallest; /* ranks of a node */
    bool consecutive;          /* the ranks of each node are: by nodes is by ranks */
    struct tern_node *node;
    struct tern_node_run *run; /* in the order of ranks */
};

/* `ids`: of the node of each of `size` ranks, any numbers from 0 on. NULL: no memory. */
struct tern_topology *tern_topology_make(int32_t size, const int32_t *ids);
void tern_topology_free(struct tern_topology *topology);

/* The run in which a rank is: logarithmic in the number of runs. */
const struct tern_node_run *tern_topology_find(const struct tern_topology *topology, int32_t rank);
int32_t tern_topology_node(const struct tern_topology *topology, int32_t rank);
int32_t tern_topology_local_rank(const struct tern_topology *topology, int32_t rank);
/* The rank of a local rank on a node. */
int32_t tern_topology_rank(const struct tern_topology *topology, int32_t node, int32_t local_rank);

/* Has it more than one node, and one with more than one rank? */
static inline bool tern_topology_has_levels(const struct tern_topology *topology)
{
    return topology && topology->nodes > 1 && topology->nodes < topology->size;
}

#endif
