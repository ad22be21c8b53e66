/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_TOPO_MAP_H
#define TERN_TOPO_MAP_H

/*
 * Decides which process takes which place of a topology (the reorder of MPI-4.1 chapter 8).
 * Neighbours that exchange much data should sit close together. All functions are pure functions of
 * a graph and of the places where the processes sit. Equal arguments give equal results on every
 * process.
 *
 * The nodes of the graph are called vertices here, because a node is a host.
 */

#include <stdbool.h>
#include <stdint.h>

/* The parts of the machine around a process, from the widest to the narrowest. */
enum tern_place_level {
    TERN_PLACE_NODE,
    TERN_PLACE_PACKAGE,
    TERN_PLACE_NUMA,
    TERN_PLACE_L3,
    TERN_PLACE_L2,
    TERN_PLACE_CORE,
    TERN_PLACE_LEVELS
};

/* The place where a process sits. part[level] is the number of its part inside the next wider part.
 * Processes with equal numbers share a part. A negative number means that the process is not bound
 * to a part or that its part is not known: it shares none with others. */
struct tern_place {
    int32_t part[TERN_PLACE_LEVELS];
};

/* Returns how far apart two places are: 0 for one core; more, the wider the narrowest part is that
 * holds both. */
int tern_place_distance(const struct tern_place *a, const struct tern_place *b);

/* Returns true if all pairs of processes are equally far apart: then no order is better than
 * another. */
bool tern_places_are_flat(int n, const struct tern_place places[]);

/* An edge between two vertices. */
struct tern_map_edge {
    int32_t from, to, weight; /* weight >= 0 */
};

/* An undirected graph. The neighbours of vertex v are to[first[v]] .. to[first[v + 1] - 1]. */
struct tern_map_graph {
    int n;           /* number of vertices */
    int64_t *first;  /* n + 1 indices */
    int *to;         /* the neighbours */
    int64_t *weight; /* weight of the edge to each neighbour */
};

/* Makes a graph. Adds up the weights of both directions. Leaves out loops and edges of weight 0.
 * Returns 0 or TERN_ERR_NO_MEM. */
int tern_map_graph_make(int n, const struct tern_map_edge *edges, int64_t count,
                        struct tern_map_graph *ret_graph);
/* Frees the arrays of a graph. */
void tern_map_graph_free(struct tern_map_graph *graph);

/* Makes the graph of a grid of dims[0] x ... places, counted row by row. The `n` - places vertices
 * after them have no edges. Returns 0 or TERN_ERR_NO_MEM. */
int tern_map_graph_of_grid(int n, int ndims, const int dims[], const int periods[],
                           struct tern_map_graph *ret_graph);

/* Returns the cost of an order: the sum over all edges of weight x distance, if process[v] takes
 * vertex v. */
int64_t tern_map_cost(const struct tern_map_graph *graph, const struct tern_place places[],
                      const int process[]);

/*
 * Finds a permutation of the n processes that sit at places[0 .. n-1]: process[v] takes vertex v.
 * Its cost is less than that of process[v] = v. Stores process[v] = v if it finds nothing better,
 * or if the graph has more than TERN_MAP_SIZE_MAX vertices and neighbours in all. Returns 0 or
 * TERN_ERR_NO_MEM.
 */
enum { TERN_MAP_SIZE_MAX = 250000 }; /* about a second of work */
int tern_map_vertices(const struct tern_map_graph *graph, const struct tern_place places[],
                      int ret_process[]);

/* Does what tern_map_vertices does, for a grid. Tries blocks, too; in grids beyond
 * TERN_MAP_SIZE_MAX it tries only blocks. */
int tern_map_grid(int n, int ndims, const int dims[], const int periods[],
                  const struct tern_place places[], int ret_process[]);

/* ---- the steps, private to topo_map*.c ---- */

/* The processes in the order of the hardware. Seat s is process[s]. level[s] is the first level at
 * which seat s is apart from seat s - 1 (TERN_PLACE_LEVELS: none). */
struct tern_map_seats {
    int n;          /* number of processes and seats */
    int *process;   /* n processes */
    int *sorted;    /* room for n more */
    uint8_t *level; /* n levels */
};

/* Divides the vertices by recursive bisection. Stores in vertex_of[s] the vertex for seat s.
 * Returns 0 or TERN_ERR_NO_MEM. */
int tern_map_bisect(const struct tern_map_graph *graph, const struct tern_map_seats *seats,
                    int vertex_of[]);
/* Exchanges pairs of vertices as long as the cost falls. Returns 0 or TERN_ERR_NO_MEM. */
int tern_map_exchange(const struct tern_map_graph *graph, const struct tern_place places[],
                      const struct tern_map_seats *seats, int vertex_of[]);
/* Divides a grid into nested blocks, one for every part of the hardware. Sets *ret_fits to false if
 * parts differ in size or do not divide the grid; then vertex_of is unspecified. Returns 0 or
 * TERN_ERR_NO_MEM. */
int tern_map_blocks(int ndims, const int dims[], const int periods[],
                    const struct tern_map_seats *seats, int vertex_of[], bool *ret_fits);

#endif
