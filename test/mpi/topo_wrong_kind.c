/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 2 3 */
/* Questions about another kind of topology than the communicator has, or about none, are
 * MPI_ERR_TOPOLOGY, whichever handler is there; intercommunicators can have no topology. */
#include "check.h"

static int dims[1], periods[1], got[8];

static void no_grid(MPI_Comm comm)
{
    CHECK_CLASS(MPI_Cartdim_get(comm, got), MPI_ERR_TOPOLOGY);
    CHECK_CLASS(MPI_Cart_get(comm, 1, got, got + 1, got + 2), MPI_ERR_TOPOLOGY);
    CHECK_CLASS(MPI_Cart_rank(comm, dims, got), MPI_ERR_TOPOLOGY);
    CHECK_CLASS(MPI_Cart_coords(comm, 0, 1, got), MPI_ERR_TOPOLOGY);
    CHECK_CLASS(MPI_Cart_shift(comm, 0, 1, got, got + 1), MPI_ERR_TOPOLOGY);
    MPI_Comm sub;
    CHECK_CLASS(MPI_Cart_sub(comm, dims, &sub), MPI_ERR_TOPOLOGY);
}

static void no_graph(MPI_Comm comm)
{
    CHECK_CLASS(MPI_Graphdims_get(comm, got, got + 1), MPI_ERR_TOPOLOGY);
    CHECK_CLASS(MPI_Graph_get(comm, 1, 1, got, got + 1), MPI_ERR_TOPOLOGY);
    CHECK_CLASS(MPI_Graph_neighbors_count(comm, 0, got), MPI_ERR_TOPOLOGY);
    CHECK_CLASS(MPI_Graph_neighbors(comm, 0, 1, got), MPI_ERR_TOPOLOGY);
}

static void no_dist_graph(MPI_Comm comm)
{
    CHECK_CLASS(MPI_Dist_graph_neighbors_count(comm, got, got + 1, got + 2), MPI_ERR_TOPOLOGY);
    CHECK_CLASS(MPI_Dist_graph_neighbors(comm, 1, got, MPI_UNWEIGHTED, 1, got + 1, MPI_UNWEIGHTED),
                MPI_ERR_TOPOLOGY);
}

static void no_topology(MPI_Comm comm)
{
    int kind, value = 0;
    CHECK_OK(MPI_Topo_test(comm, &kind));
    CHECK_INT(kind, MPI_UNDEFINED);
    no_grid(comm);
    no_graph(comm);
    no_dist_graph(comm);
    CHECK_CLASS(MPI_Neighbor_allgather(&value, 1, MPI_INT, got, 1, MPI_INT, comm),
                MPI_ERR_TOPOLOGY);
}

static void wrong_arguments(MPI_Comm comm)
{
    int index[] = {1}, edges[] = {0}, weights[] = {-1}, outside[] = {size}, two[] = {size + 1, 1};
    MPI_Comm made;
    CHECK_CLASS(MPI_Cart_create(comm, 2, two, two, 0, &made), MPI_ERR_ARG); /* too large */
    two[0] = 0;
    CHECK_CLASS(MPI_Cart_create(comm, 2, two, two, 0, &made), MPI_ERR_DIMS);
    CHECK_CLASS(MPI_Cart_create(comm, -1, two, two, 0, &made), MPI_ERR_DIMS);
    CHECK_CLASS(MPI_Graph_create(comm, size + 1, index, edges, 0, &made), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Graph_create(comm, -1, index, edges, 0, &made), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Graph_create(comm, 1, index, outside, 0, &made), MPI_ERR_ARG);
    index[0] = -1;
    CHECK_CLASS(MPI_Graph_create(comm, 1, index, edges, 0, &made), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Dist_graph_create_adjacent(comm, 1, outside, MPI_UNWEIGHTED, 0, NULL,
                                               MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &made),
                MPI_ERR_RANK);
    CHECK_CLASS(MPI_Dist_graph_create_adjacent(comm, 0, NULL, MPI_UNWEIGHTED, 1, edges, weights,
                                               MPI_INFO_NULL, 0, &made),
                MPI_ERR_ARG);
    CHECK_CLASS(MPI_Dist_graph_create_adjacent(comm, 0, NULL, weights, 1, edges, weights,
                                               MPI_INFO_NULL, 0, &made),
                MPI_ERR_ARG);
    index[0] = 1;
    CHECK_CLASS(MPI_Dist_graph_create(comm, 1, edges, index, outside, MPI_UNWEIGHTED, MPI_INFO_NULL,
                                      0, &made),
                MPI_ERR_RANK);
    CHECK_CLASS(MPI_Dist_graph_create(comm, 1, edges, weights, edges, MPI_UNWEIGHTED, MPI_INFO_NULL,
                                      0, &made),
                MPI_ERR_ARG);
}

int main(int argc, char **argv)
{
    MPI_Comm comm;
    start(&argc, &argv);
    return_errors(MPI_COMM_WORLD);
    no_topology(MPI_COMM_WORLD);
    wrong_arguments(MPI_COMM_WORLD);
    dims[0] = size;
    CHECK_OK(MPI_Cart_create(MPI_COMM_WORLD, 1, dims, periods, 0, &comm));
    no_graph(comm);
    no_dist_graph(comm);
    CHECK_CLASS(MPI_Cart_coords(comm, size, 1, got), MPI_ERR_RANK);
    CHECK_CLASS(MPI_Cart_coords(comm, 0, 0, got), MPI_ERR_ARG);
    CHECK_OK(MPI_Comm_free(&comm));
    int index[] = {0, 0, 0};
    CHECK_OK(MPI_Graph_create(MPI_COMM_WORLD, size, index, NULL, 0, &comm));
    no_grid(comm);
    no_dist_graph(comm);
    CHECK_CLASS(MPI_Graph_neighbors_count(comm, size, got), MPI_ERR_RANK);
    CHECK_CLASS(MPI_Graph_neighbors(comm, -1, 1, got), MPI_ERR_RANK);
    CHECK_OK(MPI_Comm_free(&comm));
    CHECK_OK(MPI_Dist_graph_create(MPI_COMM_WORLD, 0, NULL, NULL, NULL, MPI_UNWEIGHTED,
                                   MPI_INFO_NULL, 1, &comm));
    no_grid(comm);
    no_graph(comm);
    MPI_Comm split;
    CHECK_OK(MPI_Comm_split(comm, 0, 0, &split)); /* only a duplicate keeps the topology */
    no_topology(split);
    CHECK_OK(MPI_Comm_free(&split));
    CHECK_OK(MPI_Comm_free(&comm));
    if (size > 1) {
        MPI_Comm half, inter;
        CHECK_OK(MPI_Comm_split(MPI_COMM_WORLD, rank == 0, 0, &half));
        CHECK_OK(MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, rank == 0 ? 1 : 0, 3, &inter));
        dims[0] = 1;
        CHECK_CLASS(MPI_Cart_create(inter, 1, dims, periods, 0, &comm), MPI_ERR_COMM);
        CHECK_CLASS(MPI_Graph_create(inter, 1, index, NULL, 0, &comm), MPI_ERR_COMM);
        CHECK_CLASS(MPI_Cart_map(inter, 1, dims, periods, got), MPI_ERR_COMM);
        CHECK_CLASS(MPI_Dist_graph_create(inter, 0, NULL, NULL, NULL, MPI_UNWEIGHTED, MPI_INFO_NULL,
                                          0, &comm),
                    MPI_ERR_COMM);
        CHECK_OK(MPI_Comm_free(&inter));
        CHECK_OK(MPI_Comm_free(&half));
    }
    return end();
}
