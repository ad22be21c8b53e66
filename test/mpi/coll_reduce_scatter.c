/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 2 3 4 5 8; long: 7 16 */
/* MPI_Reduce_scatter with unequal and empty shares, and the block form, in place or not. */
#include "check.h"

static int value_of(int r, int i)
{
    return r * 13 + i * 3 % 1001;
}

static int sum_of(int i)
{
    int sum = 0;
    for (int r = 0; r < size; r++)
        sum += value_of(r, i);
    return sum;
}

int main(int argc, char **argv)
{
    static const int counts[] = { 0, 1, 2, 50, 1000, 30000 };
    start(&argc, &argv);
    for (int c = 0; c < 6; c++) {
        for (int kind = 0; kind < 3; kind++) {
            int shares[64], first = 0, total = 0;
            for (int r = 0; r < size; r++) {
                /* Equal, growing, or all on one rank. */
                shares[r] = kind == 0 ? counts[c] : kind == 1 ? counts[c] * r / size
                            : r == size / 2 ? counts[c] : 0;
                first += r < rank ? shares[r] : 0;
                total += shares[r];
            }
            int n = shares[rank];
            int *in = allocate((size_t) total * 4), *out = allocate((size_t) total * 4 + 4);
            for (int i = 0; i < total; i++)
                in[i] = value_of(rank, i);
            for (int in_place = 0; in_place < 2; in_place++) {
                memset(out, -1, (size_t) total * 4 + 4);
                if (in_place)
                    memcpy(out, in, (size_t) total * 4);
                CHECK_OK(MPI_Reduce_scatter(in_place ? MPI_IN_PLACE : in, out, shares, MPI_INT,
                                            MPI_SUM, MPI_COMM_WORLD));
                for (int i = 0; i < n; i++)
                    CHECK_INT(out[i], sum_of(first + i));
                if (!in_place)
                    CHECK_INT(out[n], -1);
                if (kind != 0)
                    continue;
                memset(out, -1, (size_t) total * 4 + 4);
                if (in_place)
                    memcpy(out, in, (size_t) total * 4);
                CHECK_OK(MPI_Reduce_scatter_block(in_place ? MPI_IN_PLACE : in, out, n, MPI_INT,
                                                  MPI_SUM, MPI_COMM_WORLD));
                for (int i = 0; i < n; i++)
                    CHECK_INT(out[i], sum_of(first + i));
                if (!in_place)
                    CHECK_INT(out[n], -1);
            }
            free(in);
            free(out);
        }
    }
    return end();
}
