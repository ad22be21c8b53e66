/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 */
/* Lists of null or inactive requests: MPI_UNDEFINED at once, with an empty status. */
#include "check.h"

static void check_empty(const MPI_Status *status)
{
    int count = -1, cancelled = -1;
    CHECK_INT(status->MPI_SOURCE, MPI_ANY_SOURCE);
    CHECK_INT(status->MPI_TAG, MPI_ANY_TAG);
    CHECK_OK(MPI_Get_count(status, MPI_INT, &count));
    CHECK_INT(count, 0);
    CHECK_OK(MPI_Test_cancelled(status, &cancelled));
    CHECK_INT(cancelled, 0);
}

static void check_list(int n, MPI_Request requests[])
{
    MPI_Status status, statuses[4];
    int index = 5, flag = 0, outcount = 5, indices[4];
    memset(&status, 0x11, sizeof status);
    CHECK_OK(MPI_Waitany(n, requests, &index, &status));
    CHECK_INT(index, MPI_UNDEFINED);
    check_empty(&status);
    memset(&status, 0x11, sizeof status);
    CHECK_OK(MPI_Testany(n, requests, &index, &flag, &status));
    CHECK_INT(index, MPI_UNDEFINED);
    CHECK_INT(flag, 1);
    check_empty(&status);
    CHECK_OK(MPI_Waitsome(n, requests, &outcount, indices, statuses));
    CHECK_INT(outcount, MPI_UNDEFINED);
    CHECK_OK(MPI_Testsome(n, requests, &outcount, indices, statuses));
    CHECK_INT(outcount, MPI_UNDEFINED);
    memset(statuses, 0x11, sizeof statuses);
    CHECK_OK(MPI_Waitall(n, requests, statuses));
    for (int i = 0; i < n; i++)
        check_empty(&statuses[i]);
    flag = 0;
    memset(statuses, 0x11, sizeof statuses);
    CHECK_OK(MPI_Testall(n, requests, &flag, statuses));
    CHECK_INT(flag, 1);
    for (int i = 0; i < n; i++)
        check_empty(&statuses[i]);
}

int main(int argc, char **argv)
{
    start(&argc, &argv);
    MPI_Request null[4];
    MPI_Request inactive[2], mixed[3];
    MPI_Status status;
    int a = 0, b = 0, flag = 0;
    for (int i = 0; i < 4; i++)
        null[i] = MPI_REQUEST_NULL;
    check_list(0, null);
    check_list(4, null);
    CHECK_OK(MPI_Send_init(&a, 1, MPI_INT, 0, 1, MPI_COMM_SELF, &inactive[0]));
    CHECK_OK(MPI_Recv_init(&b, 1, MPI_INT, 0, 1, MPI_COMM_SELF, &inactive[1]));
    check_list(2, inactive);
    mixed[0] = MPI_REQUEST_NULL;
    mixed[1] = inactive[1];
    mixed[2] = MPI_REQUEST_NULL;
    check_list(3, mixed);
    CHECK_OK(MPI_Wait(&null[0], &status));
    check_empty(&status);
    CHECK_OK(MPI_Test(&inactive[0], &flag, &status));
    CHECK_INT(flag, 1);
    check_empty(&status);
    flag = 0;
    CHECK_OK(MPI_Request_get_status(MPI_REQUEST_NULL, &flag, &status));
    CHECK_INT(flag, 1);
    check_empty(&status);
    CHECK(inactive[0] != MPI_REQUEST_NULL && inactive[1] != MPI_REQUEST_NULL);
    CHECK_OK(MPI_Request_free(&inactive[0]));
    CHECK_OK(MPI_Request_free(&inactive[1]));
    CHECK(inactive[0] == MPI_REQUEST_NULL);
    return end();
}
