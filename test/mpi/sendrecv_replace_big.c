/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 2 3 4 5 8 */
/* MPI_Sendrecv_replace of every size around a ring, also with a strided type. */
#include "check.h"

int main(int argc, char **argv)
{
    static const int sizes[] = { 0, 1, 1000, 4097, 65536, 262145, 1100000 };
    start(&argc, &argv);
    int right = (rank + 1) % size, left = (rank + size - 1) % size;
    for (int s = 0; s < 7; s++) {
        int n = sizes[s], count;
        MPI_Status status;
        MPI_Datatype every_second;
        int *data = allocate((size_t) n * 2 * sizeof(int));
        for (int i = 0; i < n; i++)
            data[i] = rank * 11 + i;
        CHECK_OK(MPI_Sendrecv_replace(data, n, MPI_INT, right, 1, left, 1, MPI_COMM_WORLD,
                                      &status));
        CHECK_INT(status.MPI_SOURCE, left);
        CHECK_OK(MPI_Get_count(&status, MPI_INT, &count));
        CHECK_INT(count, n);
        for (int i = 0; i < n; i++)
            CHECK_INT(data[i], left * 11 + i);

        CHECK_OK(MPI_Type_vector(n, 1, 2, MPI_INT, &every_second));
        CHECK_OK(MPI_Type_commit(&every_second));
        for (int i = 0; i < 2 * n; i++)
            data[i] = rank * 11 + i;
        CHECK_OK(MPI_Sendrecv_replace(data, 1, every_second, right, 2, MPI_ANY_SOURCE, 2,
                                      MPI_COMM_WORLD, &status));
        for (int i = 0; i < 2 * n; i++)
            CHECK_INT(data[i], (i % 2 ? rank : left) * 11 + i);
        CHECK_OK(MPI_Type_free(&every_second));
        free(data);
    }
    int value = 3;
    MPI_Status status;
    CHECK_OK(MPI_Sendrecv_replace(&value, 1, MPI_INT, MPI_PROC_NULL, 1, MPI_PROC_NULL, 1,
                                  MPI_COMM_WORLD, &status));
    CHECK_INT(value, 3);
    CHECK_INT(status.MPI_SOURCE, MPI_PROC_NULL);
    return end();
}
