/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_TOPO_REORDER_H
#define TERN_TOPO_REORDER_H

/*
 * Which process of a communicator takes which place of a new topology, when the user allows a
 * change
 * (`reorder`). Rank 0 learns where everybody sits, decides (topo_map.h), and tells.
 *
 * The first two are collective over comm and block. *ret_process is malloc'ed: process[v] is the
 * rank in comm of the process for vertex v, a permutation of all of comm's ranks, the same
 * everywhere; or NULL: the order stays, because no better one was found or parameter topo_reorder
 * forbids it. 0 or TERN_ERR_*.
 */

#include "lib/mpi/topo/topo_map.h"

struct tern_comm;

/* The grid may have fewer places than comm has ranks; the vertices behind have no neighbours. */
int tern_topo_reorder_grid(struct tern_comm *comm, int ndims, const int dims[], const int periods[],
                           int **ret_process);

/* Every process names some of the edges. */
int tern_topo_reorder_graph(struct tern_comm *comm, const struct tern_map_edge *edges,
                            int64_t count, int **ret_process);

/* The vertex that this process should take, by what the launcher said when it started the job;
 * local. Every process names all edges. 0 or TERN_ERR_NO_MEM. */
int tern_topo_map_grid(struct tern_comm *comm, int ndims, const int dims[], const int periods[],
                       int *ret_vertex);
int tern_topo_map_graph(struct tern_comm *comm, const struct tern_map_edge *edges, int64_t count,
                        int *ret_vertex);

/* The vertex of comm's rank `rank`, with process[] NULL or as above. */
int tern_topo_vertex_of(int size, const int process[], int rank);

#endif
