/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: singleton 1 */
/* A program started without a launcher is a job of one rank with everything that has. */
#include "check.h"

int main(int argc, char **argv)
{
    start(&argc, &argv);
    CHECK_INT(size, 1);
    CHECK_INT(rank, 0);
    MPI_Comm comm;
    int x = 4, y = 0, many[3] = { 1, 2, 3 }, out[3] = { 0, 0, 0 };
    MPI_Request request;
    CHECK_OK(MPI_Isend(&x, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, &request));
    CHECK_OK(MPI_Recv(&y, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    CHECK_INT(y, 4);
    CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    CHECK_OK(MPI_Allreduce(many, out, 3, MPI_INT, MPI_SUM, comm));
    CHECK_BYTES(out, many, sizeof many);
    CHECK_OK(MPI_Alltoall(many, 3, MPI_INT, out, 3, MPI_INT, comm));
    CHECK_OK(MPI_Barrier(comm));
    CHECK_OK(MPI_Comm_free(&comm));
    return end();
}
