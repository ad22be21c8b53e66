/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 */
/* MPI_Dims_create: as square as possible, descending, given dimensions kept, nonsense refused. */
#include "check.h"

int main(int argc, char **argv)
{
    static const struct { int n, ndims, given[4], expected[4]; } cases[] = {
        { 1, 1, { 0 }, { 1 } }, { 6, 2, { 0, 0 }, { 3, 2 } }, { 7, 2, { 0, 0 }, { 7, 1 } },
        { 6, 3, { 0, 3, 0 }, { 2, 3, 1 } }, { 12, 2, { 0, 0 }, { 4, 3 } },
        { 16, 2, { 0, 0 }, { 4, 4 } }, { 16, 3, { 0, 0, 0 }, { 4, 2, 2 } },
        { 24, 3, { 0, 0, 0 }, { 4, 3, 2 } }, { 60, 3, { 0, 0, 0 }, { 5, 4, 3 } },
        { 64, 3, { 0, 0, 0 }, { 4, 4, 4 } }, { 64, 4, { 0, 0, 0, 0 }, { 4, 4, 2, 2 } },
        { 100, 2, { 0, 0 }, { 10, 10 } }, { 36, 2, { 0, 0 }, { 6, 6 } },
        { 48, 2, { 0, 0 }, { 8, 6 } }, { 1000, 3, { 0, 0, 0 }, { 10, 10, 10 } },
        { 12, 3, { 2, 0, 0 }, { 2, 3, 2 } }, { 12, 2, { 0, 12 }, { 1, 12 } },
        { 12, 2, { 3, 4 }, { 3, 4 } }, { 30, 3, { 0, 0, 0 }, { 5, 3, 2 } },
        { 1024, 2, { 0, 0 }, { 32, 32 } }, { 13, 3, { 0, 0, 0 }, { 13, 1, 1 } },
        { 1048576, 3, { 0, 0, 0 }, { 128, 128, 64 } }, { 5, 1, { 0 }, { 5 } },
    };
    start(&argc, &argv);
    return_errors(MPI_COMM_WORLD);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        int dims[4];
        memcpy(dims, cases[i].given, sizeof dims);
        CHECK_OK(MPI_Dims_create(cases[i].n, cases[i].ndims, dims));
        for (int d = 0; d < cases[i].ndims; d++)
            if (dims[d] != cases[i].expected[d])
                FAIL("%d ranks in %d dimensions: dimension %d: got %d, expected %d", cases[i].n,
                     cases[i].ndims, d, dims[d], cases[i].expected[d]);
    }
    /* What always holds. */
    for (int n = 1; n <= 3000; n++) {
        for (int ndims = 1; ndims <= 4; ndims++) {
            int dims[4] = { 0, 0, 0, 0 }, product = 1;
            CHECK_OK(MPI_Dims_create(n, ndims, dims));
            for (int d = 0; d < ndims; d++) {
                product *= dims[d];
                CHECK(d == 0 || dims[d] <= dims[d - 1]);
            }
            CHECK_INT(product, n);
            /* In two dimensions "as close as possible" has one answer. */
            if (ndims == 2)
                for (int a = dims[1] + 1; a * a <= n; a++)
                    CHECK(n % a != 0);
        }
    }
    CHECK(MPI_Dims_create(7, 2, (int[]) { 2, 0 }) != MPI_SUCCESS);
    CHECK(MPI_Dims_create(12, 2, (int[]) { 3, 5 }) != MPI_SUCCESS);
    CHECK(MPI_Dims_create(12, 2, (int[]) { -3, 0 }) != MPI_SUCCESS);
    return end();
}
