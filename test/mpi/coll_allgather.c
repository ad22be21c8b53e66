/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 2 3 4 5 8; long: 7 16 */
/* MPI_Allgather and MPI_Allgatherv, in place or not, with gaps, empty parts and one long part. */
#include "check.h"

int main(int argc, char **argv)
{
    static const int counts[] = { 0, 1, 2, 33, 700, 5000, 60000 };
    start(&argc, &argv);
    for (int c = 0; c < 7; c++) {
        int n = counts[c], room = (n * 4 + 2) * size + 2;
        int *mine = allocate((size_t) n * 16 + 4), *all = allocate((size_t) room * 4);
        int lengths[64], places[64];
        for (int i = 0; i < n * 4; i++)
            mine[i] = rank * 1000000 + i;
        for (int in_place = 0; in_place < 2; in_place++) {
            memset(all, -1, (size_t) room * 4);
            if (in_place)
                memcpy(all + rank * n, mine, (size_t) n * 4);
            CHECK_OK(MPI_Allgather(in_place ? MPI_IN_PLACE : mine, n, MPI_INT, all, n, MPI_INT,
                                   MPI_COMM_WORLD));
            for (int i = 0; i < n * size; i++)
                CHECK_INT(all[i], i / n * 1000000 + i % n);
            CHECK_INT(all[n * size], -1);
            for (int kind = 0; kind < 3; kind++) {
                int at = 1;
                for (int k = 0; k < size; k++) {
                    /* Ascending, in reverse, and with one part of four times the length. */
                    int r = kind == 1 ? size - 1 - k : k;
                    lengths[r] = n - (n > 0) * (r % 2);
                    if (kind == 2)
                        lengths[r] = r == size / 2 ? 4 * n : r % 2;
                    places[r] = at;
                    at += lengths[r] + 1;
                }
                memset(all, -1, (size_t) room * 4);
                if (in_place)
                    memcpy(all + places[rank], mine, (size_t) lengths[rank] * 4);
                if (n == 0)
                    memset(lengths, 0, sizeof lengths);
                CHECK_OK(MPI_Allgatherv(in_place ? MPI_IN_PLACE : mine, lengths[rank], MPI_INT, all,
                                        lengths, places, MPI_INT, MPI_COMM_WORLD));
                for (int r = 0; n > 0 && r < size; r++) {
                    CHECK_INT(all[places[r] - 1], -1);
                    for (int i = 0; i < lengths[r]; i++)
                        CHECK_INT(all[places[r] + i], r * 1000000 + i);
                    CHECK_INT(all[places[r] + lengths[r]], -1);
                }
            }
        }
        free(mine);
        free(all);
    }
    return end();
}
