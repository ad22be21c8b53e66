/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 2 3 4 5 8 */
/* A cancelled request completes whatever others do, with a status that says so in every call that
 * gives one; one that was cancelled too late ends as it would have; what cannot be cancelled is
 * refused; persistent ones can be started again. */
#include "check.h"

enum { N = 12, MOST = 100000 };

static int out[MOST], in[N], to, from;

static int was_cancelled(const MPI_Status *status)
{
    int flag = -1;
    CHECK_OK(MPI_Test_cancelled(status, &flag));
    return flag;
}

/* Receives of all kinds that get no message, completed in each way. */
static void receives(int way)
{
    MPI_Request requests[N];
    MPI_Status statuses[N];
    int flag, index, outcount, indices[N];
    for (int i = 0; i < N; i++) {
        CHECK_OK(MPI_Irecv(&in[i], 1, MPI_INT, i & 1 ? MPI_ANY_SOURCE : from,
                           i & 2 ? MPI_ANY_TAG : i, MPI_COMM_WORLD, &requests[i]));
    }
    for (int i = 0; i < N; i++)
        CHECK_OK(MPI_Cancel(&requests[i]));
    CHECK_OK(MPI_Cancel(&requests[0])); /* again: nothing more to do */
    if (way == 0) {
        CHECK_OK(MPI_Waitall(N, requests, statuses));
    } else if (way == 1) {
        for (int left = N; left; left -= outcount) {
            MPI_Status some[N];
            CHECK_OK(MPI_Waitsome(N, requests, &outcount, indices, some));
            for (int k = 0; k < outcount; k++)
                statuses[indices[k]] = some[k];
        }
    } else if (way == 2) {
        for (int left = N; left; left--) {
            MPI_Status status;
            CHECK_OK(MPI_Waitany(N, requests, &index, &status));
            statuses[index] = status;
        }
    } else {
        for (int i = 0; i < N; i++) {
            CHECK_OK(MPI_Request_get_status(requests[i], &flag, &statuses[i]));
            CHECK_INT(flag, 1);
            CHECK_INT(was_cancelled(&statuses[i]), 1);
            CHECK_OK(MPI_Test(&requests[i], &flag, &statuses[i]));
            CHECK_INT(flag, 1);
        }
    }
    for (int i = 0; i < N; i++) {
        CHECK(requests[i] == MPI_REQUEST_NULL);
        CHECK_INT(was_cancelled(&statuses[i]), 1);
    }
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
}

/* Sends that nobody receives; nothing of them is left. */
static void sends(int ints, int persistent)
{
    MPI_Request request;
    MPI_Status status;
    int flag = -1;
    if (persistent)
        CHECK_OK(MPI_Ssend_init(out, ints, MPI_INT, to, 1, MPI_COMM_WORLD, &request));
    for (int round = 0; round < (persistent ? 3 : 1); round++) {
        if (persistent)
            CHECK_OK(MPI_Start(&request));
        else
            CHECK_OK(MPI_Issend(out, ints, MPI_INT, to, 1, MPI_COMM_WORLD, &request));
        CHECK_OK(MPI_Cancel(&request));
        CHECK_OK(MPI_Wait(&request, &status)); /* nobody posts a receive meanwhile */
        CHECK_INT(was_cancelled(&status), 1);
        CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
        CHECK_OK(MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE));
        CHECK_INT(flag, 0);
        CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
    }
    if (!persistent)
        return;
    /* And it can still send. */
    int *got = allocate((size_t)ints * sizeof *got);
    CHECK_OK(MPI_Start(&request));
    CHECK_OK(MPI_Recv(got, ints, MPI_INT, from, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    CHECK_OK(MPI_Wait(&request, &status));
    CHECK_INT(was_cancelled(&status), 0);
    CHECK_BYTES(got, out, (size_t)ints * sizeof *got);
    CHECK_OK(MPI_Request_free(&request));
    free(got);
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
}

/* Too late: the message is there. */
static void too_late(void)
{
    MPI_Request requests[2];
    MPI_Status statuses[2];
    int got = 0, flag = 0, count = -1;
    CHECK_OK(MPI_Irecv(&got, 1, MPI_INT, from, 2, MPI_COMM_WORLD, &requests[0]));
    CHECK_OK(MPI_Isend(&out[5], 1, MPI_INT, to, 2, MPI_COMM_WORLD, &requests[1]));
    while (!flag)
        CHECK_OK(MPI_Request_get_status(requests[0], &flag, MPI_STATUS_IGNORE));
    for (flag = 0; !flag;)
        CHECK_OK(MPI_Request_get_status(requests[1], &flag, MPI_STATUS_IGNORE));
    CHECK_OK(MPI_Cancel(&requests[0]));
    CHECK_OK(MPI_Cancel(&requests[1]));
    CHECK_OK(MPI_Waitall(2, requests, statuses));
    CHECK_INT(was_cancelled(&statuses[0]), 0);
    CHECK_INT(was_cancelled(&statuses[1]), 0);
    CHECK_INT(statuses[0].MPI_SOURCE, from);
    CHECK_OK(MPI_Get_count(&statuses[0], MPI_INT, &count));
    CHECK_INT(count, 1);
    CHECK_INT(got, 5);
}

static void refused(void)
{
    MPI_Request request = MPI_REQUEST_NULL;
    CHECK_CLASS(MPI_Cancel(&request), MPI_ERR_REQUEST);
    CHECK_OK(MPI_Recv_init(in, 1, MPI_INT, from, 3, MPI_COMM_WORLD, &request));
    CHECK_CLASS(MPI_Cancel(&request), MPI_ERR_REQUEST); /* inactive */
    CHECK_OK(MPI_Request_free(&request));
}

int main(int argc, char **argv)
{
    start(&argc, &argv);
    return_errors(MPI_COMM_WORLD);
    return_errors(MPI_COMM_SELF);
    to = (rank + 1) % size;
    from = (rank + size - 1) % size;
    for (int i = 0; i < MOST; i++)
        out[i] = i;
    for (int way = 0; way < 4; way++)
        receives(way);
    for (int persistent = 0; persistent < 2; persistent++) {
        sends(1, persistent);
        sends(1000, persistent);
        sends(MOST, persistent);
    }
    too_late();
    refused();
    return end();
}
