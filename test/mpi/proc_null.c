/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 2 */
/* Everything with MPI_PROC_NULL returns at once; receives and probes give its status. */
#include "check.h"

static void check_status(const MPI_Status *status)
{
    int count = -1;
    CHECK_INT(status->MPI_SOURCE, MPI_PROC_NULL);
    CHECK_INT(status->MPI_TAG, MPI_ANY_TAG);
    CHECK_OK(MPI_Get_count(status, MPI_INT, &count));
    CHECK_INT(count, 0);
}

int main(int argc, char **argv)
{
    start(&argc, &argv);
    MPI_Comm comm = MPI_COMM_WORLD;
    MPI_Status status;
    MPI_Request r[8];
    int x = 12, flag = 0, null = MPI_PROC_NULL;
    CHECK_OK(MPI_Send(&x, 1, MPI_INT, null, 1, comm));
    CHECK_OK(MPI_Ssend(&x, 1, MPI_INT, null, 1, comm));
    CHECK_OK(MPI_Rsend(&x, 1, MPI_INT, null, 1, comm));
    CHECK_OK(MPI_Recv(&x, 1, MPI_INT, null, 1, comm, &status));
    check_status(&status);
    CHECK_OK(MPI_Probe(null, MPI_ANY_TAG, comm, &status));
    check_status(&status);
    CHECK_OK(MPI_Iprobe(null, 3, comm, &flag, &status));
    CHECK_INT(flag, 1);
    check_status(&status);
    CHECK_OK(MPI_Isend(&x, 1, MPI_INT, null, 1, comm, &r[0]));
    CHECK_OK(MPI_Issend(&x, 1, MPI_INT, null, 1, comm, &r[1]));
    CHECK_OK(MPI_Irsend(&x, 1, MPI_INT, null, 1, comm, &r[2]));
    CHECK_OK(MPI_Irecv(&x, 1, MPI_INT, null, 1, comm, &r[3]));
    CHECK_OK(MPI_Send_init(&x, 1, MPI_INT, null, 1, comm, &r[4]));
    CHECK_OK(MPI_Recv_init(&x, 1, MPI_INT, null, MPI_ANY_TAG, comm, &r[5]));
    CHECK_OK(MPI_Wait(&r[3], &status));
    check_status(&status);
    CHECK_OK(MPI_Waitall(3, r, MPI_STATUSES_IGNORE));
    for (int i = 0; i < 3; i++) {
        CHECK_OK(MPI_Startall(2, &r[4]));
        CHECK_OK(MPI_Wait(&r[4], MPI_STATUS_IGNORE));
        CHECK_OK(MPI_Wait(&r[5], &status));
        check_status(&status);
    }
    CHECK_OK(MPI_Request_free(&r[4]));
    CHECK_OK(MPI_Request_free(&r[5]));
    CHECK_INT(x, 12);
    return end();
}
