/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 4 5 */
/* Distributed graphs from adjacent lists and from edges given anywhere report their ring. */
#include "check.h"

static void check_ring(MPI_Comm graph, int weighted)
{
    int in, out, flag, topo, sources[4], in_weights[4], targets[4], out_weights[4];
    CHECK_OK(MPI_Topo_test(graph, &topo));
    CHECK_INT(topo, MPI_DIST_GRAPH);
    CHECK_OK(MPI_Dist_graph_neighbors_count(graph, &in, &out, &flag));
    CHECK_INT(in, 1);
    CHECK_INT(out, 2);
    CHECK_INT(flag != 0, weighted);
    CHECK_OK(MPI_Dist_graph_neighbors(graph, 1, sources, weighted ? in_weights : MPI_UNWEIGHTED, 2,
                                      targets, weighted ? out_weights : MPI_UNWEIGHTED));
    int from = (rank + size - 1) % size, to = (rank + 1) % size;
    CHECK_INT(sources[0], from);
    CHECK_INT(targets[0], to);
    CHECK_INT(targets[1], to);
    if (weighted) {
        CHECK_INT(in_weights[0], 10 + from);
        CHECK_INT(out_weights[0], 10 + rank);
    }
}

int main(int argc, char **argv)
{
    start(&argc, &argv);
    MPI_Comm graph;
    int from = (rank + size - 1) % size, to = (rank + 1) % size, in, out, flag;
    int sources[] = { from }, targets[] = { to, to };
    int in_weights[] = { 10 + from, 1 }, out_weights[] = { 10 + rank, 10 + rank };
    /* Two edges out but one in only differ in the lists, which is what "adjacent" may not check. */
    CHECK_OK(MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, sources, in_weights, 2, targets,
                                            out_weights, MPI_INFO_NULL, 0, &graph));
    check_ring(graph, 1);
    CHECK_OK(MPI_Comm_free(&graph));
    CHECK_OK(MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, sources, MPI_UNWEIGHTED, 2, targets,
                                            MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &graph));
    check_ring(graph, 0);
    CHECK_OK(MPI_Comm_free(&graph));
    /* The whole ring named by rank 0 alone. */
    int *nodes = allocate((size_t) size * sizeof(int)), *degrees = allocate((size_t) size * 4);
    int *ends = allocate((size_t) size * sizeof(int)), *weights = allocate((size_t) size * 4);
    for (int i = 0; i < size; i++) {
        nodes[i] = i;
        degrees[i] = 1;
        ends[i] = (i + 1) % size;
        weights[i] = 10 + i;
    }
    CHECK_OK(MPI_Dist_graph_create(MPI_COMM_WORLD, rank == 0 ? size : 0, nodes, degrees, ends,
                                   weights, MPI_INFO_NULL, 0, &graph));
    CHECK_OK(MPI_Dist_graph_neighbors_count(graph, &in, &out, &flag));
    CHECK_INT(in, 1);
    CHECK_INT(out, 1);
    CHECK_OK(MPI_Dist_graph_neighbors(graph, 1, sources, in_weights, 1, targets, out_weights));
    CHECK_INT(sources[0], from);
    CHECK_INT(targets[0], to);
    CHECK_INT(in_weights[0], 10 + from);
    CHECK_INT(out_weights[0], 10 + rank);
    CHECK_OK(MPI_Comm_free(&graph));
    free(nodes);
    free(degrees);
    free(ends);
    free(weights);
    return end();
}
