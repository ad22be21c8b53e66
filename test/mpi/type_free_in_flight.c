/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 2 */
/* A type freed while messages or other types use it stays alive for them. */
#include "check.h"

int main(int argc, char **argv)
{
    static const int counts[] = { 10, 1000, 300000 };
    start(&argc, &argv);
    for (int i = 0; i < 3; i++) {
        int n = counts[i];
        MPI_Datatype inner, type;
        MPI_Request request;
        int *data = allocate((size_t) n * 2 * sizeof(int));
        CHECK_OK(MPI_Type_vector(1, 1, 1, MPI_INT, &inner));
        CHECK_OK(MPI_Type_vector(n, 1, 2, inner, &type));
        CHECK_OK(MPI_Type_free(&inner));
        CHECK(inner == MPI_DATATYPE_NULL);
        CHECK_OK(MPI_Type_commit(&type));
        if (rank == 0) {
            for (int k = 0; k < 2 * n; k++)
                data[k] = k;
            CHECK_OK(MPI_Isend(data, 1, type, 1, 1, MPI_COMM_WORLD, &request));
            CHECK_OK(MPI_Type_free(&type));
            CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
            CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
        } else {
            CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
            CHECK_OK(MPI_Irecv(data, 1, type, 0, 1, MPI_COMM_WORLD, &request));
            CHECK_OK(MPI_Type_free(&type));
            /* A new type may take the freed one's memory. */
            CHECK_OK(MPI_Type_contiguous(5, MPI_DOUBLE, &inner));
            CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
            CHECK_OK(MPI_Type_free(&inner));
            for (int k = 0; k < n; k++) {
                CHECK_INT(data[2 * k], 2 * k);
                CHECK_INT(data[2 * k + 1], 0);
            }
        }
        free(data);
    }
    return end();
}
