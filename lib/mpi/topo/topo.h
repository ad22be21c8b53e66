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

struct tern_topo {
    enum tern_topo_kind kind;
    int refs;
    union {
        struct {
            int ndims;
            int *dims;    /* ndims each */
            int *periods; /* 0 or 1 */
            int *coords;  /* of this process */
            int *neighbors; /* 2 * ndims: before and after this process in each dimension */
        } cart;
        struct {
            int nnodes, nedges;
            int *index; /* nnodes: where the next node's edges begin */
            int *edges; /* nedges */
        } graph;
        struct {
            int indegree, outdegree;
            bool weighted;
            int *sources, *source_weights; /* weights are NULL when not weighted */
            int *destinations, *destination_weights;
        } dist_graph;
    };
};

/* A topology with `ints` zeroed integers behind it, in the same allocation, for the arrays. NULL:
 * no memory. */
struct tern_topo *tern_topo_new(enum tern_topo_kind kind, size_t ints, int **ret_ints);
/* A grid; `rank` is this process's place in it. NULL: no memory. */
struct tern_topo *tern_topo_new_cart(int ndims, const int dims[], const int periods[], int rank);
void tern_topo_retain(struct tern_topo *topo);
void tern_topo_release(struct tern_topo *topo);

/* comm's topology when it is of this kind, else TERN_ERR_TOPOLOGY. */
int tern_topo_get(const struct tern_comm *comm, enum tern_topo_kind kind,
                  const struct tern_topo **ret_topo);
/* TERN_ERR_COMM for an intercommunicator. */
int tern_topo_check_intra(const struct tern_comm *comm);

/* Collective: a communicator of the processes process[0 .. places-1] (ranks in comm; NULL: 0, 1,
 * ...) with `topo`, which is NULL for the other ranks (they get NULL) and belongs to the new
 * communicator, or is released on failure. Blocks. */
int tern_topo_make(struct tern_comm *comm, int places, const int process[], struct tern_topo *topo,
                   struct tern_comm **ret_comm);
/* The same for any group; NULL where a process gets no communicator (and no topo). */
int tern_topo_make_over(struct tern_comm *comm, struct tern_group *group, struct tern_topo *topo,
                        struct tern_comm **ret_comm);

/* The ranks at distance -disp and disp from this process along dimension `direction`. */
void tern_topo_cart_shift(const struct tern_topo *topo, int direction, int disp, int *ret_source,
                          int *ret_dest);

/* Who this process talks to in neighbourhood collectives: a grid has two neighbours per dimension,
 * MPI_PROC_NULL where it ends. The arrays are the topology's. TERN_ERR_TOPOLOGY: comm has no
 * topology. */
int tern_topo_neighbors(const struct tern_comm *comm, struct tern_neighbors *ret_neighbors);

#endif
