/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 4 6 8 */
/* MPI_Cart_sub keeps the wanted dimensions: all eight choices of a 3-d grid. */
#include "check.h"

int main(int argc, char **argv)
{
    start(&argc, &argv);
    int dims[3] = { 0, 0, 0 }, periods[3] = { 1, 0, 1 }, mine[3];
    MPI_Comm cart, sub;
    CHECK_OK(MPI_Dims_create(size, 3, dims));
    CHECK_OK(MPI_Cart_create(MPI_COMM_WORLD, 3, dims, periods, 0, &cart));
    CHECK_OK(MPI_Cart_coords(cart, rank, 3, mine));
    for (int choice = 0; choice < 8; choice++) {
        int keep[3] = { choice & 1, choice >> 1 & 1, choice >> 2 & 1 }, ndims = 0, n = 1, at = 0;
        int d[3], p[3], c[3], got, sum = 0, one = 1;
        CHECK_OK(MPI_Cart_sub(cart, keep, &sub));
        CHECK(sub != MPI_COMM_NULL);
        for (int i = 0; i < 3; i++) {
            if (!keep[i])
                continue;
            ndims++;
            n *= dims[i];
            at = at * dims[i] + mine[i];
        }
        CHECK_OK(MPI_Comm_size(sub, &got));
        CHECK_INT(got, n);
        CHECK_OK(MPI_Comm_rank(sub, &got));
        CHECK_INT(got, at);
        CHECK_OK(MPI_Cartdim_get(sub, &got));
        CHECK_INT(got, ndims);
        CHECK_OK(MPI_Cart_get(sub, ndims, d, p, c));
        for (int i = 0, k = 0; i < 3; i++) {
            if (!keep[i])
                continue;
            CHECK_INT(d[k], dims[i]);
            CHECK_INT(p[k] != 0, periods[i]);
            CHECK_INT(c[k], mine[i]);
            k++;
        }
        CHECK_OK(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, sub));
        CHECK_INT(sum, n);
        CHECK_OK(MPI_Comm_free(&sub));
    }
    CHECK_OK(MPI_Comm_dup(cart, &sub));
    CHECK_OK(MPI_Topo_test(sub, &mine[0]));
    CHECK_INT(mine[0], MPI_CART);
    CHECK_OK(MPI_Comm_free(&sub));
    CHECK_OK(MPI_Comm_free(&cart));
    return end();
}
