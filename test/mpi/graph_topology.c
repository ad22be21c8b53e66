/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 4 6 */
/* Graph communicators: neighbours as given, get, dims, map; ranks beyond the graph get none. */
#include "check.h"

int main(int argc, char **argv)
{
    start(&argc, &argv);
    /* Four nodes: 0 - {1, 3}, 1 - {0}, 2 - {3}, 3 - {0, 2}, as in the standard's example. */
    int index[] = { 2, 3, 4, 6 }, edges[] = { 1, 3, 0, 3, 0, 2 }, n, m, topo, mapped;
    MPI_Comm graph, copy;
    CHECK_OK(MPI_Graph_create(MPI_COMM_WORLD, 4, index, edges, 0, &graph));
    CHECK((graph == MPI_COMM_NULL) == (rank >= 4));
    CHECK_OK(MPI_Graph_map(MPI_COMM_WORLD, 4, index, edges, &mapped));
    CHECK(rank >= 4 || (mapped >= 0 && mapped < 4) || mapped == MPI_UNDEFINED);
    if (graph == MPI_COMM_NULL)
        return end();
    for (int turn = 0; turn < 2; turn++) {
        int got_index[4], got_edges[6], neighbors[4];
        CHECK_OK(MPI_Topo_test(graph, &topo));
        CHECK_INT(topo, MPI_GRAPH);
        CHECK_OK(MPI_Graphdims_get(graph, &n, &m));
        CHECK_INT(n, 4);
        CHECK_INT(m, 6);
        CHECK_OK(MPI_Graph_get(graph, 4, 6, got_index, got_edges));
        CHECK_BYTES(got_index, index, sizeof index);
        CHECK_BYTES(got_edges, edges, sizeof edges);
        for (int r = 0; r < 4; r++) {
            int first = r ? index[r - 1] : 0;
            CHECK_OK(MPI_Graph_neighbors_count(graph, r, &n));
            CHECK_INT(n, index[r] - first);
            CHECK_OK(MPI_Graph_neighbors(graph, r, n, neighbors));
            for (int i = 0; i < n; i++)
                CHECK_INT(neighbors[i], edges[first + i]);
        }
        /* A duplicate has the same graph. */
        CHECK_OK(MPI_Comm_dup(graph, &copy));
        CHECK_OK(MPI_Comm_free(&graph));
        graph = copy;
    }
    CHECK_OK(MPI_Comm_free(&graph));
    return end();
}
