/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 2 3 5 8; long: 16; args: 100; long-args: 5000 */
/* Collectives of changing kind and root without anything between them never mix up. */
#include "check.h"

int main(int argc, char **argv)
{
    start(&argc, &argv);
    int rounds = argument(argc, argv, 100);
    int *many = allocate((size_t) size * sizeof(int));
    for (int i = 0; i < rounds; i++) {
        int root = i * 7 % size, x = rank == root ? i : -1, y = -1;
        CHECK_OK(MPI_Bcast(&x, 1, MPI_INT, root, MPI_COMM_WORLD));
        CHECK_INT(x, i);
        x = rank + i;
        CHECK_OK(MPI_Reduce(&x, &y, 1, MPI_INT, MPI_SUM, root, MPI_COMM_WORLD));
        if (rank == root)
            CHECK_INT(y, size * (size - 1) / 2 + size * i);
        CHECK_OK(MPI_Gather(&x, 1, MPI_INT, many, 1, MPI_INT, (root + 1) % size, MPI_COMM_WORLD));
        for (int r = 0; rank == (root + 1) % size && r < size; r++)
            CHECK_INT(many[r], r + i);
        for (int r = 0; r < size; r++)
            many[r] = rank == root ? r * 3 + i : -1;
        CHECK_OK(MPI_Scatter(many, 1, MPI_INT, &y, 1, MPI_INT, root, MPI_COMM_WORLD));
        CHECK_INT(y, rank * 3 + i);
        if (i % 10 == 0)
            CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
        CHECK_OK(MPI_Scan(&x, &y, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
        CHECK_INT(y, (rank + 1) * rank / 2 + (rank + 1) * i);
    }
    free(many);
    return end();
}
