/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_TOPOLOGY_H
#define TERN_TOPOLOGY_H

/*
 * The nodes of a communicator's ranks: an argument of plans. Nodes are numbered by their lowest
 * rank. The ranks of a node are numbered in ascending order (local ranks). The topology is kept as
 * runs of ranks, so a million ranks in blocks need only one entry per node.
 */

#include <stdbool.h>
#include <stdint.h>

/* The ranks first .. first + count - 1 are on `node`. The first of them has local rank
 * `local_rank`; the others follow. */
struct tern_node_run {
    int32_t first, count, node, local_rank;
    int32_t next; /* index of the node's next run; -1: none */
};

/* A node. */
struct tern_node {
    int32_t size, run; /* number of ranks, and index of the first run */
    int32_t before;    /* number of ranks on all nodes before */
};

/* The nodes of all ranks. */
struct tern_topology {
    int32_t size, nodes, run_count;
    int32_t largest, smallest; /* number of ranks of the largest and of the smallest node */
    /* each node has consecutive ranks, so the order by nodes is the order by ranks */
    bool consecutive;
    struct tern_node *node;
    struct tern_node_run *run; /* all runs in the order of ranks */
};

/* Makes the topology of `size` ranks. ids[r] names the node of rank r; any numbers from 0 on.
 * Returns NULL if there is no memory. Free with tern_topology_free. */
struct tern_topology *tern_topology_make(int32_t size, const int32_t *ids);
/* Frees the topology. `topology` may be NULL. */
void tern_topology_free(struct tern_topology *topology);

/* Return the run, the node, the local rank of a rank. Time is logarithmic in the number of runs. */
const struct tern_node_run *tern_topology_find(const struct tern_topology *topology, int32_t rank);
int32_t tern_topology_node(const struct tern_topology *topology, int32_t rank);
int32_t tern_topology_local_rank(const struct tern_topology *topology, int32_t rank);
/* Returns the rank that has local rank `local_rank` on `node`. */
int32_t tern_topology_rank(const struct tern_topology *topology, int32_t node, int32_t local_rank);

/* Returns true if there is more than one node, and at least one node has more than one rank. NULL:
 * false. */
static inline bool tern_topology_has_levels(const struct tern_topology *topology)
{
    return topology && topology->nodes > 1 && topology->nodes < topology->size;
}

#endif
