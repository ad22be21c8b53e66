/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 2 3 4 5 8; long: 7 16 */
/* MPI_Scan and MPI_Exscan, in place or not; rank 0's MPI_Exscan buffer stays as it was. */
#include "check.h"

int main(int argc, char **argv)
{
    static const int counts[] = { 0, 1, 2, 100, 5000, 200000 };
    start(&argc, &argv);
    for (int c = 0; c < 6; c++) {
        int n = counts[c];
        long *in = allocate((size_t) n * 8), *out = allocate((size_t) n * 8);
        for (int i = 0; i < n; i++)
            in[i] = (rank + 1) * 100000L + i;
        for (int in_place = 0; in_place < 2; in_place++) {
            memcpy(out, in, (size_t) n * 8);
            CHECK_OK(MPI_Scan(in_place ? MPI_IN_PLACE : in, out, n, MPI_LONG, MPI_SUM,
                              MPI_COMM_WORLD));
            for (int i = 0; i < n; i++)
                CHECK_INT(out[i], (rank + 1L) * (rank + 2) / 2 * 100000L + (rank + 1L) * i);
            for (int i = 0; i < n; i++)
                out[i] = in_place ? in[i] : -7;
            CHECK_OK(MPI_Exscan(in_place ? MPI_IN_PLACE : in, out, n, MPI_LONG, MPI_SUM,
                                MPI_COMM_WORLD));
            for (int i = 0; rank > 0 && i < n; i++)
                CHECK_INT(out[i], rank * (rank + 1L) / 2 * 100000L + (long) rank * i);
            for (int i = 0; rank == 0 && !in_place && i < n; i++)
                CHECK_INT(out[i], -7);
        }
        CHECK_OK(MPI_Scan(in, out, n, MPI_LONG, MPI_MAX, MPI_COMM_WORLD));
        CHECK_BYTES(out, in, (size_t) n * 8);
        free(in);
        free(out);
    }
    return end();
}
