/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 */
/* MPI_Reduce_local puts in op inout into inout; long and odd counts, unaligned buffers too. */
#include "check.h"

int main(int argc, char **argv)
{
    start(&argc, &argv);
    return_errors(MPI_COMM_WORLD);
    int commutes = -1;
    MPI_Op null = MPI_OP_NULL, sum = MPI_SUM;
    for (int n = 0; n < 2000; n = n * 3 / 2 + 1) {
        char *a = allocate((size_t) n * 8 + 8), *b = allocate((size_t) n * 8 + 8);
        for (int shift = 0; shift < 8; shift += 4) {
            for (int i = 0; i < n; i++) {
                int x = i * 3, y = 100 - i;
                memcpy(a + shift + 4 * i, &x, 4);
                memcpy(b + shift + 4 * i, &y, 4);
            }
            CHECK_OK(MPI_Reduce_local(a + shift, b + shift, n, MPI_INT, MPI_MAX));
            for (int i = 0; i < n; i++) {
                int got, expected = i * 3 > 100 - i ? i * 3 : 100 - i;
                memcpy(&got, b + shift + 4 * i, 4);
                CHECK_INT(got, expected);
                memcpy(&got, a + shift + 4 * i, 4);
                CHECK_INT(got, i * 3);
            }
        }
        free(a);
        free(b);
    }
    int old = 5, new = 7;
    CHECK_OK(MPI_Op_commutative(MPI_SUM, &commutes));
    CHECK_INT(commutes, 1);
    CHECK_CLASS(MPI_Reduce_local(&new, &old, 1, MPI_FLOAT, MPI_LAND), MPI_ERR_OP);
    CHECK_CLASS(MPI_Reduce_local(&new, &old, 1, MPI_INT, MPI_MINLOC), MPI_ERR_OP);
    CHECK_CLASS(MPI_Op_free(&null), MPI_ERR_OP);
    CHECK_CLASS(MPI_Op_free(&sum), MPI_ERR_OP);
    return end();
}
