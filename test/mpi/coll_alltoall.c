/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 2 3 4 5 8; long: 7 16 */
/* MPI_Alltoall of all size classes, in place or not, and with another type on the receiver. */
#include "check.h"

int main(int argc, char **argv)
{
    static const int counts[] = { 0, 1, 3, 20, 500, 3001, 40000 };
    start(&argc, &argv);
    for (int c = 0; c < 7; c++) {
        int n = counts[c], total = n * size;
        int *out = allocate((size_t) total * 4), *in = allocate((size_t) total * 8);
        MPI_Datatype block, resized;
        for (int i = 0; i < total; i++)
            out[i] = rank * 1000 + i / n * 10 + i % n % 10;
        memset(in, -1, (size_t) total * 4);
        CHECK_OK(MPI_Alltoall(out, n, MPI_INT, in, n, MPI_INT, MPI_COMM_WORLD));
        for (int i = 0; i < total; i++)
            CHECK_INT(in[i], i / n * 1000 + rank * 10 + i % n % 10);
        memcpy(in, out, (size_t) total * 4);
        CHECK_OK(MPI_Alltoall(MPI_IN_PLACE, 5, MPI_CHAR, in, n, MPI_INT, MPI_COMM_WORLD));
        for (int i = 0; i < total; i++)
            CHECK_INT(in[i], i / n * 1000 + rank * 10 + i % n % 10);
        /* A transpose: block r goes to every size-th place from r on. */
        CHECK_OK(MPI_Type_vector(n, 1, size, MPI_INT, &block));
        CHECK_OK(MPI_Type_create_resized(block, 0, 4, &resized));
        CHECK_OK(MPI_Type_commit(&resized));
        memset(in, -1, (size_t) total * 4);
        CHECK_OK(MPI_Alltoall(out, n, MPI_INT, in, 1, resized, MPI_COMM_WORLD));
        for (int i = 0; i < total; i++)
            CHECK_INT(in[i], i % size * 1000 + rank * 10 + i / size % 10);
        CHECK_OK(MPI_Type_free(&block));
        CHECK_OK(MPI_Type_free(&resized));
        free(out);
        free(in);
    }
    return end();
}
