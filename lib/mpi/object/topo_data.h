/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_TOPO_DATA_H
#define TERN_TOPO_DATA_H

/* What a communicator keeps of its process topology. A topology never changes, so a communicator
 * and its duplicates share one. lib/mpi/topo makes topologies. */

#include <stdbool.h>
#include <stddef.h>

enum tern_topo_kind { TERN_TOPO_CART, TERN_TOPO_GRAPH, TERN_TOPO_DIST_GRAPH };

/* A topology. */
struct tern_topo {
    enum tern_topo_kind kind;
    int refs; /* number of communicators that share it */
    union {
        struct {
            int ndims;    /* number of dimensions */
            int *dims;    /* ndims sizes */
            int *periods; /* ndims values, 0 or 1 */
            int *coords;  /* ndims coordinates of this process */
            /* 2 * ndims ranks: before and after this process in each dimension */
            int *neighbors;
        } cart;
        struct {
            int nnodes, nedges; /* number of nodes; length of `edges` */
            int *index;         /* nnodes values: where the edges of the next node begin */
            int *edges;         /* nedges ranks */
        } graph;
        struct {
            int indegree, outdegree;       /* number of sources; of destinations */
            bool weighted;                 /* true if it has weights */
            int *sources, *source_weights; /* weights are NULL if the graph has none */
            int *destinations, *destination_weights;
        } dist_graph;
    };
};

/* Makes a topology. `*ret_ints` is room for its arrays: `ints` zeroed integers in the same
 * allocation. Returns NULL if there is no memory. */
struct tern_topo *tern_topo_new(enum tern_topo_kind kind, size_t ints, int **ret_ints);
/* Takes a reference. */
void tern_topo_retain(struct tern_topo *topo);
/* Drops a reference. Dropping the last one frees the topology. */
void tern_topo_release(struct tern_topo *topo);

#endif
