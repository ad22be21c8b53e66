/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 4 6 */
/* Neighbourhood collectives on a grid exchange with the neighbours in the order of dimensions. */
#include "check.h"

int main(int argc, char **argv)
{
    start(&argc, &argv);
    int dims[2] = { 0, 0 }, periods[2] = { 1, 0 }, neighbors[4], out[4], in[4];
    MPI_Comm cart;
    CHECK_OK(MPI_Dims_create(size, 2, dims));
    CHECK_OK(MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 0, &cart));
    CHECK_OK(MPI_Cart_shift(cart, 0, 1, &neighbors[0], &neighbors[1]));
    CHECK_OK(MPI_Cart_shift(cart, 1, 1, &neighbors[2], &neighbors[3]));
    int value = rank * 3;
    memset(in, -1, sizeof in);
    CHECK_OK(MPI_Neighbor_allgather(&value, 1, MPI_INT, in, 1, MPI_INT, cart));
    for (int i = 0; i < 4; i++)
        CHECK_INT(in[i], neighbors[i] == MPI_PROC_NULL ? -1 : neighbors[i] * 3);
    for (int i = 0; i < 4; i++)
        out[i] = rank * 10 + i;
    memset(in, -1, sizeof in);
    CHECK_OK(MPI_Neighbor_alltoall(out, 1, MPI_INT, in, 1, MPI_INT, cart));
    /* What comes from the left was sent by it to its right; in a dimension of one or two ranks both
     * neighbours are the same rank, and each block still comes from the matching side. */
    for (int i = 0; i < 4; i++)
        CHECK_INT(in[i], neighbors[i] == MPI_PROC_NULL ? -1 : neighbors[i] * 10 + (i ^ 1));
    int counts[4] = { 1, 1, 1, 1 }, places[4] = { 3, 2, 1, 0 };
    memset(in, -1, sizeof in);
    CHECK_OK(MPI_Neighbor_allgatherv(&value, 1, MPI_INT, in, counts, places, MPI_INT, cart));
    for (int i = 0; i < 4; i++)
        CHECK_INT(in[3 - i], neighbors[i] == MPI_PROC_NULL ? -1 : neighbors[i] * 3);
    memset(in, -1, sizeof in);
    CHECK_OK(MPI_Neighbor_alltoallv(out, counts, (int[]) { 0, 1, 2, 3 }, MPI_INT, in, counts,
                                    places, MPI_INT, cart));
    for (int i = 0; i < 4; i++)
        CHECK_INT(in[3 - i], neighbors[i] == MPI_PROC_NULL ? -1 : neighbors[i] * 10 + (i ^ 1));
    CHECK_OK(MPI_Comm_free(&cart));
    return end();
}
