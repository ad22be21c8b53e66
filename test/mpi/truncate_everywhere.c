/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 2 3 4 5 8 */
/* MPI_ERR_TRUNCATE comes from every call that completes a receive, blocking, persistent, matched or
 * half of a sendrecv; those that report several say MPI_ERR_IN_STATUS and which; what fits is
 * there, requests can be used again, others are unharmed. */
#include "check.h"

enum { N = 5, BAD = 2, MOST = 200000 }; /* requests of a list, and which of them fails */

static int out[MOST], room[N][MOST], sent, to, from;

/* Everybody sends `sent` ints to the next rank under the tag. */
static void send_bad(int tag, MPI_Request *request)
{
    CHECK_OK(MPI_Isend(out, sent, MPI_INT, to, tag, MPI_COMM_WORLD, request));
}

/* Room for one int less than will come: it got that many, and not the last. */
static void check_kept(const int *got, const MPI_Status *status)
{
    int count = -1;
    CHECK_INT(got[sent - 2], sent - 2);
    CHECK_INT(got[sent - 1], -7);
    if (status) {
        CHECK_INT(status->MPI_SOURCE, from);
        CHECK_INT(status->MPI_TAG, BAD);
        CHECK_OK(MPI_Get_count(status, MPI_INT, &count));
        CHECK_INT(count, sent - 1);
    }
}

static void one_receive(void)
{
    MPI_Request request, send;
    MPI_Message message;
    MPI_Status status;
    int error, flag;
    for (int way = 0; way < 8; way++) {
        int *got = room[0];
        got[sent - 1] = -7;
        status.MPI_ERROR = -99;
        if (way != 6)
            send_bad(BAD, &send);
        switch (way) {
        case 0:
            error = MPI_Recv(got, sent - 1, MPI_INT, from, BAD, MPI_COMM_WORLD, &status);
            break;
        case 1:
            CHECK_OK(
                MPI_Irecv(got, sent - 1, MPI_INT, MPI_ANY_SOURCE, BAD, MPI_COMM_WORLD, &request));
            error = MPI_Wait(&request, &status);
            CHECK(request == MPI_REQUEST_NULL);
            break;
        case 2:
            CHECK_OK(
                MPI_Irecv(got, sent - 1, MPI_INT, from, MPI_ANY_TAG, MPI_COMM_WORLD, &request));
            for (flag = 0; !flag;)
                error = MPI_Test(&request, &flag, &status);
            CHECK(request == MPI_REQUEST_NULL);
            break;
        case 3:
            CHECK_OK(MPI_Mprobe(from, BAD, MPI_COMM_WORLD, &message, &status));
            error = MPI_Mrecv(got, sent - 1, MPI_INT, &message, &status);
            CHECK(message == MPI_MESSAGE_NULL);
            break;
        case 4:
            CHECK_OK(MPI_Mprobe(from, BAD, MPI_COMM_WORLD, &message, &status));
            CHECK_OK(MPI_Imrecv(got, sent - 1, MPI_INT, &message, &request));
            error = MPI_Wait(&request, &status);
            CHECK(message == MPI_MESSAGE_NULL && request == MPI_REQUEST_NULL);
            break;
        case 5: /* nothing but the receive fails, and the send beside it goes */
            CHECK_OK(MPI_Irecv(room[1], 1, MPI_INT, from, 9, MPI_COMM_WORLD, &request));
            error = MPI_Sendrecv(out, 1, MPI_INT, to, 9, got, sent - 1, MPI_INT, from, BAD,
                                 MPI_COMM_WORLD, &status);
            CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
            break;
        case 6: /* what is sent is as long as the buffer: the other side sends more */
            send_bad(BAD, &send);
            CHECK_OK(MPI_Irecv(room[1], sent, MPI_INT, from, 8, MPI_COMM_WORLD, &request));
            memcpy(got, out, (size_t)(sent - 1) * sizeof(int));
            error = MPI_Sendrecv_replace(got, sent - 1, MPI_INT, to, 8, from, BAD, MPI_COMM_WORLD,
                                         &status);
            CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
            break;
        default:
            CHECK_OK(MPI_Recv_init(got, sent - 1, MPI_INT, from, BAD, MPI_COMM_WORLD, &request));
            CHECK_OK(MPI_Start(&request));
            error = MPI_Wait(&request, &status);
            CHECK(request != MPI_REQUEST_NULL);
            CHECK_CLASS(error, MPI_ERR_TRUNCATE);
            check_kept(got, &status);
            CHECK_OK(MPI_Wait(&send, MPI_STATUS_IGNORE));
            send_bad(BAD, &send); /* a second time, and a third that fits */
            CHECK_OK(MPI_Start(&request));
            error = MPI_Wait(&request, &status);
            CHECK_OK(MPI_Wait(&send, MPI_STATUS_IGNORE));
            CHECK_OK(MPI_Isend(out, sent - 1, MPI_INT, to, BAD, MPI_COMM_WORLD, &send));
            CHECK_OK(MPI_Start(&request));
            CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
            CHECK_OK(MPI_Request_free(&request));
        }
        CHECK_CLASS(error, MPI_ERR_TRUNCATE);
        CHECK_INT(status.MPI_ERROR, -99); /* calls with one status leave it alone */
        check_kept(got, &status);
        CHECK_OK(MPI_Wait(&send, MPI_STATUS_IGNORE));
        CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
    }
}

/* The request BAD of a list gets one int too many; the others get one int each. */
static void start_list(MPI_Request requests[], MPI_Request sends[])
{
    for (int i = 0; i < N; i++) {
        room[i][sent - 1] = -7;
        CHECK_OK(MPI_Irecv(room[i], i == BAD ? sent - 1 : 1, MPI_INT, from, i, MPI_COMM_WORLD,
                           &requests[i]));
    }
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
    for (int i = 0; i < N; i++)
        if (i == BAD)
            send_bad(i, &sends[i]);
        else
            CHECK_OK(MPI_Isend(&out[i], 1, MPI_INT, to, i, MPI_COMM_WORLD, &sends[i]));
}

static void check_one(int i, const MPI_Request requests[], const MPI_Status *status)
{
    CHECK(requests[i] == MPI_REQUEST_NULL);
    if (i == BAD)
        check_kept(room[i], status);
    else
        CHECK_INT(room[i][0], i);
}

static void check_error(int i, const MPI_Status *status)
{
    CHECK_CLASS(status->MPI_ERROR, i == BAD ? MPI_ERR_TRUNCATE : MPI_SUCCESS);
}

static void list(int way)
{
    MPI_Request requests[N], sends[N];
    MPI_Status statuses[N];
    int flag = 0, index, outcount, indices[N], error = MPI_SUCCESS;
    start_list(requests, sends);
    memset(statuses, 0x11, sizeof statuses);
    if (way == 0 || way == 1) {
        if (way == 0)
            error = MPI_Waitall(N, requests, statuses);
        while (way == 1 && !flag)
            error = MPI_Testall(N, requests, &flag, statuses);
        CHECK_CLASS(error, MPI_ERR_IN_STATUS);
        for (int i = 0; i < N; i++) {
            check_error(i, &statuses[i]);
            check_one(i, requests, &statuses[i]);
        }
    } else if (way == 2 || way == 3) {
        for (int left = N; left;) {
            int failed = 0;
            error = way == 2 ? MPI_Waitsome(N, requests, &outcount, indices, statuses)
                             : MPI_Testsome(N, requests, &outcount, indices, statuses);
            CHECK(outcount >= 0 && outcount <= left);
            for (int k = 0; k < outcount; k++) {
                failed |= indices[k] == BAD;
                if (error != MPI_SUCCESS)
                    check_error(indices[k], &statuses[k]);
                check_one(indices[k], requests, &statuses[k]);
            }
            CHECK_CLASS(error, failed ? MPI_ERR_IN_STATUS : MPI_SUCCESS);
            left -= outcount;
        }
    } else if (way == 4 || way == 5) {
        for (int left = N; left; left--) {
            statuses[0].MPI_ERROR = -99;
            if (way == 4)
                error = MPI_Waitany(N, requests, &index, statuses);
            for (flag = 0; way == 5 && !flag;)
                error = MPI_Testany(N, requests, &index, &flag, statuses);
            CHECK(index >= 0 && index < N);
            CHECK_CLASS(error, index == BAD ? MPI_ERR_TRUNCATE : MPI_SUCCESS);
            CHECK_INT(statuses[0].MPI_ERROR, -99);
            check_one(index, requests, statuses);
        }
    } else { /* without statuses the caller learns only that one of them failed */
        CHECK_CLASS(MPI_Waitall(N, requests, MPI_STATUSES_IGNORE), MPI_ERR_IN_STATUS);
        for (int i = 0; i < N; i++)
            check_one(i, requests, NULL);
    }
    CHECK_OK(MPI_Waitall(N, sends, MPI_STATUSES_IGNORE));
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
}

int main(int argc, char **argv)
{
    static const int sizes[] = {2, 1000, MOST};
    start(&argc, &argv);
    return_errors(MPI_COMM_WORLD);
    return_errors(MPI_COMM_SELF);
    to = (rank + 1) % size;
    from = (rank + size - 1) % size;
    for (int i = 0; i < MOST; i++)
        out[i] = i;
    for (int i = 0; i < 3; i++) {
        sent = sizes[i];
        one_receive();
        for (int way = 0; way < 7; way++)
            list(way);
    }
    return end();
}
