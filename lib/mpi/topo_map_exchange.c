/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Improving a mapping by exchanging pairs, after B. Brandfass, T. Alrutz, T. Gerhold, "Rank reordering
 * for MPI communication optimization", Computers & Fluids 80, 2013. Not all pairs are tried but, for
 * each edge between two parts, those that would bring one end close to the other (the neighbourhood of
 * C. Schulz, J. L. Traeff, "Better Process Mapping and Sparse Quadratic Assignment", SEA 2017): the
 * slots around it, in the order of the hardware.
 */

#include "lib/mpi/topo_map.h"

#include "lib/util/error.h"

#include <stdlib.h>

enum {
    AROUND = 4,            /* slots to each side */
    ROUNDS_MAX = 20,
    WORK_MAX = 50000000,   /* distances looked up */
};

struct exchange {
    const struct tern_map_graph *graph;
    const struct tern_place *places;
    const struct tern_map_slots *slots;
    int *vertex_of, *slot_of;
    int64_t work;
};

static int distance(const struct exchange *exchange, int slot, int other)
{
    const int *process = exchange->slots->process;
    return tern_place_distance(&exchange->places[process[slot]],
                               &exchange->places[process[other]]);
}

/* What moving `vertex` from one slot to another costs, not counting its edges to `partner`, which
 * moves the other way. */
static int64_t cost_of_move(struct exchange *exchange, int vertex, int partner, int from, int to)
{
    const struct tern_map_graph *graph = exchange->graph;
    int64_t cost = 0;
    for (int64_t e = graph->first[vertex]; e < graph->first[vertex + 1]; e++) {
        int neighbor = graph->to[e], there = exchange->slot_of[neighbor];
        if (neighbor != partner)
            cost += graph->weight[e] *
                    (distance(exchange, to, there) - distance(exchange, from, there));
    }
    exchange->work += 2 * (graph->first[vertex + 1] - graph->first[vertex]);
    return cost;
}

/* Exchanges what is in the two slots if that is cheaper. */
static bool try_exchange(struct exchange *exchange, int slot, int other)
{
    int *vertex_of = exchange->vertex_of, u = vertex_of[slot], v = vertex_of[other];
    if (distance(exchange, slot, other) == 0 ||
        cost_of_move(exchange, u, v, slot, other) + cost_of_move(exchange, v, u, other, slot) >= 0)
        return false;
    vertex_of[slot] = v;
    vertex_of[other] = u;
    exchange->slot_of[u] = other;
    exchange->slot_of[v] = slot;
    return true;
}

/* Tries to bring `vertex` closer to each of its neighbours. */
static bool improve(struct exchange *exchange, int vertex)
{
    const struct tern_map_graph *graph = exchange->graph;
    bool improved = false;
    for (int64_t e = graph->first[vertex]; e < graph->first[vertex + 1]; e++) {
        int there = exchange->slot_of[graph->to[e]];
        for (int slot = there - AROUND; slot <= there + AROUND; slot++) {
            int here = exchange->slot_of[vertex];
            if (slot < 0 || slot >= graph->n || slot == here || slot == there ||
                distance(exchange, slot, there) >= distance(exchange, here, there))
                continue;
            improved |= try_exchange(exchange, here, slot);
        }
    }
    return improved;
}

int tern_map_exchange(const struct tern_map_graph *graph, const struct tern_place places[],
                      const struct tern_map_slots *slots, int vertex_of[])
{
    struct exchange exchange = {graph, places, slots, vertex_of, NULL, 0};
    exchange.slot_of = malloc(((size_t)graph->n + 1) * sizeof *exchange.slot_of);
    if (!exchange.slot_of)
        return tern_error(TERN_ERR_NO_MEM, "no memory to map %d vertices", graph->n);
    for (int s = 0; s < graph->n; s++)
        exchange.slot_of[vertex_of[s]] = s;
    bool improved = true;
    for (int round = 0; improved && round < ROUNDS_MAX; round++) {
        improved = false;
        for (int v = 0; v < graph->n && exchange.work < WORK_MAX; v++)
            improved |= improve(&exchange, v);
    }
    free(exchange.slot_of);
    return 0;
}
