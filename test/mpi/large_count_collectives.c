/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 2 3; needs: MPI_Bcast_c MPI_Allreduce_c MPI_Allgatherv_c MPI_Alltoallv_c */
/* Large-count collectives with MPI_Count arrays give what the int forms give. */
#include "check.h"

int main(int argc, char **argv)
{
    start(&argc, &argv);
    enum { N = 300 };
    MPI_Count counts[64];
    MPI_Aint places[64];
    int mine[N * 8], all[N * 8], sum[N];
    for (int i = 0; i < N; i++)
        mine[i] = rank * 1000 + i;
    CHECK_OK(MPI_Allreduce_c(mine, sum, N, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
    for (int i = 0; i < N; i++)
        CHECK_INT(sum[i], size * (size - 1) / 2 * 1000 + size * i);
    for (int r = 0; r < size; r++) {
        counts[r] = N - r;
        places[r] = (MPI_Aint) (size - 1 - r) * N;
    }
    memset(all, -1, sizeof all);
    CHECK_OK(MPI_Allgatherv_c(mine, counts[rank], MPI_INT, all, counts, places, MPI_INT,
                              MPI_COMM_WORLD));
    for (int r = 0; r < size; r++)
        for (int i = 0; i < N; i++)
            CHECK_INT(all[places[r] + i], i < N - r ? r * 1000 + i : -1);
    for (int r = 0; r < size; r++) {
        counts[r] = 10;
        places[r] = r * 20;
        for (int i = 0; i < 10; i++)
            mine[r * 20 + i] = rank * 100 + r * 10 + i;
    }
    memset(all, -1, sizeof all);
    CHECK_OK(MPI_Alltoallv_c(mine, counts, places, MPI_INT, all, counts, places, MPI_INT,
                             MPI_COMM_WORLD));
    for (int r = 0; r < size; r++)
        for (int i = 0; i < 10; i++)
            CHECK_INT(all[r * 20 + i], r * 100 + rank * 10 + i);
    CHECK_OK(MPI_Bcast_c(all, (MPI_Count) 10, MPI_INT, size - 1, MPI_COMM_WORLD));
    for (int i = 0; i < 10; i++)
        CHECK_INT(all[i], (size - 1) * 10 + i);
    return end();
}
