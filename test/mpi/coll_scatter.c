/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 2 3 4 5 8; long: 7 16 */
/* MPI_Scatter and MPI_Scatterv for every root, in place or not, with gaps and empty parts. */
#include "check.h"

int main(int argc, char **argv)
{
    static const int counts[] = { 0, 1, 5, 300, 2000, 40000 };
    start(&argc, &argv);
    for (int c = 0; c < 6; c++) {
        int n = counts[c], room = n * size * 2 + 3 * size;
        int *mine = allocate((size_t) n * sizeof(int)), *all = allocate((size_t) room * 4);
        int lengths[64], places[64];
        for (int root = 0; root < size; root++) {
            for (int i = 0; i < n * size; i++)
                all[i] = rank == root ? root * 7 + i : -1;
            memset(mine, -1, (size_t) n * 4);
            CHECK_OK(MPI_Scatter(all, n, MPI_INT, mine, n, MPI_INT, root, MPI_COMM_WORLD));
            for (int i = 0; i < n; i++)
                CHECK_INT(mine[i], root * 7 + rank * n + i);
            memset(mine, -1, (size_t) n * 4);
            CHECK_OK(MPI_Scatter(all, n, MPI_INT, rank == root ? MPI_IN_PLACE : mine, n, MPI_INT,
                                 root, MPI_COMM_WORLD));
            for (int i = 0; i < n; i++)
                CHECK_INT(mine[i], rank == root ? -1 : root * 7 + rank * n + i);
            for (int i = 0; i < n * size; i++)
                CHECK_INT(all[i], rank == root ? root * 7 + i : -1);
            for (int r = 0; r < size; r++) {
                lengths[r] = n > r % 3 ? n - r % 3 : 0;
                places[r] = (size - 1 - r) * (n + 2) + 1;
            }
            for (int i = 0; i < room; i++)
                all[i] = rank == root ? root * 3 + i : -1;
            for (int in_place = 0; in_place < 2; in_place++) {
                int skip = in_place && rank == root;
                memset(mine, -1, (size_t) n * 4);
                CHECK_OK(MPI_Scatterv(all, lengths, places, MPI_INT, skip ? MPI_IN_PLACE : mine,
                                      lengths[rank], MPI_INT, root, MPI_COMM_WORLD));
                for (int i = 0; i < n; i++) {
                    int there = i < lengths[rank] && !skip;
                    CHECK_INT(mine[i], there ? root * 3 + places[rank] + i : -1);
                }
            }
        }
        free(mine);
        free(all);
    }
    return end();
}
