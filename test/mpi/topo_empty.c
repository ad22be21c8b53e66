/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 4 */
/* Topologies of nothing: a grid without dimensions is one process, a graph without nodes is none, and a distributed graph
 * may have no edges. */
#include "check.h"

int main(int argc, char **argv)
{
    MPI_Comm grid, copy, graph;
    int count = -1, place = -1, kind, in, out, weighted;
    start(&argc, &argv);
    CHECK_OK(MPI_Cart_create(MPI_COMM_WORLD, 0, NULL, NULL, 0, &grid));
    CHECK_INT(grid != MPI_COMM_NULL, rank == 0);
    if (grid != MPI_COMM_NULL) {
        CHECK_OK(MPI_Cartdim_get(grid, &count));
        CHECK_INT(count, 0);
        CHECK_OK(MPI_Cart_rank(grid, NULL, &place));
        CHECK_INT(place, 0);
        CHECK_OK(MPI_Cart_coords(grid, 0, 0, NULL));
        CHECK_OK(MPI_Cart_sub(grid, NULL, &copy));
        CHECK_OK(MPI_Comm_free(&copy));
        CHECK_OK(MPI_Comm_dup(grid, &copy));
        CHECK_OK(MPI_Topo_test(copy, &kind));
        CHECK_INT(kind, MPI_CART);
        CHECK_OK(MPI_Comm_free(&copy));
        CHECK_OK(MPI_Comm_free(&grid));
    }
    CHECK_OK(MPI_Graph_create(MPI_COMM_WORLD, 0, NULL, NULL, 0, &graph));
    CHECK(graph == MPI_COMM_NULL);
    CHECK_OK(MPI_Dist_graph_create(MPI_COMM_WORLD, 0, NULL, NULL, NULL, MPI_WEIGHTS_EMPTY, MPI_INFO_NULL, 0, &graph));
    CHECK_OK(MPI_Dist_graph_neighbors_count(graph, &in, &out, &weighted));
    CHECK_INT(in, 0);
    CHECK_INT(out, 0);
    CHECK(weighted);
    CHECK_OK(MPI_Dist_graph_neighbors(graph, 0, NULL, MPI_WEIGHTS_EMPTY, 0, NULL, MPI_WEIGHTS_EMPTY));
    CHECK_OK(MPI_Comm_free(&graph));
    CHECK_OK(MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 0, NULL, MPI_UNWEIGHTED, 0, NULL, MPI_UNWEIGHTED,
                                            MPI_INFO_NULL, 0, &graph));
    CHECK_OK(MPI_Topo_test(graph, &kind));
    CHECK_INT(kind, MPI_DIST_GRAPH);
    CHECK_OK(MPI_Comm_free(&graph));
    return end();
}
