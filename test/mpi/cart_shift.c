/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 4 6 8 */
/* MPI_Cart_shift by any displacement: neighbours wrap when periodic, else end in MPI_PROC_NULL. */
#include "check.h"

int main(int argc, char **argv)
{
    start(&argc, &argv);
    int dims[2] = { 0, 0 };
    CHECK_OK(MPI_Dims_create(size, 2, dims));
    for (int kind = 0; kind < 4; kind++) {
        int periods[] = { kind & 1, kind >> 1 }, mine[2], got;
        MPI_Comm cart;
        CHECK_OK(MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 1, &cart));
        CHECK_OK(MPI_Comm_rank(cart, &got));
        CHECK_OK(MPI_Cart_coords(cart, got, 2, mine));
        for (int d = 0; d < 2; d++) {
            for (int by = -5; by <= 5; by++) {
                int source, to, expected[2];
                CHECK_OK(MPI_Cart_shift(cart, d, by, &source, &to));
                for (int k = 0; k < 2; k++) {
                    int c[2] = { mine[0], mine[1] };
                    c[d] += k ? by : -by;
                    expected[k] = MPI_PROC_NULL;
                    if (periods[d])
                        c[d] = (c[d] % dims[d] + dims[d]) % dims[d];
                    if (c[d] >= 0 && c[d] < dims[d])
                        expected[k] = c[0] * dims[1] + c[1];
                }
                CHECK_INT(source, expected[0]);
                CHECK_INT(to, expected[1]);
                int out = rank * 10 + by, in = -1, from_world = -1;
                CHECK_OK(MPI_Sendrecv(&rank, 1, MPI_INT, to, 0, &from_world, 1, MPI_INT, source, 0,
                                      cart, MPI_STATUS_IGNORE));
                CHECK_OK(MPI_Sendrecv(&out, 1, MPI_INT, to, 1, &in, 1, MPI_INT, source, 1, cart,
                                      MPI_STATUS_IGNORE));
                CHECK_INT(in, source == MPI_PROC_NULL ? -1 : from_world * 10 + by);
            }
        }
        CHECK_OK(MPI_Comm_free(&cart));
    }
    return end();
}
