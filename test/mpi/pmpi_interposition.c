/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 2 */
/* A program may define MPI_Send itself and reach the library's by PMPI_Send, as profilers do. */
#include "check.h"

static int sends, receives;

int MPI_Send(const void *buffer, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm)
{
    sends++;
    return PMPI_Send(buffer, count, type, to, tag, comm);
}

int MPI_Recv(void *buffer, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm,
             MPI_Status *status)
{
    receives++;
    return PMPI_Recv(buffer, count, type, from, tag, comm, status);
}

int main(int argc, char **argv)
{
    start(&argc, &argv);
    int x = 8, y = 0, sum = 0;
    if (rank == 0) {
        CHECK_OK(MPI_Send(&x, 1, MPI_INT, 1, 1, MPI_COMM_WORLD));
        CHECK_OK(PMPI_Send(&x, 1, MPI_INT, 1, 2, MPI_COMM_WORLD));
    } else {
        CHECK_OK(MPI_Recv(&y, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        CHECK_OK(PMPI_Recv(&x, 1, MPI_INT, 0, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        CHECK_INT(y, 8);
    }
    CHECK_INT(sends, rank == 0);
    CHECK_INT(receives, rank == 1);
    /* The library's collectives use none of the program's functions. */
    CHECK_OK(PMPI_Allreduce(&x, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
    CHECK_INT(sum, 16);
    CHECK_INT(sends, rank == 0);
    CHECK_INT(receives, rank == 1);
    return end();
}
