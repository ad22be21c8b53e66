/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 2 5 */
/* Every procedure that can find a message too long says MPI_ERR_TRUNCATE, those of several requests MPI_ERR_IN_STATUS;
 * what fitted has arrived, and the next message is received as ever. */
#include "check.h"

static int to, from;
static const int sent[4] = {1, 2, 3, 4};

/* Two messages: one of four ints that will not fit, then one that does. */
static void send_both(int tag, MPI_Request requests[2])
{
    CHECK_OK(MPI_Isend(sent, 4, MPI_INT, to, tag, MPI_COMM_WORLD, &requests[0]));
    CHECK_OK(MPI_Isend(sent, 1, MPI_INT, to, tag, MPI_COMM_WORLD, &requests[1]));
}

/* What came is cut to two ints; the second message is whole. */
static void check_rest(int tag, const int got[4], MPI_Request requests[2])
{
    int next[2] = {0};
    CHECK_BYTES(got, sent, 2 * sizeof *sent);
    CHECK_INT(got[2], -1);
    CHECK_OK(MPI_Recv(next, 1, MPI_INT, from, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    CHECK_INT(next[0], 1);
    CHECK_OK(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
}

enum way { RECV, SENDRECV, MRECV, WAIT, WAITANY, TEST, TESTANY, WAITALL, WAITSOME, TESTALL, TESTSOME, WAYS };

static void receive(enum way way, int tag, int got[4])
{
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Message message;
    MPI_Status status = {.MPI_ERROR = -1};
    int flag = 0, index, count = 0, code = MPI_SUCCESS, expected = way < WAITALL ? MPI_ERR_TRUNCATE : MPI_ERR_IN_STATUS;
    if (way >= WAIT)
        CHECK_OK(MPI_Irecv(got, 2, MPI_INT, from, tag, MPI_COMM_WORLD, &request));
    while (!flag) {
        flag = 1;
        switch (way) {
        case RECV: code = MPI_Recv(got, 2, MPI_INT, from, tag, MPI_COMM_WORLD, &status); break;
        case SENDRECV:
            code = MPI_Sendrecv(NULL, 0, MPI_INT, MPI_PROC_NULL, 0, got, 2, MPI_INT, from, tag, MPI_COMM_WORLD, &status);
            break;
        case MRECV:
            CHECK_OK(MPI_Mprobe(from, tag, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE));
            code = MPI_Mrecv(got, 2, MPI_INT, &message, &status);
            break;
        case WAIT: code = MPI_Wait(&request, &status); break;
        case WAITANY: code = MPI_Waitany(1, &request, &index, &status); break;
        case TEST: code = MPI_Test(&request, &flag, &status); break;
        case TESTANY: code = MPI_Testany(1, &request, &index, &flag, &status); break;
        case WAITALL: code = MPI_Waitall(1, &request, &status); break;
        case WAITSOME: code = MPI_Waitsome(1, &request, &count, &index, &status); break;
        case TESTALL: code = MPI_Testall(1, &request, &flag, &status); break;
        case TESTSOME:
            code = MPI_Testsome(1, &request, &count, &index, &status);
            flag = count != 0;
            break;
        case WAYS: break;
        }
        if (code != MPI_SUCCESS)
            flag = 1;
    }
    CHECK_CLASS(code, expected);
    CHECK_INT(status.MPI_SOURCE, from);
    CHECK_INT(status.MPI_TAG, tag);
    if (expected == MPI_ERR_IN_STATUS)
        CHECK_CLASS(status.MPI_ERROR, MPI_ERR_TRUNCATE);
    CHECK(request == MPI_REQUEST_NULL);
}

int main(int argc, char **argv)
{
    start(&argc, &argv);
    return_errors(MPI_COMM_WORLD);
    to = (rank + 1) % size;
    from = (rank + size - 1) % size;
    for (int way = 0; way < WAYS; way++) {
        int got[4] = {-1, -1, -1, -1};
        MPI_Request requests[2];
        send_both(way, requests);
        receive(way, way, got);
        check_rest(way, got, requests);
    }
    /* The buffer of MPI_Sendrecv_replace is both. */
    int both[4] = {7, 8, -1, -1}, next;
    MPI_Request request;
    CHECK_OK(MPI_Isend(sent, 4, MPI_INT, to, 50, MPI_COMM_WORLD, &request));
    CHECK_CLASS(MPI_Sendrecv_replace(both, 2, MPI_INT, to, 51, from, 50, MPI_COMM_WORLD, MPI_STATUS_IGNORE),
                MPI_ERR_TRUNCATE);
    CHECK_BYTES(both, sent, 2 * sizeof *sent);
    CHECK_OK(MPI_Recv(both, 2, MPI_INT, from, 51, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    CHECK_INT(both[0], 7);
    CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    CHECK_OK(MPI_Sendrecv(&rank, 1, MPI_INT, to, 52, &next, 1, MPI_INT, from, 52, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    CHECK_INT(next, from);
    return end();
}
