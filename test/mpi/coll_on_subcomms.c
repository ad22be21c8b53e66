/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 4 6 8 */
/* Overlapping row and column communicators run their collectives independently. */
#include "check.h"

int main(int argc, char **argv)
{
    start(&argc, &argv);
    int columns = 2, rows = size / 2, row = rank / columns, column = rank % columns;
    MPI_Comm across, down;
    CHECK_OK(MPI_Comm_split(MPI_COMM_WORLD, row, column, &across));
    CHECK_OK(MPI_Comm_split(MPI_COMM_WORLD, column, row, &down));
    for (int i = 0; i < 100; i++) {
        int x = rank + i, y = 0, many[64];
        CHECK_OK(MPI_Allreduce(&x, &y, 1, MPI_INT, MPI_SUM, across));
        CHECK_INT(y, 2 * (row * columns + i) + 1);
        CHECK_OK(MPI_Allgather(&x, 1, MPI_INT, many, 1, MPI_INT, down));
        for (int r = 0; r < rows; r++)
            CHECK_INT(many[r], r * columns + column + i);
        y = column == i % columns ? rank * 2 : -1;
        CHECK_OK(MPI_Bcast(&y, 1, MPI_INT, i % columns, across));
        CHECK_INT(y, (row * columns + i % columns) * 2);
        CHECK_OK(MPI_Barrier(i % 2 ? across : down));
    }
    CHECK_OK(MPI_Comm_free(&across));
    CHECK_OK(MPI_Comm_free(&down));
    return end();
}
