/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 */
/* Statuses can be written by hand, and MPI_ERROR is left alone by calls that give one status. */
#include "check.h"

int main(int argc, char **argv)
{
    start(&argc, &argv);
    MPI_Status status;
    MPI_Request request;
    MPI_Count elements = -1;
    int count = -1, flag = -1, x = 1, y = 0;
    memset(&status, 0, sizeof status);
    CHECK_OK(MPI_Status_set_elements(&status, MPI_INT, 7));
    CHECK_OK(MPI_Status_set_cancelled(&status, 1));
    CHECK_OK(MPI_Get_count(&status, MPI_INT, &count));
    CHECK_INT(count, 7);
    CHECK_OK(MPI_Get_elements(&status, MPI_INT, &count));
    CHECK_INT(count, 7);
    CHECK_OK(MPI_Test_cancelled(&status, &flag));
    CHECK_INT(flag, 1);
    CHECK_OK(MPI_Status_set_cancelled(&status, 0));
    CHECK_OK(MPI_Test_cancelled(&status, &flag));
    CHECK_INT(flag, 0);
    CHECK_OK(MPI_Status_set_elements_x(&status, MPI_BYTE, (MPI_Count) 5 << 30));
    CHECK_OK(MPI_Get_elements_x(&status, MPI_BYTE, &elements));
    CHECK_INT(elements, (long long) 5 << 30);
    CHECK_OK(MPI_Get_count(&status, MPI_BYTE, &count));
    CHECK_INT(count, MPI_UNDEFINED);

    status.MPI_ERROR = 12345;
    CHECK_OK(MPI_Irecv(&y, 1, MPI_INT, 0, 3, MPI_COMM_SELF, &request));
    CHECK_OK(MPI_Send(&x, 1, MPI_INT, 0, 3, MPI_COMM_SELF));
    CHECK_OK(MPI_Wait(&request, &status));
    CHECK_INT(status.MPI_ERROR, 12345);
    CHECK_INT(status.MPI_TAG, 3);
    CHECK_OK(MPI_Isend(&x, 1, MPI_INT, 0, 4, MPI_COMM_SELF, &request));
    CHECK_OK(MPI_Recv(&y, 1, MPI_INT, 0, 4, MPI_COMM_SELF, &status));
    CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    CHECK_INT(status.MPI_ERROR, 12345);
    CHECK_INT(status.MPI_TAG, 4);
    /* A copy of a status says the same. */
    MPI_Status copy = status;
    CHECK_OK(MPI_Get_count(&copy, MPI_INT, &count));
    CHECK_INT(count, 1);
    CHECK_OK(MPI_Get_count(&copy, MPI_DOUBLE, &count));
    CHECK_INT(count, MPI_UNDEFINED);
    return end();
}
