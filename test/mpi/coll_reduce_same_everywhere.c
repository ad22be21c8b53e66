/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 2 3 4 5 8 */
/* A floating-point MPI_Allreduce gives the same bits on all ranks and in repeated calls. */
#include "check.h"

int main(int argc, char **argv)
{
    static const int counts[] = { 1, 9, 1000, 70000 };
    start(&argc, &argv);
    for (int c = 0; c < 4; c++) {
        int n = counts[c];
        uint64_t seed = (uint64_t) rank + 10;
        double *in = allocate((size_t) n * 8), *out = allocate((size_t) n * 8);
        double *again = allocate((size_t) n * 8), *first = allocate((size_t) n * 8);
        for (int i = 0; i < n; i++)
            in[i] = (random_below(&seed, 2000001) - 1000000) * 1e-3
                    / (1 + random_below(&seed, 999));
        CHECK_OK(MPI_Allreduce(in, out, n, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD));
        CHECK_OK(MPI_Allreduce(in, again, n, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD));
        CHECK_BYTES(again, out, (size_t) n * 8);
        memcpy(first, out, (size_t) n * 8);
        CHECK_OK(MPI_Bcast(first, n, MPI_DOUBLE, 0, MPI_COMM_WORLD));
        CHECK_BYTES(out, first, (size_t) n * 8);
        free(in);
        free(out);
        free(again);
        free(first);
    }
    return end();
}
