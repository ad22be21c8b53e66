/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Maps a graph onto the hardware. The hardware is a tree, so the distance of two processes is that
 * of the narrowest part that holds both. Distances grow by large steps. So it matters most to cut
 * few edges between nodes, then between packages, and so on. Hence the work goes top down: divide
 * the graph among the nodes, then each node's share among its packages, and so on
 * (topo_map_bisect.c). A grid is also cut into blocks (topo_map_blocks.c). Both results are then
 * improved by exchanging pairs (topo_map_exchange.c). The cheapest of these and of the given order
 * is taken.
 */

#include "lib/mpi/topo/topo_map.h"

#include "lib/util/base/error.h"

#include <stdlib.h>
#include <string.h>

/* Distances by the first level at which two processes are apart. Their ratios are roughly those of
 * the times of a short message. */
static const int distances[TERN_PLACE_LEVELS + 1] = {
    [TERN_PLACE_NODE] = 60, [TERN_PLACE_PACKAGE] = 10, [TERN_PLACE_NUMA] = 8,   [TERN_PLACE_L3] = 5,
    [TERN_PLACE_L2] = 3,    [TERN_PLACE_CORE] = 2,     [TERN_PLACE_LEVELS] = 0,
};

static int apart_at(const struct tern_place *a, const struct tern_place *b)
{
    int level = 0;
    while (level < TERN_PLACE_LEVELS && a->part[level] == b->part[level] && a->part[level] >= 0)
        level++;
    return level;
}

int tern_place_distance(const struct tern_place *a, const struct tern_place *b)
{
    return distances[apart_at(a, b)];
}

/* ---- graphs ---- */

static bool counts(const struct tern_map_edge *edge)
{
    return edge->from != edge->to && edge->weight > 0;
}

int tern_map_graph_make(int n, const struct tern_map_edge *edges, int64_t count,
                        struct tern_map_graph *ret_graph)
{
    struct tern_map_graph graph = {.n = n};
    graph.first = calloc((size_t)n + 2, sizeof *graph.first);
    if (!graph.first)
        return tern_error(TERN_ERR_NO_MEM, "no memory for a graph of %d vertices", n);
    int64_t *at = graph.first + 1; /* at[v] advances from first[v] to first[v + 1] below */
    for (int64_t e = 0; e < count; e++)
        if (counts(&edges[e])) {
            at[edges[e].from + 1]++;
            at[edges[e].to + 1]++;
        }
    for (int v = 0; v < n; v++)
        at[v + 1] += at[v];
    graph.to = malloc(((size_t)at[n] + 1) * sizeof *graph.to);
    graph.weight = malloc(((size_t)at[n] + 1) * sizeof *graph.weight);
    if (!graph.to || !graph.weight) {
        tern_map_graph_free(&graph);
        return tern_error(TERN_ERR_NO_MEM, "no memory for a graph of %lld edges", (long long)count);
    }
    for (int64_t e = 0; e < count; e++)
        if (counts(&edges[e])) {
            int64_t forth = at[edges[e].from]++, back = at[edges[e].to]++;
            graph.to[forth] = edges[e].to;
            graph.to[back] = edges[e].from;
            graph.weight[forth] = graph.weight[back] = edges[e].weight;
        }
    *ret_graph = graph;
    return 0;
}

void tern_map_graph_free(struct tern_map_graph *graph)
{
    free(graph->first);
    free(graph->to);
    free(graph->weight);
    memset(graph, 0, sizeof *graph);
}

int tern_map_graph_of_grid(int n, int ndims, const int dims[], const int periods[],
                           struct tern_map_graph *ret_graph)
{
    int places = 1;
    int64_t count = 0;
    for (int d = 0; d < ndims; d++)
        places *= dims[d];
    struct tern_map_edge *edges = malloc(((size_t)ndims * (size_t)places + 1) * sizeof *edges);
    if (!edges)
        return tern_error(TERN_ERR_NO_MEM, "no memory for a grid of %d places", places);
    for (int v = 0; v < places; v++)
        /* to the next vertex along d */
        for (int d = ndims - 1, step = 1; d >= 0; step *= dims[d--]) {
            int here = v / step % dims[d];
            if (here + 1 < dims[d])
                edges[count++] = (struct tern_map_edge){v, v + step, 1};
            else if (periods[d])
                edges[count++] = (struct tern_map_edge){v, v - here * step, 1};
        }
    int rc = tern_map_graph_make(n, edges, count, ret_graph);
    free(edges);
    return rc;
}

int64_t tern_map_cost(const struct tern_map_graph *graph, const struct tern_place places[],
                      const int process[])
{
    int64_t cost = 0;
    for (int v = 0; v < graph->n; v++)
        for (int64_t e = graph->first[v]; e < graph->first[v + 1]; e++)
            cost += graph->weight[e] *
                    tern_place_distance(&places[process[v]], &places[process[graph->to[e]]]);
    return cost / 2; /* each edge was counted from both ends */
}

/* ---- the hardware in order ---- */

struct sorted {
    const struct tern_place *place;
    int process;
};

static int compare_places(const void *a, const void *b)
{
    const struct sorted *x = a, *y = b;
    for (int level = 0; level < TERN_PLACE_LEVELS; level++)
        if (x->place->part[level] != y->place->part[level])
            return x->place->part[level] < y->place->part[level] ? -1 : 1;
    return x->process < y->process ? -1 : x->process > y->process;
}

static int sort_seats(int n, const struct tern_place places[], struct tern_map_seats *ret_seats)
{
    struct sorted *sorted = malloc(((size_t)n + 1) * sizeof *sorted);
    int *process = malloc(2 * ((size_t)n + 1) * sizeof *process);
    uint8_t *level = malloc((size_t)n + 1);
    if (!sorted || !process || !level) {
        free(sorted);
        free(process);
        free(level);
        return tern_error(TERN_ERR_NO_MEM, "no memory to order %d processes", n);
    }
    for (int i = 0; i < n; i++)
        sorted[i] = (struct sorted){&places[i], i};
    qsort(sorted, (size_t)n, sizeof *sorted, compare_places);
    for (int s = 0; s < n; s++) {
        process[s] = sorted[s].process;
        level[s] = s ? (uint8_t)apart_at(sorted[s - 1].place, sorted[s].place) : 0;
    }
    free(sorted);
    *ret_seats = (struct tern_map_seats){n, process, process + n, level};
    return 0;
}

static void free_seats(struct tern_map_seats *seats)
{
    free(seats->process);
    free(seats->level);
}

static bool is_flat(const struct tern_map_seats *seats)
{
    for (int s = 2; s < seats->n; s++)
        if (seats->level[s] != seats->level[1])
            return false;
    return true;
}

bool tern_places_are_flat(int n, const struct tern_place places[])
{
    struct tern_map_seats seats;
    if (sort_seats(n, places, &seats) != 0)
        return true; /* nor is there memory for a better order */
    bool flat = is_flat(&seats);
    free_seats(&seats);
    return flat;
}

/* ---- choosing ---- */

static int compare_ints(const void *a, const void *b)
{
    int x = *(const int *)a, y = *(const int *)b;
    return (x > y) - (x < y);
}

/* Returns the first seat after a run of seats that begins at `from`. All seats of the run are
 * equally far from each other and from every other seat, so their vertices may be exchanged
 * freely. */
static int end_of_equals(const struct tern_map_seats *seats, int from)
{
    int to = from + 1, n = seats->n;
    if (to == n || seats->level[from] > seats->level[to])
        return to;
    while (to < n && seats->level[to] == seats->level[from + 1])
        to++;
    return to < n && seats->level[to] > seats->level[from + 1] && to - from > 1 ? to - 1 : to;
}

/* Computes process[vertex] of a mapping. Equivalent seats take their vertices in ascending order,
 * so that the given order is kept as far as possible. */
static void assign(const struct tern_map_seats *seats, int vertex_of[], int process[])
{
    int *vertices = vertex_of, *processes = seats->sorted;
    memcpy(processes, seats->process, (size_t)seats->n * sizeof *processes);
    for (int from = 0, to; from < seats->n; from = to) {
        to = end_of_equals(seats, from);
        qsort(vertices + from, (size_t)(to - from), sizeof *vertices, compare_ints);
        qsort(processes + from, (size_t)(to - from), sizeof *processes, compare_ints);
    }
    for (int s = 0; s < seats->n; s++)
        process[vertices[s]] = processes[s];
}

/* The input of the search, and the best mapping so far. */
struct choice {
    const struct tern_map_graph *graph;
    const struct tern_place *places;
    struct tern_map_seats seats;
    int *vertex_of, *trial;
    int64_t best_cost;
    int *best;
};

/* Takes the mapping in vertex_of if it is cheaper than the best one. Improves it first if `improve`
 * is true. */
static int consider(struct choice *choice, bool improve)
{
    int rc = improve ? tern_map_exchange(choice->graph, choice->places, &choice->seats,
                                         choice->vertex_of)
                     : 0;
    if (rc)
        return rc;
    assign(&choice->seats, choice->vertex_of, choice->trial);
    int64_t cost = tern_map_cost(choice->graph, choice->places, choice->trial);
    if (cost < choice->best_cost) {
        choice->best_cost = cost;
        memcpy(choice->best, choice->trial, (size_t)choice->seats.n * sizeof *choice->best);
    }
    return 0;
}

/* Tries all methods. `dims` is NULL if the graph is not a grid. */
static int try_all(struct choice *choice, int ndims, const int dims[], const int periods[])
{
    const struct tern_map_graph *graph = choice->graph;
    bool small = graph->first[graph->n] + graph->n <= TERN_MAP_SIZE_MAX, fits = false;
    int rc = 0;
    if (small) { /* the given order, improved */
        memcpy(choice->vertex_of, choice->seats.process, (size_t)graph->n * sizeof(int));
        rc = consider(choice, true);
    }
    if (!rc && dims)
        rc = tern_map_blocks(ndims, dims, periods, &choice->seats, choice->vertex_of, &fits);
    if (!rc && fits)
        rc = consider(choice, small);
    if (!rc && small)
        rc = tern_map_bisect(graph, &choice->seats, choice->vertex_of);
    return !rc && small ? consider(choice, true) : rc;
}

static int choose(const struct tern_map_graph *graph, int ndims, const int dims[],
                  const int periods[], const struct tern_place places[], int ret_process[])
{
    int n = graph->n;
    struct choice choice = {.graph = graph, .places = places, .best = ret_process};
    for (int v = 0; v < n; v++)
        ret_process[v] = v;
    int *work = malloc(2 * ((size_t)n + 1) * sizeof *work);
    if (!work)
        return tern_error(TERN_ERR_NO_MEM, "no memory to map %d vertices", n);
    choice.vertex_of = work;
    choice.trial = work + n;
    int rc = sort_seats(n, places, &choice.seats);
    if (rc)
        goto free_work;
    if (!is_flat(&choice.seats)) {
        choice.best_cost = tern_map_cost(graph, places, ret_process);
        rc = try_all(&choice, ndims, dims, periods);
    }
    free_seats(&choice.seats);
free_work:
    free(work);
    return rc;
}

int tern_map_vertices(const struct tern_map_graph *graph, const struct tern_place places[],
                      int ret_process[])
{
    return choose(graph, -1, NULL, NULL, places, ret_process);
}

int tern_map_grid(int n, int ndims, const int dims[], const int periods[],
                  const struct tern_place places[], int ret_process[])
{
    struct tern_map_graph graph;
    int rc = tern_map_graph_of_grid(n, ndims, dims, periods, &graph);
    if (rc)
        return rc;
    rc = choose(&graph, ndims, dims, periods, places, ret_process);
    tern_map_graph_free(&graph);
    return rc;
}
