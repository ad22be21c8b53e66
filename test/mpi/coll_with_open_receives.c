/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 2 4 */
/* Collectives never match the program's own wildcards, and open requests progress meanwhile. */
#include "check.h"

int main(int argc, char **argv)
{
    start(&argc, &argv);
    int to = (rank + 1) % size, from = (rank + size - 1) % size;
    int *big = allocate(800000), *got = allocate(800000), *all = allocate((size_t) size * 4000);
    for (int round = 0; round < 5; round++) {
        MPI_Request receive, send;
        MPI_Status status;
        int x = rank, sum = 0, block[1000];
        for (int i = 0; i < 200000; i++)
            big[i] = rank + round + i;
        CHECK_OK(MPI_Irecv(got, 200000, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD,
                           &receive));
        CHECK_OK(MPI_Allreduce(&x, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
        CHECK_INT(sum, size * (size - 1) / 2);
        for (int i = 0; i < 1000; i++)
            block[i] = rank + i;
        CHECK_OK(MPI_Allgather(block, 1000, MPI_INT, all, 1000, MPI_INT, MPI_COMM_WORLD));
        for (int i = 0; i < 1000 * size; i++)
            CHECK_INT(all[i], i / 1000 + i % 1000);
        CHECK_OK(MPI_Isend(big, 200000, MPI_INT, to, 3, MPI_COMM_WORLD, &send));
        CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
        CHECK_OK(MPI_Bcast(&sum, 1, MPI_INT, round % size, MPI_COMM_WORLD));
        CHECK_OK(MPI_Wait(&receive, &status));
        CHECK_INT(status.MPI_SOURCE, from);
        for (int i = 0; i < 200000; i++)
            CHECK_INT(got[i], from + round + i);
        CHECK_OK(MPI_Wait(&send, MPI_STATUS_IGNORE));
    }
    free(big);
    free(got);
    free(all);
    return end();
}
