/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Improves a mapping by exchanging pairs, after B. Brandfass, T. Alrutz, T. Gerhold, "Rank
 * reordering for MPI communication optimization", Computers & Fluids 80, 2013. Does not try all
 * pairs. For each edge between two parts it tries the pairs that would bring one end close to the
 * other (the neighbourhood of C. Schulz, J. L. Traeff, "Better Process Mapping and Sparse Quadratic
 * Assignment", SEA 2017): the seats around the other end, in the order of the hardware.
 */

#include "lib/mpi/topo/topo_map.h"

#include "lib/util/base/error.h"

#include <stdlib.h>

enum {
    AROUND = 4, /* seats on each side */
    ROUNDS_MAX = 20,
    WORK_MAX = 10000000, /* distances looked up */
};

struct exchange {
    const struct tern_map_graph *graph;
    const struct tern_place *places;
    const struct tern_map_seats *seats;
    int *vertex_of, *seat_of;
    int64_t work;
};

static int distance(const struct exchange *exchange, int seat, int other)
{
    const int *process = exchange->seats->process;
    return tern_place_distance(&exchange->places[process[seat]], &exchange->places[process[other]]);
}

/* Returns the cost of moving `vertex` from one seat to another. Does not count its edges to
 * `partner`, which moves the other way. */
static int64_t cost_of_move(struct exchange *exchange, int vertex, int partner, int from, int to)
{
    const struct tern_map_graph *graph = exchange->graph;
    int64_t cost = 0;
    for (int64_t e = graph->first[vertex]; e < graph->first[vertex + 1]; e++) {
        int neighbor = graph->to[e], there = exchange->seat_of[neighbor];
        if (neighbor != partner)
            cost += graph->weight[e] *
                    (distance(exchange, to, there) - distance(exchange, from, there));
    }
    exchange->work += 2 * (graph->first[vertex + 1] - graph->first[vertex]);
    return cost;
}

/* Exchanges the vertices of two seats if that is cheaper. */
static bool try_exchange(struct exchange *exchange, int seat, int other)
{
    int *vertex_of = exchange->vertex_of, u = vertex_of[seat], v = vertex_of[other];
    if (distance(exchange, seat, other) == 0 ||
        cost_of_move(exchange, u, v, seat, other) + cost_of_move(exchange, v, u, other, seat) >= 0)
        return false;
    vertex_of[seat] = v;
    vertex_of[other] = u;
    exchange->seat_of[u] = other;
    exchange->seat_of[v] = seat;
    return true;
}

/* Tries to bring `vertex` closer to each of its neighbours. */
static bool improve(struct exchange *exchange, int vertex)
{
    const struct tern_map_graph *graph = exchange->graph;
    bool improved = false;
    for (int64_t e = graph->first[vertex]; e < graph->first[vertex + 1]; e++) {
        int there = exchange->seat_of[graph->to[e]];
        for (int seat = there - AROUND; seat <= there + AROUND; seat++) {
            int here = exchange->seat_of[vertex];
            if (seat < 0 || seat >= graph->n || seat == here || seat == there ||
                distance(exchange, seat, there) >= distance(exchange, here, there))
                continue;
            improved |= try_exchange(exchange, here, seat);
        }
    }
    return improved;
}

int tern_map_exchange(const struct tern_map_graph *graph, const struct tern_place places[],
                      const struct tern_map_seats *seats, int vertex_of[])
{
    struct exchange exchange = {graph, places, seats, vertex_of, NULL, 0};
    exchange.seat_of = malloc(((size_t)graph->n + 1) * sizeof *exchange.seat_of);
    if (!exchange.seat_of)
        return tern_error(TERN_ERR_NO_MEM, "no memory to map %d vertices", graph->n);
    for (int s = 0; s < graph->n; s++)
        exchange.seat_of[vertex_of[s]] = s;
    bool improved = true;
    for (int round = 0; improved && round < ROUNDS_MAX; round++) {
        improved = false;
        for (int v = 0; v < graph->n && exchange.work < WORK_MAX; v++)
            improved |= improve(&exchange, v);
    }
    free(exchange.seat_of);
    return 0;
}
