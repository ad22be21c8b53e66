/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Graphs of which each process knows its own neighbours (MPI-4.1 section 8.5,
 * MPI_Dist_graph_create). In the adjacent form each process names its own edges. In the general
 * form any process may name any edge. Then the edges are sent to both of their ends, for each end
 * by one exchange of counts and one of edges.
 */

#include "lib/mpi/object/comm.h"
#include "lib/mpi/procedures.h"
#include "lib/mpi/topo/topo.h"
#include "lib/mpi/topo/topo_reorder.h"
#include "lib/util/base/error.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* An edge as sent to one of its ends. */
struct edge_end {
    int32_t neighbor, weight;
};

static int check_neighbors(const struct tern_comm *comm, const char *array, int count,
                           const int neighbors[])
{
    if (count < 0)
        return tern_error(TERN_ERR_ARG, "the number of %s is %d; expected 0 or more", array, count);
    for (int i = 0; i < count; i++)
        if (neighbors[i] < 0 || neighbors[i] >= comm->group->size)
            return tern_error_index(TERN_ERR_RANK, comm->group->size, "%s[%d] is %d", array,
                                    i, neighbors[i]);
    return 0;
}

static int check_weights(const char *array, int count, const int weights[])
{
    for (int i = 0; i < count && weights != MPI_UNWEIGHTED; i++)
        if (weights[i] < 0)
            return tern_error(TERN_ERR_ARG, "%s[%d] is %d; expected 0 or more", array, i,
                              weights[i]);
    return 0;
}

static struct tern_topo *new_dist_graph(int indegree, int outdegree, bool weighted)
{
    int *ints;
    size_t edges = (size_t)indegree + (size_t)outdegree;
    struct tern_topo *topo =
        tern_topo_new(TERN_TOPO_DIST_GRAPH, weighted ? 2 * edges : edges, &ints);
    if (!topo) {
        tern_error(TERN_ERR_NO_MEM, "no memory for %zu edges", edges);
        return NULL;
    }
    topo->dist_graph.indegree = indegree;
    topo->dist_graph.outdegree = outdegree;
    topo->dist_graph.weighted = weighted;
    topo->dist_graph.sources = ints;
    topo->dist_graph.destinations = ints + indegree;
    if (weighted) {
        topo->dist_graph.source_weights = ints + edges;
        topo->dist_graph.destination_weights = ints + edges + indegree;
    }
    return topo;
}

/* Returns the length of the graph's arrays, which are one allocation that begins with the
 * sources. */
static int64_t ints_of(const struct tern_topo *topo)
{
    int64_t edges = (int64_t)topo->dist_graph.indegree + topo->dist_graph.outdegree;
    return topo->dist_graph.weighted ? 2 * edges : edges;
}

static void copy_ints(int to[], const int from[], int count)
{
    if (count > 0)
        memcpy(to, from, (size_t)count * sizeof *to);
}

static int check_adjacent(struct tern_comm *comm, int indegree, const int sources[],
                          const int sourceweights[], int outdegree, const int destinations[],
                          const int destweights[])
{
    int rc = tern_topo_check_intra(comm);
    if (!rc)
        rc = check_neighbors(comm, "sources", indegree, sources);
    if (!rc)
        rc = check_neighbors(comm, "destinations", outdegree, destinations);
    if (!rc && (sourceweights == MPI_UNWEIGHTED) != (destweights == MPI_UNWEIGHTED))
        rc = tern_error(
            TERN_ERR_ARG,
            "only one of sourceweights and destweights is MPI_UNWEIGHTED; expected both or none");
    if (!rc)
        rc = check_weights("sourceweights", indegree, sourceweights);
    return rc ? rc : check_weights("destweights", outdegree, destweights);
}

/* Reorders an adjacent graph. Every edge is named at both ends; the order needs only the
 * source's. */
static int reorder_adjacent(struct tern_comm *comm, int outdegree, const int destinations[],
                            const int weights[], int **ret_process)
{
    struct tern_map_edge *edges = malloc(((size_t)outdegree + 1) * sizeof *edges);
    if (!edges)
        return tern_error(TERN_ERR_NO_MEM, "no memory for %d edges", outdegree);
    for (int i = 0; i < outdegree; i++)
        edges[i] = (struct tern_map_edge){comm->group->rank, destinations[i],
                                          weights == MPI_UNWEIGHTED ? 1 : weights[i]};
    int rc = tern_topo_reorder_graph(comm, edges, outdegree, ret_process);
    free(edges);
    return rc;
}

/* Sends the neighbours that this process named to the process that takes its place, and receives
 * those of the place it takes. Releases `topo`. */
static int move_neighbors(struct tern_comm *comm, const int process[], struct tern_topo *topo,
                          struct tern_topo **ret_topo)
{
    int rank = comm->group->rank, to = process[rank];
    int from = tern_topo_vertex_of(comm->group->size, process, rank);
    int mine[3] = {topo->dist_graph.indegree, topo->dist_graph.outdegree,
                   topo->dist_graph.weighted};
    int theirs[3];
    struct tern_topo *moved = NULL;
    int rc = tern_comm_sendrecv(comm, TERN_TAG_EXCHANGE, mine, sizeof mine, to, theirs,
                                sizeof theirs, from);
    if (!rc && !(moved = new_dist_graph(theirs[0], theirs[1], theirs[2])))
        rc = TERN_ERR_NO_MEM;
    if (!rc) /* the four arrays are one block of memory */
        rc = tern_comm_sendrecv(comm, TERN_TAG_EXCHANGE, topo->dist_graph.sources,
                                ints_of(topo) * (int64_t)sizeof(int), to, moved->dist_graph.sources,
                                ints_of(moved) * (int64_t)sizeof(int), from);
    tern_topo_release(topo);
    if (rc && moved)
        tern_topo_release(moved);
    if (!rc)
        *ret_topo = moved;
    return rc;
}

int tern_mpi_dist_graph_create_adjacent(struct tern_comm *comm_old, int indegree,
                                        const int sources[], const int sourceweights[],
                                        int outdegree, const int destinations[],
                                        const int destweights[], struct tern_info *info,
                                        int reorder, struct tern_comm **ret_comm_dist_graph)
{
    (void)info; /* no hint is known */
    int *process = NULL;
    int rc = check_adjacent(comm_old, indegree, sources, sourceweights, outdegree, destinations,
                            destweights);
    if (!rc && reorder)
        rc = reorder_adjacent(comm_old, outdegree, destinations, destweights, &process);
    if (rc)
        return rc;
    bool weighted = sourceweights != MPI_UNWEIGHTED;
    struct tern_topo *topo = new_dist_graph(indegree, outdegree, weighted);
    if (!topo) {
        free(process);
        return TERN_ERR_NO_MEM;
    }
    copy_ints(topo->dist_graph.sources, sources, indegree);
    copy_ints(topo->dist_graph.destinations, destinations, outdegree);
    if (weighted) {
        copy_ints(topo->dist_graph.source_weights, sourceweights, indegree);
        copy_ints(topo->dist_graph.destination_weights, destweights, outdegree);
    }
    if (process)
        rc = move_neighbors(comm_old, process, topo, &topo);
    if (!rc)
        rc = tern_topo_make(comm_old, comm_old->group->size, process, topo, ret_comm_dist_graph);
    free(process);
    return rc;
}

/* Describes an exchange of edge ends: bytes to and from each rank, and their offsets. */
struct traffic {
    int size;
    int64_t *send_bytes, *send_at, *recv_bytes, *recv_at; /* one allocation */
};

/* Tells every process how many bytes it will receive, and computes the offsets. *ret_total is the
 * number of bytes for this process. */
static int announce(struct tern_comm *comm, struct traffic *traffic, int64_t *ret_total)
{
    struct tern_call call;
    tern_call_alltoall(&call, &comm->coll, traffic->send_bytes, sizeof(int64_t), &tern_type_bytes,
                       traffic->recv_bytes, sizeof(int64_t), &tern_type_bytes);
    tern_call_set_inside(&call);
    int rc = tern_call_run(&call);
    if (rc)
        return rc;
    int64_t sent = 0, received = 0;
    for (int rank = 0; rank < traffic->size; rank++) {
        traffic->send_at[rank] = sent;
        traffic->recv_at[rank] = received;
        sent += traffic->send_bytes[rank];
        received += traffic->recv_bytes[rank];
    }
    *ret_total = received;
    return 0;
}

/* Returns the process that will be this end of an edge. */
static int owner(const struct tern_map_edge *edge, bool source, const int process[])
{
    int vertex = source ? edge->from : edge->to;
    return process ? process[vertex] : vertex;
}

/* Sends each edge to its source (`to_source`) or to its destination. *ret_ends, malloc'ed, holds
 * the ends that arrived here. */
static int route_edges(struct tern_comm *comm, const struct tern_map_edge *edges, int64_t count,
                       bool to_source, const int process[], struct edge_end **ret_ends,
                       int *ret_count)
{
    struct traffic traffic = {.size = comm->group->size};
    struct edge_end *sent = malloc(((size_t)count + 1) * sizeof *sent), *received = NULL;
    int64_t total = 0, *numbers = calloc(4 * (size_t)traffic.size, sizeof *numbers);
    int rc = TERN_ERR_NO_MEM;
    if (!sent || !numbers)
        goto out;
    traffic.send_bytes = numbers;
    traffic.send_at = numbers + traffic.size;
    traffic.recv_bytes = numbers + 2 * (size_t)traffic.size;
    traffic.recv_at = numbers + 3 * (size_t)traffic.size;
    for (int64_t e = 0; e < count; e++)
        traffic.send_bytes[owner(&edges[e], to_source, process)] += (int64_t)sizeof *sent;
    rc = announce(comm, &traffic, &total);
    if (rc)
        goto out;
    if (total / (int64_t)sizeof *received > INT_MAX) {
        rc = tern_error(TERN_ERR_ARG, "more than %d edges end at rank %d", INT_MAX,
                        comm->group->rank);
        goto out;
    }
    received = malloc((size_t)total + 1);
    if (!received) {
        rc = TERN_ERR_NO_MEM;
        goto out;
    }
    for (int64_t e = 0; e < count; e++) { /* send_at advances here and is reset below */
        int64_t *at = &traffic.send_at[owner(&edges[e], to_source, process)];
        sent[*at / (int64_t)sizeof *sent] =
            (struct edge_end){to_source ? edges[e].to : edges[e].from, edges[e].weight};
        *at += (int64_t)sizeof *sent;
    }
    for (int rank = 0; rank < traffic.size; rank++)
        traffic.send_at[rank] -= traffic.send_bytes[rank];
    struct tern_call call;
    tern_call_alltoallv(&call, &comm->coll, sent, (struct tern_ints){traffic.send_bytes, 8},
                        (struct tern_ints){traffic.send_at, 8}, &tern_type_bytes, received,
                        (struct tern_ints){traffic.recv_bytes, 8},
                        (struct tern_ints){traffic.recv_at, 8}, &tern_type_bytes);
    tern_call_set_inside(&call);
    rc = tern_call_run(&call);
out:
    free(numbers);
    free(sent);
    if (rc) {
        free(received);
        return rc == TERN_ERR_NO_MEM ? tern_error(rc, "no memory for the edges of a graph") : rc;
    }
    *ret_ends = received;
    *ret_count = (int)(total / (int64_t)sizeof *received);
    return 0;
}

/* Lists the edges that the arguments describe, one by one. */
static int list_edges(struct tern_comm *comm, int n, const int sources[], const int degrees[],
                      const int destinations[], const int weights[],
                      struct tern_map_edge **ret_edges, int64_t *ret_count)
{
    int64_t count = 0;
    int rc = check_neighbors(comm, "sources", n, sources);
    for (int i = 0; i < n && !rc; i++) {
        if (degrees[i] < 0)
            rc = tern_error(TERN_ERR_ARG, "degrees[%d] is %d; expected 0 or more", i, degrees[i]);
        count += degrees[i];
    }
    if (!rc && count > INT_MAX)
        rc = tern_error(TERN_ERR_ARG, "the sum of degrees is %lld; expected at most %d",
                        (long long)count, INT_MAX);
    if (!rc)
        rc = check_neighbors(comm, "destinations", (int)count, destinations);
    if (!rc)
        rc = check_weights("weights", (int)count, weights);
    if (rc)
        return rc;
    struct tern_map_edge *edges = malloc(((size_t)count + 1) * sizeof *edges);
    if (!edges)
        return tern_error(TERN_ERR_NO_MEM, "no memory for %lld edges", (long long)count);
    for (int i = 0, e = 0; i < n; i++)
        for (int k = 0; k < degrees[i]; k++, e++)
            edges[e] = (struct tern_map_edge){sources[i], destinations[e],
                                              weights == MPI_UNWEIGHTED ? 1 : weights[e]};
    *ret_edges = edges;
    *ret_count = count;
    return 0;
}

static void store_ends(const struct edge_end *ends, int count, int neighbors[], int weights[])
{
    for (int i = 0; i < count; i++) {
        neighbors[i] = ends[i].neighbor;
        if (weights)
            weights[i] = ends[i].weight;
    }
}

int tern_mpi_dist_graph_create(struct tern_comm *comm_old, int n, const int sources[],
                               const int degrees[], const int destinations[], const int weights[],
                               struct tern_info *info, int reorder,
                               struct tern_comm **ret_comm_dist_graph)
{
    (void)info; /* no hint is known */
    struct tern_map_edge *edges = NULL;
    struct edge_end *outgoing = NULL, *incoming = NULL;
    struct tern_topo *topo;
    int64_t count = 0;
    int outdegree, indegree, *process = NULL;
    int rc = tern_topo_check_intra(comm_old);
    if (!rc)
        rc = list_edges(comm_old, n, sources, degrees, destinations, weights, &edges, &count);
    if (!rc && reorder)
        rc = tern_topo_reorder_graph(comm_old, edges, count, &process);
    if (!rc)
        rc = route_edges(comm_old, edges, count, true, process, &outgoing, &outdegree);
    if (!rc)
        rc = route_edges(comm_old, edges, count, false, process, &incoming, &indegree);
    if (rc)
        goto free_edges;
    topo = new_dist_graph(indegree, outdegree, weights != MPI_UNWEIGHTED);
    if (!topo) {
        rc = TERN_ERR_NO_MEM;
        goto free_edges;
    }
    store_ends(incoming, indegree, topo->dist_graph.sources, topo->dist_graph.source_weights);
    store_ends(outgoing, outdegree, topo->dist_graph.destinations,
               topo->dist_graph.destination_weights);
    rc = tern_topo_make(comm_old, comm_old->group->size, process, topo, ret_comm_dist_graph);

free_edges:
    free(incoming);
    free(outgoing);
    free(edges);
    free(process);
    return rc;
}

int tern_mpi_dist_graph_neighbors_count(struct tern_comm *comm, int *indegree, int *outdegree,
                                        int *weighted)
{
    const struct tern_topo *topo;
    int rc = tern_topo_get(comm, TERN_TOPO_DIST_GRAPH, &topo);
    if (rc)
        return rc;
    *indegree = topo->dist_graph.indegree;
    *outdegree = topo->dist_graph.outdegree;
    *weighted = topo->dist_graph.weighted;
    return 0;
}

/* Stores the first `max` neighbours, and their weights if the graph has weights and the caller
 * wants them. */
static void give_neighbors(int max, int count, const int from[], const int from_weights[], int to[],
                           int to_weights[])
{
    int length = count < max ? count : max;
    copy_ints(to, from, length);
    if (from_weights && to_weights && to_weights != MPI_UNWEIGHTED &&
        to_weights != MPI_WEIGHTS_EMPTY)
        copy_ints(to_weights, from_weights, length);
}

int tern_mpi_dist_graph_neighbors(struct tern_comm *comm, int maxindegree, int sources[],
                                  int sourceweights[], int maxoutdegree, int destinations[],
                                  int destweights[])
{
    const struct tern_topo *topo;
    int rc = tern_topo_get(comm, TERN_TOPO_DIST_GRAPH, &topo);
    if (!rc && (maxindegree < 0 || maxoutdegree < 0))
        rc = tern_error(TERN_ERR_ARG, "%s is %d; expected 0 or more",
                        maxindegree < 0 ? "maxindegree" : "maxoutdegree",
                        maxindegree < 0 ? maxindegree : maxoutdegree);
    if (rc)
        return rc;
    give_neighbors(maxindegree, topo->dist_graph.indegree, topo->dist_graph.sources,
                   topo->dist_graph.source_weights, sources, sourceweights);
    give_neighbors(maxoutdegree, topo->dist_graph.outdegree, topo->dist_graph.destinations,
                   topo->dist_graph.destination_weights, destinations, destweights);
    return 0;
}
