/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 4 6 8 */
/* Cartesian communicators number ranks row-major; coordinates and ranks convert both ways. */
#include "check.h"

static void check_grid(int ndims, const int dims[], const int periods[])
{
    MPI_Comm cart;
    int used = 1, n, topo, got, d[4], p[4], c[4];
    for (int i = 0; i < ndims; i++)
        used *= dims[i];
    CHECK_OK(MPI_Cart_create(MPI_COMM_WORLD, ndims, dims, periods, 0, &cart));
    CHECK((cart == MPI_COMM_NULL) == (rank >= used));
    if (cart == MPI_COMM_NULL)
        return;
    CHECK_OK(MPI_Comm_size(cart, &n));
    CHECK_INT(n, used);
    CHECK_OK(MPI_Topo_test(cart, &topo));
    CHECK_INT(topo, MPI_CART);
    CHECK_OK(MPI_Cartdim_get(cart, &got));
    CHECK_INT(got, ndims);
    CHECK_OK(MPI_Cart_get(cart, ndims, d, p, c));
    for (int i = 0, rest = rank, below = used; i < ndims; i++) {
        below /= dims[i];
        CHECK_INT(d[i], dims[i]);
        CHECK_INT(p[i] != 0, periods[i] != 0);
        CHECK_INT(c[i], rest / below);
        rest %= below;
    }
    for (int r = 0; r < used; r++) {
        CHECK_OK(MPI_Cart_coords(cart, r, ndims, c));
        CHECK_OK(MPI_Cart_rank(cart, c, &got));
        CHECK_INT(got, r);
        /* Periodic dimensions wrap, also below zero. */
        for (int i = 0; i < ndims; i++)
            if (periods[i])
                c[i] += dims[i] * (r % 2 ? -2 : 3);
        CHECK_OK(MPI_Cart_rank(cart, c, &got));
        CHECK_INT(got, r);
    }
    CHECK_OK(MPI_Comm_free(&cart));
}

int main(int argc, char **argv)
{
    start(&argc, &argv);
    int yes[] = { 1, 1, 1, 1 }, no[] = { 0, 0, 0, 0 }, mixed[] = { 1, 0, 1, 0 };
    for (int a = 1; a <= size; a++) {
        for (int b = 1; a * b <= size; b++) {
            for (int c = 1; a * b * c <= size; c++) {
                int dims[] = { a, b, c };
                check_grid(3, dims, mixed);
                if (c == 1)
                    check_grid(2, dims, yes);
                if (b * c == 1)
                    check_grid(1, dims, no);
            }
        }
    }
    /* No dimensions: one rank. */
    MPI_Comm cart;
    int n, topo;
    CHECK_OK(MPI_Cart_create(MPI_COMM_WORLD, 0, NULL, NULL, 0, &cart));
    CHECK((cart == MPI_COMM_NULL) == (rank > 0));
    if (cart != MPI_COMM_NULL) {
        CHECK_OK(MPI_Cartdim_get(cart, &n));
        CHECK_INT(n, 0);
        CHECK_OK(MPI_Comm_free(&cart));
    }
    CHECK_OK(MPI_Topo_test(MPI_COMM_WORLD, &topo));
    CHECK_INT(topo, MPI_UNDEFINED);
    /* A grid larger than the communicator is an error. */
    return_errors(MPI_COMM_WORLD);
    CHECK(MPI_Cart_create(MPI_COMM_WORLD, 2, (int[]) { size, 2 }, yes, 0, &cart) != MPI_SUCCESS);
    return end();
}
