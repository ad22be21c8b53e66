/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/coll/price/topology.h"

#include <stdlib.h>
#include <string.h>

static int32_t count_runs(int32_t size, const int32_t *ids, int32_t *ret_highest)
{
    int32_t runs = 0, highest = 0;
    for (int32_t r = 0; r < size; r++) {
        runs += !r || ids[r] != ids[r - 1];
        highest = ids[r] > highest ? ids[r] : highest;
    }
    *ret_highest = highest;
    return runs;
}

/* Adds all runs. `node_of`: the node of each id, -1 at first. `last`: each node's last run so
 * far. */
static void add_runs(struct tern_topology *topology, const int32_t *ids, int32_t *node_of,
                     int32_t *last)
{
    for (int32_t r = 0, i = 0, end; r < topology->size; r = end, i++) {
        for (end = r + 1; end < topology->size && ids[end] == ids[r];)
            end++;
        int32_t node = node_of[ids[r]];
        if (node < 0) {
            node = node_of[ids[r]] = topology->nodes++;
            topology->node[node] = (struct tern_node){0, i, 0};
        } else {
            topology->run[last[node]].next = i;
        }
        topology->run[i] = (struct tern_node_run){r, end - r, node, topology->node[node].size, -1};
        topology->node[node].size += end - r;
        last[node] = i;
    }
}

static void sum_up(struct tern_topology *topology)
{
    int32_t before = 0;
    topology->largest = topology->smallest = topology->node[0].size;
    for (int32_t i = 0; i < topology->nodes; i++) {
        struct tern_node *node = &topology->node[i];
        node->before = before;
        before += node->size;
        if (node->size > topology->largest)
            topology->largest = node->size;
        if (node->size < topology->smallest)
            topology->smallest = node->size;
    }
    topology->consecutive = topology->run_count == topology->nodes;
}

struct tern_topology *tern_topology_make(int32_t size, const int32_t *ids)
{
    int32_t highest, runs = count_runs(size, ids, &highest);
    struct tern_topology *topology = calloc(1, sizeof *topology);
    int32_t *node_of = malloc(((size_t)highest + 1) * sizeof *node_of);
    int32_t *last = malloc((size_t)runs * sizeof *last);
    if (!topology || !node_of || !last)
        goto no_memory;
    topology->size = size;
    topology->run_count = runs;
    topology->run = malloc((size_t)runs * sizeof *topology->run);
    topology->node = malloc((size_t)runs * sizeof *topology->node);
    if (!topology->run || !topology->node)
        goto no_memory;
    memset(node_of, 0xff, ((size_t)highest + 1) * sizeof *node_of);
    add_runs(topology, ids, node_of, last);
    sum_up(topology);
    free(node_of);
    free(last);
    return topology;

no_memory:
    free(node_of);
    free(last);
    tern_topology_free(topology);
    return NULL;
}

void tern_topology_free(struct tern_topology *topology)
{
    if (!topology)
        return;
    free(topology->run);
    free(topology->node);
    free(topology);
}

const struct tern_node_run *tern_topology_find(const struct tern_topology *topology, int32_t rank)
{
    int32_t low = 0, high = topology->run_count;
    while (high - low > 1) {
        int32_t middle = (low + high) / 2;
        if (topology->run[middle].first <= rank)
            low = middle;
        else
            high = middle;
    }
    return &topology->run[low];
}

int32_t tern_topology_node(const struct tern_topology *topology, int32_t rank)
{
    return tern_topology_find(topology, rank)->node;
}

int32_t tern_topology_local_rank(const struct tern_topology *topology, int32_t rank)
{
    const struct tern_node_run *run = tern_topology_find(topology, rank);
    return run->local_rank + rank - run->first;
}

int32_t tern_topology_rank(const struct tern_topology *topology, int32_t node, int32_t local_rank)
{
    const struct tern_node_run *run = &topology->run[topology->node[node].run];
    while (local_rank >= run->local_rank + run->count)
        run = &topology->run[run->next];
    return run->first + local_rank - run->local_rank;
}
