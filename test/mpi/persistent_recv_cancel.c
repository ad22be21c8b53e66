/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 2 3 4 5 8 */
/* A started persistent receive can be cancelled and started again. */
#include "check.h"

int main(int argc, char **argv)
{
    start(&argc, &argv);
    MPI_Request receive, send;
    MPI_Status status;
    int in = 0, out = 5, flag;
    CHECK_OK(MPI_Recv_init(&in, 1, MPI_INT, rank, 1, MPI_COMM_WORLD, &receive));
    CHECK_OK(MPI_Send_init(&out, 1, MPI_INT, rank, 1, MPI_COMM_WORLD, &send));
    for (int i = 0; i < 3; i++) {
        CHECK_OK(MPI_Start(&receive));
        CHECK_OK(MPI_Cancel(&receive));
        CHECK_OK(MPI_Wait(&receive, &status));
        CHECK_OK(MPI_Test_cancelled(&status, &flag));
        CHECK_INT(flag, 1);
        CHECK(receive != MPI_REQUEST_NULL);
        out = 5 + i;
        CHECK_OK(MPI_Start(&receive));
        CHECK_OK(MPI_Start(&send));
        CHECK_OK(MPI_Wait(&receive, &status));
        CHECK_OK(MPI_Test_cancelled(&status, &flag));
        CHECK_INT(flag, 0);
        CHECK_INT(in, 5 + i);
        CHECK_OK(MPI_Wait(&send, MPI_STATUS_IGNORE));
    }
    CHECK_OK(MPI_Request_free(&receive));
    CHECK_OK(MPI_Request_free(&send));
    return end();
}
