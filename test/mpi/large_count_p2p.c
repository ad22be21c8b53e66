/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 2; needs: MPI_Send_c MPI_Recv_c MPI_Get_count_c MPI_Type_vector_c MPI_Type_size_c */
/* The large-count twins do what the int forms do, and their queries are 64 bits wide. */
#include "check.h"

int main(int argc, char **argv)
{
    start(&argc, &argv);
    MPI_Datatype type, mega, giant;
    MPI_Status status;
    MPI_Count count = -1, bytes = -1, lb, extent, n = 50000;
    int *data = allocate(400000);
    CHECK_OK(MPI_Type_vector_c(n, 1, 2, MPI_INT, &type));
    CHECK_OK(MPI_Type_commit(&type));
    CHECK_OK(MPI_Type_size_c(type, &bytes));
    CHECK_INT(bytes, n * 4);
    CHECK_OK(MPI_Type_get_extent_c(type, &lb, &extent));
    CHECK_INT(extent, (2 * n - 1) * 4);
    if (rank == 0) {
        for (int i = 0; i < 100000; i++)
            data[i] = i;
        CHECK_OK(MPI_Send_c(data, 1, type, 1, 1, MPI_COMM_WORLD));
        CHECK_OK(MPI_Send_c(data, (MPI_Count) 7, MPI_INT, 1, 2, MPI_COMM_WORLD));
    } else {
        CHECK_OK(MPI_Recv_c(data, n, MPI_INT, 0, 1, MPI_COMM_WORLD, &status));
        CHECK_OK(MPI_Get_count_c(&status, MPI_INT, &count));
        CHECK_INT(count, n);
        for (int i = 0; i < n; i++)
            CHECK_INT(data[i], 2 * i);
        CHECK_OK(MPI_Recv_c(data, n, MPI_INT, 0, 2, MPI_COMM_WORLD, &status));
        CHECK_OK(MPI_Get_count_c(&status, MPI_INT, &count));
        CHECK_INT(count, 7);
    }
    /* 6 GiB of type, no memory behind it. */
    CHECK_OK(MPI_Type_contiguous_c((MPI_Count) 1 << 20, MPI_BYTE, &mega));
    CHECK_OK(MPI_Type_contiguous_c((MPI_Count) 6 << 10, mega, &giant));
    CHECK_OK(MPI_Type_size_c(giant, &bytes));
    CHECK_INT(bytes, (long long) 6 << 30);
    CHECK_OK(MPI_Type_free(&giant));
    CHECK_OK(MPI_Type_contiguous_c((MPI_Count) 5 << 30, MPI_BYTE, &giant));
    CHECK_OK(MPI_Type_size_c(giant, &bytes));
    CHECK_INT(bytes, (long long) 5 << 30);
    CHECK_OK(MPI_Type_free(&giant));
    CHECK_OK(MPI_Type_free(&mega));
    CHECK_OK(MPI_Type_free(&type));
    free(data);
    return end();
}
