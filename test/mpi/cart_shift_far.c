/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 2 3 6 8 */
/* Shifts by nothing, by more than the grid is long, backwards, and by the largest int: a period brings
 * them round, an end gives MPI_PROC_NULL, and coordinates far outside of a periodic grid are in it. */
#include "check.h"
#include <limits.h>

static int modulo(long long value, int divisor)
{
    long long rest = value % divisor;
    return (int)(rest < 0 ? rest + divisor : rest);
}

int main(int argc, char **argv)
{
    static const int shifts[] = {0, 1, -1, 2, -2, 7, -7, 1000, -1001, INT_MAX, -INT_MAX, INT_MIN};
    int dims[3] = {0, 1, 0};
    start(&argc, &argv);
    return_errors(MPI_COMM_WORLD);
    CHECK_OK(MPI_Dims_create(size, 3, dims));
    for (int kind = 0; kind < 8; kind++) {
        int periods[] = {kind & 1, kind >> 1 & 1, kind >> 2}, me, coords[3];
        MPI_Comm comm;
        CHECK_OK(MPI_Cart_create(MPI_COMM_WORLD, 3, dims, periods, 1, &comm));
        CHECK_OK(MPI_Comm_rank(comm, &me));
        CHECK_OK(MPI_Cart_coords(comm, me, 3, coords));
        for (int d = 0; d < 3; d++)
            for (size_t s = 0; s < sizeof shifts / sizeof *shifts; s++) {
                int got[2];
                CHECK_OK(MPI_Cart_shift(comm, d, shifts[s], &got[0], &got[1]));
                for (int side = 0; side < 2; side++) {
                    long long there = coords[d] + (side ? 1LL : -1LL) * shifts[s];
                    int at[] = {coords[0], coords[1], coords[2]}, expected = MPI_PROC_NULL;
                    if (periods[d] || (there >= 0 && there < dims[d])) {
                        at[d] = modulo(there, dims[d]);
                        expected = (at[0] * dims[1] + at[1]) * dims[2] + at[2];
                    }
                    CHECK_INT(got[side], expected);
                }
            }
        for (size_t s = 0; s < sizeof shifts / sizeof *shifts; s++) {
            int far[] = {shifts[s], 0, 0}, got = -1;
            if (periods[0]) {
                CHECK_OK(MPI_Cart_rank(comm, far, &got));
                CHECK_INT(got, modulo(shifts[s], dims[0]) * dims[1] * dims[2]);
            } else if (shifts[s] < 0 || shifts[s] >= dims[0]) {
                CHECK_CLASS(MPI_Cart_rank(comm, far, &got), MPI_ERR_ARG);
                CHECK_INT(got, -1);
            }
        }
        int a, b;
        CHECK_CLASS(MPI_Cart_shift(comm, 3, 1, &a, &b), MPI_ERR_DIMS);
        CHECK_CLASS(MPI_Cart_shift(comm, -1, 1, &a, &b), MPI_ERR_DIMS);
        CHECK_OK(MPI_Comm_free(&comm));
    }
    return end();
}
