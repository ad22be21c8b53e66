/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 2 */
/* A send type may read the same memory twice; small and large. */
#include "check.h"

int main(int argc, char **argv)
{
    static const int counts[] = { 3, 100, 50000 };
    start(&argc, &argv);
    for (int i = 0; i < 3; i++) {
        int n = counts[i];
        MPI_Datatype type;
        int *data = allocate((size_t) (n + 4) * sizeof(int));
        int *in = allocate((size_t) n * 4 * sizeof(int));
        /* Blocks of four ints, each one int after the last. */
        CHECK_OK(MPI_Type_vector(n, 4, 1, MPI_INT, &type));
        CHECK_OK(MPI_Type_commit(&type));
        for (int k = 0; k < n + 4; k++)
            data[k] = k * 3;
        if (rank == 0) {
            CHECK_OK(MPI_Send(data, 1, type, 1, 1, MPI_COMM_WORLD));
        } else {
            CHECK_OK(MPI_Recv(in, n * 4, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
            for (int k = 0; k < n * 4; k++)
                CHECK_INT(in[k], (k / 4 + k % 4) * 3);
        }
        CHECK_OK(MPI_Type_free(&type));
        free(data);
        free(in);
    }
    return end();
}
