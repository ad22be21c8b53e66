/* SPDX-License-Identifier: BSD-3-Clause */

/* Cartesian arithmetic on grids that are never communicated over: rank <-> coordinates, shifts,
 * periods. */

#include "lib/mpi/object/comm.h"
#include "lib/mpi/procedures.h"
#include "lib/mpi/topo/topo.h"
#include "lib/rte/rte.h"
#include "lib/util/base/error.h"
#include "suite.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

enum { NDIMS_MAX = 4 };

/* A communicator of which only group and topology are there, as seen by `rank`. */
struct grid {
    struct tern_comm comm;
    struct tern_topo *topo;
};

static void make_grid(struct grid *grid, int rank, int ndims, const int dims[], const int periods[])
{
    struct tern_run run = {.first = 0, .stride = 1, .count = 1};
    for (int d = 0; d < ndims; d++)
        run.count *= dims[d];
    memset(grid, 0, sizeof *grid);
    tern_rte.rank = (uint32_t)rank;
    ck_assert_int_eq(tern_group_from_runs(&run, 1, &grid->comm.group), 0);
    grid->topo = grid->comm.topo = tern_topo_new_cart(ndims, dims, periods, rank);
    ck_assert_ptr_nonnull(grid->topo);
}

static void free_grid(struct grid *grid)
{
    tern_topo_release(grid->topo);
    tern_group_release(grid->comm.group);
}

static const int shapes[][NDIMS_MAX + 1] = {/* ndims, dims */
                                            {1, 1},       {1, 7},       {2, 3, 4},      {2, 4, 1},
                                            {3, 2, 3, 4}, {3, 1, 1, 5}, {4, 2, 3, 2, 3}};

/* Ranks are numbered by counting the last dimension fastest, and back. */
START_TEST(coordinates_count_row_by_row)
{
    const int *shape = shapes[_i];
    int periods[NDIMS_MAX] = {0}, expected[NDIMS_MAX] = {0}, coords[NDIMS_MAX], back;
    struct grid grid;
    make_grid(&grid, 0, shape[0], shape + 1, periods);
    for (int rank = 0; rank < grid.comm.group->size; rank++) {
        ck_assert_int_eq(tern_mpi_cart_coords(&grid.comm, rank, NDIMS_MAX, coords), 0);
        for (int d = 0; d < shape[0]; d++)
            ck_assert_int_eq(coords[d], expected[d]);
        ck_assert_int_eq(tern_mpi_cart_rank(&grid.comm, coords, &back), 0);
        ck_assert_int_eq(back, rank);
        for (int d = shape[0] - 1; d >= 0 && ++expected[d] == shape[d + 1]; d--)
            expected[d] = 0;
    }
    free_grid(&grid);
}
END_TEST

/* A shift is what the rank at the shifted coordinates says. */
START_TEST(shifts_equal_coordinates)
{
    const int *shape = shapes[_i];
    int ndims = shape[0], size = 1;
    for (int d = 0; d < ndims; d++)
        size *= shape[d + 1];
    for (int mask = 0; mask < 1 << ndims; mask++)
        for (int rank = 0; rank < size; rank++) {
            int periods[NDIMS_MAX], coords[NDIMS_MAX];
            struct grid grid;
            for (int d = 0; d < ndims; d++)
                periods[d] = mask >> d & 1;
            make_grid(&grid, rank, ndims, shape + 1, periods);
            for (int d = 0; d < ndims; d++)
                for (int disp = -9; disp <= 9; disp++) {
                    int found[2];
                    ck_assert_int_eq(tern_mpi_cart_shift(&grid.comm, d, disp, &found[0], &found[1]),
                                     0);
                    for (int side = 0; side < 2; side++) {
                        int expected, there;
                        tern_mpi_cart_coords(&grid.comm, rank, ndims, coords);
                        there = coords[d] += side ? disp : -disp;
                        if (!periods[d] && (there < 0 || there >= shape[d + 1]))
                            expected = MPI_PROC_NULL;
                        else
                            ck_assert_int_eq(tern_mpi_cart_rank(&grid.comm, coords, &expected), 0);
                        ck_assert_int_eq(found[side], expected);
                    }
                }
            free_grid(&grid);
        }
}
END_TEST

START_TEST(periodic_coordinates_wrap)
{
    const int dims[] = {3, 4}, periods[] = {1, 0}, coords[] = {-4, 2}, outside[] = {0, 4},
              before[] = {0, -1};
    struct grid grid;
    int rank = -7;
    make_grid(&grid, 5, 2, dims, periods);
    ck_assert_int_eq(tern_mpi_cart_rank(&grid.comm, coords, &rank), 0);
    ck_assert_int_eq(rank, 2 * 4 + 2);
    ck_assert_int_eq(tern_mpi_cart_rank(&grid.comm, outside, &rank), TERN_ERR_ARG);
    ck_assert_int_eq(tern_mpi_cart_rank(&grid.comm, before, &rank), TERN_ERR_ARG);
    free_grid(&grid);
}
END_TEST

START_TEST(neighbours_of_a_grid_come_in_pairs)
{
    const int dims[] = {3, 4}, periods[] = {1, 0};
    struct tern_neighbors found;
    const int expected[] = {9, 5, 0, 2}; /* of rank 1 = (0, 1) */
    struct grid grid;
    make_grid(&grid, 1, 2, dims, periods);
    ck_assert_int_eq(tern_topo_neighbors(&grid.comm, &found), 0);
    ck_assert_int_eq(found.indegree, 4);
    ck_assert_int_eq(found.outdegree, 4);
    ck_assert(found.grid);
    ck_assert_mem_eq(found.sources, expected, sizeof expected);
    ck_assert_mem_eq(found.destinations, expected, sizeof expected);
    free_grid(&grid);
    make_grid(&grid, 0, 2, dims, periods);
    ck_assert_int_eq(tern_topo_neighbors(&grid.comm, &found), 0);
    ck_assert_int_eq(found.sources[2], MPI_PROC_NULL);
    free_grid(&grid);
}
END_TEST

START_TEST(graph_neighbours_are_those_of_the_list)
{
    /* The example of MPI-4.1: 0-1, 0-3, 2-3 */
    const int index[] = {2, 3, 4, 6}, edges[] = {1, 3, 0, 3, 0, 2};
    const int counts[] = {2, 1, 1, 2};
    const struct tern_run run = {.first = 0, .stride = 1, .count = 4};
    for (int rank = 0; rank < 4; rank++) {
        struct tern_comm comm = {0};
        struct tern_neighbors found;
        int *ints, count, neighbors[2];
        tern_rte.rank = (uint32_t)rank;
        ck_assert_int_eq(tern_group_from_runs(&run, 1, &comm.group), 0);
        comm.topo = tern_topo_new(TERN_TOPO_GRAPH, 10, &ints);
        comm.topo->graph.nnodes = 4;
        comm.topo->graph.nedges = 6;
        comm.topo->graph.index = memcpy(ints, index, sizeof index);
        comm.topo->graph.edges = memcpy(ints + 4, edges, sizeof edges);
        ck_assert_int_eq(tern_mpi_graph_neighbors_count(&comm, rank, &count), 0);
        ck_assert_int_eq(count, counts[rank]);
        ck_assert_int_eq(tern_mpi_graph_neighbors(&comm, rank, 2, neighbors), 0);
        const int *mine = edges + (rank ? index[rank - 1] : 0);
        ck_assert_mem_eq(neighbors, mine, (size_t)count * sizeof *mine);
        ck_assert_int_eq(tern_topo_neighbors(&comm, &found), 0);
        ck_assert_int_eq(found.indegree, count);
        ck_assert_int_eq(found.outdegree, count);
        ck_assert(!found.grid);
        ck_assert_mem_eq(found.sources, mine, (size_t)count * sizeof *mine);
        ck_assert_mem_eq(found.destinations, mine, (size_t)count * sizeof *mine);
        ck_assert_int_eq(tern_mpi_graph_neighbors_count(&comm, 4, &count), TERN_ERR_RANK);
        ck_assert_int_eq(tern_mpi_cartdim_get(&comm, &count), TERN_ERR_TOPOLOGY);
        tern_topo_release(comm.topo);
        tern_group_release(comm.group);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("topo");
    TCase *tests = suite_case(suite, "topo");
    int shape_count = (int)(sizeof shapes / sizeof *shapes);
    tcase_add_loop_test(tests, coordinates_count_row_by_row, 0, shape_count);
    tcase_add_loop_test(tests, shifts_equal_coordinates, 0, shape_count);
    tcase_add_test(tests, periodic_coordinates_wrap);
    tcase_add_test(tests, neighbours_of_a_grid_come_in_pairs);
    tcase_add_test(tests, graph_neighbours_are_those_of_the_list);
    return suite_run(suite);
}
