/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 */
/* Wrong types and constructor arguments are refused with the right class. */
#include "check.h"

int main(int argc, char **argv)
{
    start(&argc, &argv);
    return_errors(MPI_COMM_WORLD);
    MPI_Datatype type, sub;
    MPI_Request request;
    int x = 0, sizes[] = { 4, 4 }, too_big[] = { 2, 5 }, starts[] = { 0, 0 };
    int lengths[] = { 1, -1 }, places[] = { 0, 8 };
    CHECK_OK(MPI_Type_contiguous(2, MPI_INT, &type));
    CHECK_CLASS(MPI_Send(&x, 1, type, MPI_PROC_NULL, 0, MPI_COMM_WORLD), MPI_ERR_TYPE);
    CHECK_CLASS(MPI_Irecv(&x, 1, type, 0, 0, MPI_COMM_WORLD, &request), MPI_ERR_TYPE);
    CHECK_CLASS(MPI_Bcast(&x, 1, type, 0, MPI_COMM_WORLD), MPI_ERR_TYPE);
    CHECK_CLASS(MPI_Send(&x, 1, MPI_DATATYPE_NULL, 0, 0, MPI_COMM_WORLD), MPI_ERR_TYPE);
    CHECK_OK(MPI_Type_free(&type));
    CHECK(type == MPI_DATATYPE_NULL);
    CHECK_CLASS(MPI_Type_contiguous(-1, MPI_INT, &type), MPI_ERR_COUNT);
    CHECK_CLASS(MPI_Type_vector(-1, 1, 1, MPI_INT, &type), MPI_ERR_COUNT);
    CHECK_CLASS(MPI_Type_contiguous(1, MPI_DATATYPE_NULL, &type), MPI_ERR_TYPE);
    CHECK(MPI_Type_vector(1, -1, 1, MPI_INT, &type) != MPI_SUCCESS);
    CHECK(MPI_Type_indexed(2, lengths, places, MPI_INT, &type) != MPI_SUCCESS);
    CHECK(MPI_Type_create_subarray(2, sizes, too_big, starts, MPI_ORDER_C, MPI_INT, &sub)
          != MPI_SUCCESS);
    CHECK(MPI_Type_create_subarray(2, sizes, sizes, sizes, MPI_ORDER_C, MPI_INT, &sub)
          != MPI_SUCCESS);
    type = MPI_DATATYPE_NULL;
    CHECK_CLASS(MPI_Type_free(&type), MPI_ERR_TYPE);
    type = MPI_INT;
    CHECK_CLASS(MPI_Type_free(&type), MPI_ERR_TYPE);
    return end();
}
