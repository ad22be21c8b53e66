/* SPDX-License-Identifier: BSD-3-Clause */

/* Graphs that every process knows completely (MPI-4.1 section 8.5, MPI_Graph_create). */

#include "lib/mpi/object/comm.h"
#include "lib/mpi/procedures.h"
#include "lib/mpi/topo/topo.h"
#include "lib/mpi/topo/topo_reorder.h"
#include "lib/util/base/error.h"

#include <stdlib.h>
#include <string.h>

static int check_graph(const struct tern_comm *comm, int nnodes, const int index[],
                       const int edges[])
{
    int rc = tern_topo_check_intra(comm);
    if (rc)
        return rc;
    if (nnodes < 0 || nnodes > comm->group->size)
        return tern_error(TERN_ERR_ARG, "nnodes is %d; expected 0 to %d, the size of comm", nnodes,
                          comm->group->size);
    for (int node = 0, before = 0; node < nnodes; before = index[node++])
        if (index[node] < before)
            return tern_error(TERN_ERR_ARG,
                              "index[%d] is %d; expected %d or more, because index never "
                              "decreases", node,
                              index[node], before);
    for (int e = 0; nnodes > 0 && e < index[nnodes - 1]; e++)
        if (edges[e] < 0 || edges[e] >= nnodes)
            return tern_error_index(TERN_ERR_ARG, nnodes, "edges[%d] is %d", e, edges[e]);
    return 0;
}

static int list_edges(int nnodes, const int index[], const int edges[],
                      struct tern_map_edge **ret_list, int *ret_count)
{
    int count = nnodes > 0 ? index[nnodes - 1] : 0;
    struct tern_map_edge *list = malloc(((size_t)count + 1) * sizeof *list);
    if (!list)
        return tern_error(TERN_ERR_NO_MEM, "no memory for a graph of %d edges", count);
    for (int node = 0, e = 0; e < count; node++)
        for (; e < index[node]; e++)
            list[e] = (struct tern_map_edge){node, edges[e], 1};
    *ret_list = list;
    *ret_count = count;
    return 0;
}

/* Reorders a graph. Every process knows all edges; only rank 0 names them. */
static int reorder_graph(struct tern_comm *comm, int nnodes, const int index[], const int edges[],
                         int **ret_process)
{
    struct tern_map_edge *list;
    int count;
    int rc = list_edges(comm->group->rank == 0 ? nnodes : 0, index, edges, &list, &count);
    if (rc)
        return rc;
    rc = tern_topo_reorder_graph(comm, list, count, ret_process);
    free(list);
    return rc;
}

static struct tern_topo *new_graph(int nnodes, const int index[], const int edges[])
{
    int *ints, nedges = index[nnodes - 1];
    struct tern_topo *topo = tern_topo_new(TERN_TOPO_GRAPH, (size_t)nnodes + (size_t)nedges, &ints);
    if (!topo) {
        tern_error(TERN_ERR_NO_MEM, "no memory for a graph of %d nodes and %d edges", nnodes,
                   nedges);
        return NULL;
    }
    topo->graph.nnodes = nnodes;
    topo->graph.nedges = nedges;
    topo->graph.index = memcpy(ints, index, (size_t)nnodes * sizeof *ints);
    topo->graph.edges = ints + nnodes;
    if (nedges > 0)
        memcpy(topo->graph.edges, edges, (size_t)nedges * sizeof *edges);
    return topo;
}

int tern_mpi_graph_create(struct tern_comm *comm_old, int nnodes, const int index[],
                          const int edges[], int reorder, struct tern_comm **ret_comm_graph)
{
    int *process = NULL;
    struct tern_topo *topo = NULL;
    int rc = check_graph(comm_old, nnodes, index, edges);
    if (!rc && reorder)
        rc = reorder_graph(comm_old, nnodes, index, edges, &process);
    if (rc)
        return rc;
    if (tern_topo_vertex_of(comm_old->group->size, process, comm_old->group->rank) < nnodes &&
        !(topo = new_graph(nnodes, index, edges)))
        rc = TERN_ERR_NO_MEM;
    else
        rc = tern_topo_make(comm_old, nnodes, process, topo, ret_comm_graph);
    free(process);
    return rc;
}

int tern_mpi_graphdims_get(struct tern_comm *comm, int *nnodes, int *nedges)
{
    const struct tern_topo *topo;
    int rc = tern_topo_get(comm, TERN_TOPO_GRAPH, &topo);
    if (rc)
        return rc;
    *nnodes = topo->graph.nnodes;
    *nedges = topo->graph.nedges;
    return 0;
}

int tern_mpi_graph_get(struct tern_comm *comm, int maxindex, int maxedges, int index[], int edges[])
{
    const struct tern_topo *topo;
    int rc = tern_topo_get(comm, TERN_TOPO_GRAPH, &topo);
    if (rc)
        return rc;
    if (maxindex < topo->graph.nnodes)
        return tern_error(TERN_ERR_ARG, "maxindex is %d; the graph has %d nodes", maxindex,
                          topo->graph.nnodes);
    if (maxedges < topo->graph.nedges)
        return tern_error(TERN_ERR_ARG, "maxedges is %d; the graph has %d edges", maxedges,
                          topo->graph.nedges);
    memcpy(index, topo->graph.index, (size_t)topo->graph.nnodes * sizeof *index);
    if (topo->graph.nedges > 0)
        memcpy(edges, topo->graph.edges, (size_t)topo->graph.nedges * sizeof *edges);
    return 0;
}

/* Finds the graph and the position of the edges of `rank` in it. */
static int find_edges(struct tern_comm *comm, int rank, const struct tern_topo **ret_topo,
                      int *ret_first, int *ret_count)
{
    int rc = tern_topo_get(comm, TERN_TOPO_GRAPH, ret_topo);
    if (rc)
        return rc;
    if (rank < 0 || rank >= (*ret_topo)->graph.nnodes)
        return tern_error_index(TERN_ERR_RANK, (*ret_topo)->graph.nnodes, "rank is %d", rank);
    const int *index = (*ret_topo)->graph.index;
    *ret_first = rank > 0 ? index[rank - 1] : 0;
    *ret_count = index[rank] - *ret_first;
    return 0;
}

int tern_mpi_graph_neighbors_count(struct tern_comm *comm, int rank, int *nneighbors)
{
    const struct tern_topo *topo;
    int first = 0, count = 0;
    int rc = find_edges(comm, rank, &topo, &first, &count);
    if (!rc)
        *nneighbors = count;
    return rc;
}

int tern_mpi_graph_neighbors(struct tern_comm *comm, int rank, int maxneighbors, int neighbors[])
{
    const struct tern_topo *topo;
    int first = 0, count = 0;
    int rc = find_edges(comm, rank, &topo, &first, &count);
    if (rc)
        return rc;
    if (maxneighbors < 0)
        return tern_error(TERN_ERR_ARG, "maxneighbors is %d; expected 0 or more", maxneighbors);
    if (maxneighbors < count)
        count = maxneighbors;
    if (count > 0)
        memcpy(neighbors, topo->graph.edges + first, (size_t)count * sizeof *neighbors);
    return 0;
}

int tern_mpi_graph_map(struct tern_comm *comm, int nnodes, const int index[], const int edges[],
                       int *newrank)
{
    struct tern_map_edge *list;
    int count, vertex = 0;
    int rc = check_graph(comm, nnodes, index, edges);
    if (!rc)
        rc = list_edges(nnodes, index, edges, &list, &count);
    if (rc)
        return rc;
    rc = tern_topo_map_graph(comm, list, count, &vertex);
    free(list);
    if (!rc)
        *newrank = vertex < nnodes ? vertex : MPI_UNDEFINED;
    return rc;
}
