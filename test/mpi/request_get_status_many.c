/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 2 3 4 5 8; needs: MPI_Request_get_status_all MPI_Request_get_status_any
 * MPI_Request_get_status_some */
/* Looking at many requests changes none: statuses, indices and flags are those of test, null and
 * inactive requests count as there, a failed receive is seen without an error being raised. */
#include "check.h"

enum { N = 6, SENT = 3 }; /* requests; of these the first few get their message early */

static void check_empty(const MPI_Status *status)
{
    int count = -1;
    CHECK_INT(status->MPI_SOURCE, MPI_ANY_SOURCE);
    CHECK_INT(status->MPI_TAG, MPI_ANY_TAG);
    CHECK_OK(MPI_Get_count(status, MPI_INT, &count));
    CHECK_INT(count, 0);
}

/* Without any active request. */
static void nothing_active(void)
{
    MPI_Request requests[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    MPI_Status statuses[2];
    int x, flag, index, outcount, indices[2];
    CHECK_OK(MPI_Recv_init(&x, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, &requests[1]));
    for (int count = 0; count <= 2; count++) {
        flag = index = outcount = -1;
        memset(statuses, 1, sizeof statuses);
        CHECK_OK(MPI_Request_get_status_all(count, requests, &flag, statuses));
        CHECK_INT(flag, 1);
        for (int i = 0; i < count; i++)
            check_empty(&statuses[i]);
        flag = -1;
        memset(statuses, 1, sizeof statuses);
        CHECK_OK(MPI_Request_get_status_any(count, requests, &index, &flag, statuses));
        CHECK_INT(flag, 1);
        CHECK_INT(index, MPI_UNDEFINED);
        check_empty(statuses);
        CHECK_INT(statuses[0].MPI_ERROR, MPI_SUCCESS);
        CHECK_OK(MPI_Request_get_status_some(count, requests, &outcount, indices, statuses));
        CHECK_INT(outcount, MPI_UNDEFINED);
    }
    CHECK_OK(MPI_Request_free(&requests[1]));
}

static void check_message(const MPI_Status *status, int i)
{
    int count = -1;
    CHECK_INT(status->MPI_SOURCE, (rank + size - 1) % size);
    CHECK_INT(status->MPI_TAG, i);
    CHECK_OK(MPI_Get_count(status, MPI_INT, &count));
    CHECK_INT(count, i + 1);
}

int main(int argc, char **argv)
{
    start(&argc, &argv);
    return_errors(MPI_COMM_WORLD);
    nothing_active();
    int to = (rank + 1) % size, data[N] = {1, 2, 3, 4, 5, 6}, got[N][N], indices[N + 1], flag,
        index, outcount;
    MPI_Request requests[N + 1], before[N + 1];
    MPI_Status statuses[N + 1];
    requests[0] = MPI_REQUEST_NULL; /* request i + 1 takes tag i */
    for (int i = 0; i < N; i++)
        CHECK_OK(
            MPI_Irecv(got[i], N, MPI_INT, MPI_ANY_SOURCE, i, MPI_COMM_WORLD, &requests[i + 1]));
    memcpy(before, requests, sizeof before);
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
    CHECK_OK(MPI_Request_get_status_all(N + 1, requests, &flag, statuses));
    CHECK_INT(flag, 0);
    CHECK_OK(MPI_Request_get_status_any(N + 1, requests, &index, &flag, statuses));
    CHECK_INT(flag, 0);
    CHECK_INT(index, MPI_UNDEFINED);
    CHECK_OK(MPI_Request_get_status_some(N + 1, requests, &outcount, indices, statuses));
    CHECK_INT(outcount, 0);
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
    for (int i = SENT - 1; i >= 0; i--)
        CHECK_OK(MPI_Send(data, i + 1, MPI_INT, to, i, MPI_COMM_WORLD));
    do {
        CHECK_OK(MPI_Request_get_status_some(N + 1, requests, &outcount, indices, statuses));
        CHECK(outcount >= 0 && outcount <= SENT);
    } while (outcount < SENT);
    for (int i = 0; i < SENT; i++) {
        CHECK_INT(indices[i], i + 1);
        check_message(&statuses[i], i);
    }
    CHECK_OK(MPI_Request_get_status_any(N + 1, requests, &index, &flag, statuses));
    CHECK_INT(flag, 1);
    CHECK_INT(index, 1);
    check_message(statuses, 0);
    CHECK_OK(MPI_Request_get_status_all(N + 1, requests, &flag, statuses));
    CHECK_INT(flag, 0);
    CHECK_BYTES(requests, before, sizeof before);
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
    for (int i = SENT; i < N; i++)
        CHECK_OK(MPI_Send(data, i + 1, MPI_INT, to, i, MPI_COMM_WORLD));
    for (flag = 0; !flag;)
        CHECK_OK(MPI_Request_get_status_all(N + 1, requests, &flag, statuses));
    check_empty(&statuses[0]);
    for (int i = 0; i < N; i++)
        check_message(&statuses[i + 1], i);
    CHECK_OK(MPI_Request_get_status_all(N + 1, requests, &flag, MPI_STATUSES_IGNORE));
    CHECK_OK(MPI_Request_get_status_some(N + 1, requests, &outcount, indices, MPI_STATUSES_IGNORE));
    CHECK_INT(outcount, N);
    CHECK_BYTES(requests, before, sizeof before);
    memset(statuses, 0, sizeof statuses);
    CHECK_OK(MPI_Waitall(N + 1, requests, statuses));
    for (int i = 0; i < N; i++) {
        check_message(&statuses[i + 1], i);
        CHECK(requests[i + 1] == MPI_REQUEST_NULL);
        CHECK_BYTES(got[i], data, (size_t)(i + 1) * sizeof(int));
    }
    /* One that fails. */
    CHECK_OK(MPI_Irecv(got[0], 1, MPI_INT, MPI_ANY_SOURCE, 50, MPI_COMM_WORLD, &requests[0]));
    CHECK_OK(MPI_Send(data, 2, MPI_INT, to, 50, MPI_COMM_WORLD));
    for (flag = 0; !flag;)
        CHECK_OK(MPI_Request_get_status_all(1, requests, &flag, statuses));
    CHECK_CLASS(statuses[0].MPI_ERROR, MPI_ERR_TRUNCATE);
    CHECK_OK(MPI_Request_get_status(requests[0], &flag, MPI_STATUS_IGNORE));
    CHECK_CLASS(MPI_Wait(&requests[0], MPI_STATUS_IGNORE), MPI_ERR_TRUNCATE);
    return end();
}
