/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_TOPO_MAP_H
#define TERN_TOPO_MAP_H

/*
 * Which process takes which place of a topology (the reorder of MPI-4.1 chapter 8): neighbours that
 * say much to each other shall sit close together. Pure functions of a graph and of where the
 * processes sit; equal arguments give equal results everywhere.
 *
 * The nodes of the graph are called vertices here, for a node is a host.
 */

#include <stdbool.h>
#include <stdint.h>

/* Parts of the machine around a process, from the widest to the narrowest. */
enum tern_place_level {
    TERN_PLACE_NODE,
    TERN_PLACE_PACKAGE,
    TERN_PLACE_NUMA,
    TERN_PLACE_L3,
    TERN_PLACE_L2,
    TERN_PLACE_CORE,
    TERN_PLACE_LEVELS
};

/* Where a process sits. part[level]: the number of its part inside the wider one; equal numbers:
 * the same part; negative: it is not bound to one, or it is not known, and so shares none with
 * others. */
struct tern_place {
    int32_t part[TERN_PLACE_LEVELS];
};

/* How far apart two places are: 0 for the same core, more the wider the narrowest part is that
 * holds both. */
int tern_place_distance(const struct tern_place *a, const struct tern_place *b);

/* Are all pairs of processes equally far apart, so that no order is better than another? */
bool tern_places_are_flat(int n, const struct tern_place places[]);

struct tern_map_edge {
    int32_t from, to, weight; /* weight >= 0 */
};

/* An undirected graph: the neighbours of vertex v are to[first[v]] .. to[first[v + 1] - 1]. */
struct tern_map_graph {
    int n;
    int64_t *first;
    int *to;
    int64_t *weight;
};

/* Directions are added up; loops and edges of no weight are left out. 0 or TERN_ERR_NO_MEM. */
int tern_map_graph_make(int n, const struct tern_map_edge *edges, int64_t count,
                        struct tern_map_graph *ret_graph);
void tern_map_graph_free(struct tern_map_graph *graph);

/* A grid of dims[0] x ... places, counted row by row, then `n` - places vertices of no edges. */
int tern_map_graph_of_grid(int n, int ndims, const int dims[], const int periods[],
                           struct tern_map_graph *ret_graph);

/* Sum over the edges of weight x distance when vertex v is process[v]'s. */
int64_t tern_map_cost(const struct tern_map_graph *graph, const struct tern_place places[],
                      const int process[]);

/*
 * Fills process[v], a permutation of the n processes that sit at places[0 .. n-1], with a cost that
 * is smaller than that of process[v] = v; exactly the latter when nothing better was found, or when
 * the graph has more than TERN_MAP_SIZE_MAX vertices and neighbours in all. 0 or TERN_ERR_NO_MEM.
 */
enum { TERN_MAP_SIZE_MAX = 250000 }; /* about a second of work */
int tern_map_vertices(const struct tern_map_graph *graph, const struct tern_place places[],
                      int ret_process[]);

/* The same for a grid, where blocks are tried too, and only they in grids beyond that size. */
int tern_map_grid(int n, int ndims, const int dims[], const int periods[],
                  const struct tern_place places[], int ret_process[]);

/* ---- the steps, private to topo_map*.c ---- */

/* The processes in the order of the hardware: seat s is process[s], level[s] the first level at
 * which it is apart from seat s - 1 (TERN_PLACE_LEVELS: none). */
struct tern_map_seats {
    int n;
    int *process;
    int *sorted; /* room for n more */
    uint8_t *level;
};

/* Recursive bisection: vertex_of[s] is the vertex for seat s. 0 or TERN_ERR_NO_MEM. */
int tern_map_bisect(const struct tern_map_graph *graph, const struct tern_map_seats *seats,
                    int vertex_of[]);
/* Exchanges pairs of vertices as long as the cost falls. 0 or TERN_ERR_NO_MEM. */
int tern_map_exchange(const struct tern_map_graph *graph, const struct tern_place places[],
                      const struct tern_map_seats *seats, int vertex_of[]);
/* Nested blocks of a grid: every part of the hardware gets one. *ret_fits is false, and vertex_of
 * unspecified, where parts differ in size or do not divide the grid. 0 or TERN_ERR_NO_MEM. */
int tern_map_blocks(int ndims, const int dims[], const int periods[],
                    const struct tern_map_seats *seats, int vertex_of[], bool *ret_fits);

#endif
