/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 2 3 4 5 8; long: 7 16 */
/* MPI_Bcast from every root, all size classes, different types at root and leaves. */
#include "check.h"

int main(int argc, char **argv)
{
    static const int counts[] = { 0, 1, 3, 64, 1000, 4097, 50001, 600000 };
    start(&argc, &argv);
    for (int c = 0; c < 8; c++) {
        int n = counts[c];
        int *data = allocate((size_t) n * sizeof(int)), *wide = allocate((size_t) n * 8);
        MPI_Datatype strided;
        CHECK_OK(MPI_Type_vector(n, 1, 2, MPI_INT, &strided));
        CHECK_OK(MPI_Type_commit(&strided));
        for (int root = 0; root < size; root++) {
            for (int i = 0; i < n; i++)
                data[i] = rank == root ? root * 1000 + i : -1;
            CHECK_OK(MPI_Bcast(data, n, MPI_INT, root, MPI_COMM_WORLD));
            for (int i = 0; i < n; i++)
                CHECK_INT(data[i], root * 1000 + i);
            /* Odd ranks hold every second int, the others a contiguous array. */
            for (int i = 0; i < n; i++) {
                data[i] = rank == root ? root + 7 * i : -1;
                wide[2 * i] = data[i];
                wide[2 * i + 1] = -2;
            }
            if (rank % 2)
                CHECK_OK(MPI_Bcast(wide, 1, strided, root, MPI_COMM_WORLD));
            else
                CHECK_OK(MPI_Bcast(data, n, MPI_INT, root, MPI_COMM_WORLD));
            for (int i = 0; i < n; i++) {
                CHECK_INT(rank % 2 ? wide[2 * i] : data[i], root + 7 * i);
                CHECK_INT(wide[2 * i + 1], -2);
            }
        }
        CHECK_OK(MPI_Type_free(&strided));
        free(data);
        free(wide);
    }
    return end();
}
