/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 2 */
/* Wrong counts, types and roots of collectives come back as errors and do not hang the others. */
#include "check.h"

int main(int argc, char **argv)
{
    start(&argc, &argv);
    return_errors(MPI_COMM_WORLD);
    MPI_Comm comm = MPI_COMM_WORLD;
    int a[4] = { 1, 2, 3, 4 }, b[4] = { 0 }, bad[2] = { -1, -1 }, zero[2] = { 0, 0 };
    CHECK_CLASS(MPI_Reduce(a, b, 1, MPI_INT, MPI_SUM, 2, comm), MPI_ERR_ROOT);
    CHECK_CLASS(MPI_Gather(a, 1, MPI_INT, b, 1, MPI_INT, -1, comm), MPI_ERR_ROOT);
    CHECK_CLASS(MPI_Scatter(a, 1, MPI_INT, b, 1, MPI_INT, 99, comm), MPI_ERR_ROOT);
    CHECK_CLASS(MPI_Allgather(a, -1, MPI_INT, b, -1, MPI_INT, comm), MPI_ERR_COUNT);
    CHECK_CLASS(MPI_Alltoall(a, 1, MPI_DATATYPE_NULL, b, 1, MPI_INT, comm), MPI_ERR_TYPE);
    CHECK_CLASS(MPI_Scan(a, b, -1, MPI_INT, MPI_SUM, comm), MPI_ERR_COUNT);
    CHECK_CLASS(MPI_Scan(a, b, 1, MPI_INT, MPI_OP_NULL, comm), MPI_ERR_OP);
    CHECK_CLASS(MPI_Reduce_scatter(a, b, bad, MPI_INT, MPI_SUM, comm), MPI_ERR_COUNT);
    CHECK_CLASS(MPI_Alltoallv(a, bad, zero, MPI_INT, b, bad, zero, MPI_INT, comm), MPI_ERR_COUNT);
    CHECK_CLASS(MPI_Barrier(MPI_COMM_NULL), MPI_ERR_COMM);
    CHECK_OK(MPI_Allreduce(a, b, 4, MPI_INT, MPI_SUM, comm));
    for (int i = 0; i < 4; i++)
        CHECK_INT(b[i], 2 * a[i]);
    return end();
}
