/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 2 4 5 */
/* A grid that keeps none of its dimensions is a grid of none, one process each: everything can be asked
 * and nothing is written, it has no neighbours, and a part of it is one again. */
#include "check.h"

static void check_point(MPI_Comm point)
{
    int n = -1, kind, untouched = 77, got[2] = {-7, -7}, value = 5, members;
    CHECK_OK(MPI_Comm_size(point, &members));
    CHECK_INT(members, 1);
    CHECK_OK(MPI_Topo_test(point, &kind));
    CHECK_INT(kind, MPI_CART);
    CHECK_OK(MPI_Cartdim_get(point, &n));
    CHECK_INT(n, 0);
    CHECK_OK(MPI_Cart_get(point, 0, NULL, NULL, NULL));
    CHECK_OK(MPI_Cart_get(point, 1, &untouched, &untouched, &untouched));
    CHECK_OK(MPI_Cart_coords(point, 0, 1, &untouched));
    CHECK_INT(untouched, 77);
    n = -1;
    CHECK_OK(MPI_Cart_rank(point, &untouched, &n)); /* coords is not significant */
    CHECK_INT(n, 0);
    n = -1;
    CHECK_OK(MPI_Cart_rank(point, NULL, &n));
    CHECK_INT(n, 0);
    CHECK_CLASS(MPI_Cart_shift(point, 0, 1, &got[0], &got[1]), MPI_ERR_DIMS);
    CHECK_INT(got[0], -7);
    CHECK_OK(MPI_Neighbor_allgather(&value, 1, MPI_INT, got, 1, MPI_INT, point));
    CHECK_OK(MPI_Neighbor_alltoall(&value, 1, MPI_INT, got, 1, MPI_INT, point));
    CHECK_INT(got[0], -7);
}

int main(int argc, char **argv)
{
    start(&argc, &argv);
    return_errors(MPI_COMM_WORLD);
    int dims[2] = {0, 0}, periods[2] = {1, 0}, none[2] = {0, 0};
    MPI_Comm grid, point, again, twin;
    CHECK_OK(MPI_Dims_create(size, 2, dims));
    for (int reorder = 0; reorder < 2; reorder++) {
        CHECK_OK(MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, reorder, &grid));
        CHECK_OK(MPI_Cart_sub(grid, none, &point));
        CHECK_OK(MPI_Comm_free(&grid));
        check_point(point);
        CHECK_OK(MPI_Cart_sub(point, none, &again));
        check_point(again);
        CHECK_OK(MPI_Comm_free(&again));
        CHECK_OK(MPI_Comm_dup(point, &twin));
        CHECK_OK(MPI_Comm_free(&point));
        check_point(twin);
        CHECK_OK(MPI_Comm_free(&twin));

        CHECK_OK(MPI_Cart_create(MPI_COMM_WORLD, 0, NULL, NULL, reorder, &point));
        int mine = point != MPI_COMM_NULL, all;
        CHECK_OK(MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
        CHECK_INT(all, 1);
        if (point != MPI_COMM_NULL) {
            check_point(point);
            CHECK_OK(MPI_Comm_free(&point));
        }
    }
    return end();
}
