/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 2 3 4 5 8; long: 7 16 */
/* MPI_Gather and MPI_Gatherv for every root, in place or not, with gaps and empty parts. */
#include "check.h"

int main(int argc, char **argv)
{
    static const int counts[] = { 0, 1, 5, 300, 2000, 40000 };
    start(&argc, &argv);
    for (int c = 0; c < 6; c++) {
        int n = counts[c], room = n * size * 2 + 3 * size;
        int *mine = allocate((size_t) n * sizeof(int)), *all = allocate((size_t) room * 4);
        int lengths[64], places[64];
        for (int i = 0; i < n; i++)
            mine[i] = rank * 100000 + i;
        for (int root = 0; root < size; root++) {
            memset(all, -1, (size_t) room * 4);
            CHECK_OK(MPI_Gather(mine, n, MPI_INT, all, n, MPI_INT, root, MPI_COMM_WORLD));
            for (int i = 0; i < n * size; i++)
                CHECK_INT(all[i], rank == root ? i / n * 100000 + i % n : -1);
            memset(all, -1, (size_t) room * 4);
            memcpy(all + rank * n, mine, (size_t) n * 4);
            CHECK_OK(MPI_Gather(rank == root ? MPI_IN_PLACE : mine, n, MPI_INT, all, n, MPI_INT,
                                root, MPI_COMM_WORLD));
            for (int i = 0; rank == root && i < n * size; i++)
                CHECK_INT(all[i], i / n * 100000 + i % n);
            /* Parts of n - r % 3 elements, in reverse order, with gaps. */
            for (int r = 0; r < size; r++) {
                lengths[r] = n > r % 3 ? n - r % 3 : 0;
                places[r] = (size - 1 - r) * (n + 2) + 1;
            }
            for (int in_place = 0; in_place < 2; in_place++) {
                memset(all, -1, (size_t) room * 4);
                if (in_place && rank == root)
                    memcpy(all + places[rank], mine, (size_t) lengths[rank] * 4);
                CHECK_OK(MPI_Gatherv(in_place && rank == root ? MPI_IN_PLACE : mine, lengths[rank],
                                     MPI_INT, all, lengths, places, MPI_INT, root, MPI_COMM_WORLD));
                for (int i = 0; i < (n + 2) * size; i++) {
                    int r = size - 1 - (i - 1) / (n + 2), k = (i - 1) % (n + 2), expected = -1;
                    if (rank == root && i > 0 && k < lengths[r])
                        expected = r * 100000 + k;
                    CHECK_INT(all[i], expected);
                }
            }
        }
        free(mine);
        free(all);
    }
    return end();
}
