/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 2; exit: nonzero; output: count is [0-9]+ elements of 4 bytes.* 2\^63; needs: MPI_Send_c MPI_Type_contiguous_c MPI_Allgatherv_c MPI_Alltoallw_c */
/* Bytes are counted in 63 bits. A count times a size beyond that, or such a type, is refused with a
 * message that says so, wherever it is given; nothing wraps round. The last one ends the job. */
#include "check.h"

#define LONG(call) CHECK_CLASS(call, MPI_ERR_COUNT)

int main(int argc, char **argv)
{
    start(&argc, &argv);
    return_errors(MPI_COMM_WORLD);
    return_errors(MPI_COMM_SELF);
    MPI_Comm comm = MPI_COMM_SELF;
    char x[64] = { 0 }, y[64] = { 0 };
    MPI_Count wide = (MPI_Count) 1 << 61, huge, counts_c[] = { wide }, counts[2] = { wide, 0 };
    MPI_Aint places_c[] = { 0 };
    int many = 1 << 30, places[] = { 0 };
    MPI_Datatype big, type, ints[] = { MPI_INT };
    MPI_Request request;
    MPI_Status status;
    CHECK_OK(MPI_Type_contiguous_c((MPI_Count) 1 << 40, MPI_BYTE, &big));
    CHECK_OK(MPI_Type_commit(&big));

    /* int counts of a big type */
    LONG(MPI_Send(x, many, big, 0, 0, comm));
    LONG(MPI_Isend(x, many, big, 0, 0, comm, &request));
    LONG(MPI_Recv(x, many, big, 0, 0, comm, &status));
    LONG(MPI_Bsend(x, many, big, 0, 0, comm));
    LONG(MPI_Send_init(x, many, big, 0, 0, comm, &request));
    LONG(MPI_Bcast(x, many, big, 0, comm));
    LONG(MPI_Gather(x, 1, MPI_INT, y, many, big, 0, comm));
    LONG(MPI_Allgatherv(x, 1, MPI_INT, y, &many, places, big, comm));
    LONG(MPI_Sendrecv(x, 1, MPI_INT, 0, 0, y, many, big, 0, 0, comm, &status));
    LONG(MPI_Sendrecv_replace(x, many, big, 0, 0, 0, 0, comm, &status));

    /* large counts of a small one: 2^61 * 4, which wraps to 0 in 63 bits */
    LONG(MPI_Send_c(x, wide, MPI_INT, 0, 0, comm));
    LONG(MPI_Irecv_c(x, wide, MPI_INT, 0, 0, comm, &request));
    LONG(MPI_Bcast_c(x, wide + 1, MPI_INT, 0, comm));
    LONG(MPI_Allreduce_c(x, y, wide, MPI_INT, MPI_SUM, comm));
    LONG(MPI_Reduce_local_c(x, y, wide, MPI_INT, MPI_SUM));
    LONG(MPI_Allgatherv_c(x, 1, MPI_INT, y, counts, places_c, MPI_INT, comm));
    LONG(MPI_Alltoallw_c(x, counts_c, places_c, ints, y, counts_c, places_c, ints, comm));
    LONG(MPI_Pack_size_c(wide, MPI_INT, comm, &huge));
    LONG(MPI_Pack_external_size_c((char[]) { "external32" }, wide, MPI_INT, &huge));

    /* types */
    CHECK_CLASS(MPI_Type_contiguous_c(wide, MPI_INT, &type), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Type_contiguous(many, big, &type), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Type_vector_c(2, 1, wide, MPI_INT, &type), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Type_create_resized_c(MPI_INT, INT64_MAX, 1, &type), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Type_create_hvector_c(3, 1, INT64_MAX / 2 + 1, MPI_INT, &type), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Type_indexed_c(1, counts_c, (MPI_Count[]) { 0 }, MPI_INT, &type), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Type_create_struct_c(1, counts_c, (MPI_Count[]) { 0 }, ints, &type), MPI_ERR_ARG);
    MPI_Count box[] = { wide, 2 }, part[] = { 1, 1 }, first[] = { 0, 0 };
    CHECK_CLASS(MPI_Type_create_subarray_c(2, box, part, first, MPI_ORDER_C, MPI_INT, &type),
                MPI_ERR_ARG);

    /* the longest that there is */
    CHECK_OK(MPI_Type_contiguous_c(INT64_MAX, MPI_BYTE, &type));
    CHECK_OK(MPI_Type_size_c(type, &huge));
    CHECK(huge == INT64_MAX);
    CHECK_OK(MPI_Status_set_elements_x(&status, MPI_BYTE, INT64_MAX));
    CHECK_OK(MPI_Get_elements_x(&status, type, &huge));
    CHECK(huge == INT64_MAX);
    CHECK_CLASS(MPI_Status_set_elements_x(&status, MPI_DOUBLE, INT64_MAX), MPI_ERR_ARG);
    CHECK_OK(MPI_Type_free(&type));
    CHECK_OK(MPI_Type_free(&big));
    CHECK_OK(MPI_Comm_set_errhandler(comm, MPI_ERRORS_ARE_FATAL));
    MPI_Send_c(x, wide, MPI_INT, 0, 0, comm);
    return 0;
}
