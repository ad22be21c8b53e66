/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 2 3 */
/* MPI_BOTTOM with absolute addresses: several variables anywhere in memory as one message. */
#include "check.h"

static int global = 0;

int main(int argc, char **argv)
{
    start(&argc, &argv);
    int to = (rank + 1) % size, from = (rank + size - 1) % size, local = 0;
    double *heap = allocate(100 * sizeof(double));
    for (int round = 0; round < 2; round++) {
        int lengths[] = { 1, 1, 100 };
        MPI_Aint at[3];
        MPI_Datatype types[] = { MPI_INT, MPI_INT, MPI_DOUBLE }, type;
        MPI_Request request;
        int *out_ints = allocate(2 * sizeof(int));
        double *out_heap = allocate(100 * sizeof(double));
        out_ints[0] = rank + 1;
        out_ints[1] = rank + 2;
        for (int i = 0; i < 100; i++)
            out_heap[i] = i * 0.25 + rank;
        CHECK_OK(MPI_Get_address(&out_ints[0], &at[0]));
        CHECK_OK(MPI_Get_address(&out_ints[1], &at[1]));
        CHECK_OK(MPI_Get_address(out_heap, &at[2]));
        CHECK_OK(MPI_Type_create_struct(3, lengths, at, types, &type));
        CHECK_OK(MPI_Type_commit(&type));
        CHECK_OK(MPI_Isend(MPI_BOTTOM, 1, type, to, 1, MPI_COMM_WORLD, &request));
        CHECK_OK(MPI_Type_free(&type));

        CHECK_OK(MPI_Get_address(&global, &at[0]));
        CHECK_OK(MPI_Get_address(&local, &at[1]));
        CHECK_OK(MPI_Get_address(heap, &at[2]));
        CHECK_OK(MPI_Type_create_struct(3, lengths, at, types, &type));
        CHECK_OK(MPI_Type_commit(&type));
        CHECK_OK(MPI_Recv(MPI_BOTTOM, 1, type, from, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
        CHECK_INT(global, from + 1);
        CHECK_INT(local, from + 2);
        for (int i = 0; i < 100; i++)
            CHECK(heap[i] == i * 0.25 + from);
        /* And in a collective. */
        if (rank == 0)
            global = 99;
        CHECK_OK(MPI_Bcast(MPI_BOTTOM, 1, type, 0, MPI_COMM_WORLD));
        CHECK_INT(global, 99);
        CHECK_OK(MPI_Type_free(&type));
        free(out_ints);
        free(out_heap);
    }
    MPI_Aint a, b;
    CHECK_OK(MPI_Get_address(heap, &a));
    CHECK_OK(MPI_Get_address(heap + 7, &b));
    CHECK_INT(MPI_Aint_diff(b, a), 7 * sizeof(double));
    CHECK_INT(MPI_Aint_add(a, 56), b);
    free(heap);
    return end();
}
