/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_TOPO_H
#define TERN_TOPO_H

/* Process topologies (MPI-4.1 chapter 8). A topology never changes, so a communicator and its
 * duplicates share one. */

#include <stdbool.h>
#include <stddef.h>

struct tern_comm;
struct tern_group;
struct tern_neighbors;

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
/* Makes a grid. `rank` is this process's place in it. Returns NULL if there is no memory. */
struct tern_topo *tern_topo_new_cart(int ndims, const int dims[], const int periods[], int rank);
/* Takes a reference. */
void tern_topo_retain(struct tern_topo *topo);
/* Drops a reference. Dropping the last one frees the topology. */
void tern_topo_release(struct tern_topo *topo);

/* Finds the topology of `comm`. Returns 0, or TERN_ERR_TOPOLOGY if it is not of this kind. */
int tern_topo_get(const struct tern_comm *comm, enum tern_topo_kind kind,
                  const struct tern_topo **ret_topo);
/* Returns TERN_ERR_COMM for an intercommunicator, else 0. */
int tern_topo_check_intra(const struct tern_comm *comm);

/* Makes a communicator with topology `topo` of the processes process[0 .. places-1]: ranks in
 * `comm`; NULL means ranks 0, 1, ... The other ranks pass NULL for `topo` and get NULL. Takes
 * ownership of `topo`, also on failure. Collective; blocks. */
int tern_topo_make(struct tern_comm *comm, int places, const int process[], struct tern_topo *topo,
                   struct tern_comm **ret_comm);
/* Does what tern_topo_make does, for any group. A process that gets no communicator passes NULL for
 * `group` and `topo`. */
int tern_topo_make_over(struct tern_comm *comm, struct tern_group *group, struct tern_topo *topo,
                        struct tern_comm **ret_comm);

/* Finds the ranks at distance -disp and disp from this process along dimension `direction`. */
void tern_topo_cart_shift(const struct tern_topo *topo, int direction, int disp, int *ret_source,
                          int *ret_dest);

/* Finds the processes that this process talks to in neighbourhood collectives. A grid has two
 * neighbours per dimension, MPI_PROC_NULL where it ends. The arrays belong to the topology. Returns
 * 0, or TERN_ERR_TOPOLOGY if `comm` has no topology. */
int tern_topo_neighbors(const struct tern_comm *comm, struct tern_neighbors *ret_neighbors);

#endif
