/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_TOPO_REORDER_H
#define TERN_TOPO_REORDER_H

/*
 * Decides which process of a communicator takes which place of a new topology, if the user allows a
 * change (`reorder`). Rank 0 learns where each process sits, decides (topo_map.h), and sends the
 * result to the others.
 *
 * The first two functions are collective over `comm` and block. *ret_process is malloc'ed.
 * process[v] is the rank in `comm` of the process for vertex v. It is a permutation of all ranks of
 * `comm`, equal on all processes. *ret_process is NULL if the order stays: because no better one
 * was found, or because the parameter topo_reorder forbids a change. Returns 0 or TERN_ERR_*.
 */

#include "lib/mpi/topo/topo_map.h"

struct tern_comm;

/* Reorders a grid. The grid may have fewer places than `comm` has ranks; the vertices after its
 * last place have no neighbours. */
int tern_topo_reorder_grid(struct tern_comm *comm, int ndims, const int dims[], const int periods[],
                           int **ret_process);

/* Reorders a graph. Every process names some of the edges. */
int tern_topo_reorder_graph(struct tern_comm *comm, const struct tern_map_edge *edges,
                            int64_t count, int **ret_process);

/* Find the vertex that this process should take, from the places that the launcher told at the
 * start of the job. Local. Every process names all edges. Return 0 or TERN_ERR_NO_MEM. */
int tern_topo_map_grid(struct tern_comm *comm, int ndims, const int dims[], const int periods[],
                       int *ret_vertex);
int tern_topo_map_graph(struct tern_comm *comm, const struct tern_map_edge *edges, int64_t count,
                        int *ret_vertex);

/* Returns the vertex of rank `rank` of the communicator. `process` is NULL or as above. */
int tern_topo_vertex_of(int size, const int process[], int rank);

#endif
