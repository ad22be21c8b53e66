/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 2 3 4 5 8 */
/* Each of the calls that wait for requests or test them, on a list of null, inactive, open and
 * complete ones: what counts, what is reported, with which status, and what becomes of the handles.
 */
#include "check.h"

/* The list: null, inactive, plain receive, persistent receive, plain send, persistent send, null.
 */
enum { NONE, IDLE, RECV, AGAIN, SEND, SEND_AGAIN, LAST, N };

static MPI_Request list[N], idle, again, send_again;
static int in[2], out[2], to, from;

static void prepare(void)
{
    CHECK_OK(MPI_Recv_init(&in[0], 1, MPI_INT, from, 50, MPI_COMM_WORLD, &idle));
    CHECK_OK(MPI_Recv_init(&in[1], 1, MPI_INT, MPI_ANY_SOURCE, AGAIN, MPI_COMM_WORLD, &again));
    CHECK_OK(MPI_Send_init(&out[1], 1, MPI_INT, to, AGAIN, MPI_COMM_WORLD, &send_again));
}

/* Receives are open, sends not started yet. */
static void open_list(void)
{
    in[0] = in[1] = -1;
    out[0] = rank, out[1] = rank + 100;
    list[NONE] = list[LAST] = list[SEND] = MPI_REQUEST_NULL;
    list[IDLE] = idle;
    list[AGAIN] = again;
    list[SEND_AGAIN] = send_again;
    CHECK_OK(MPI_Irecv(&in[0], 1, MPI_INT, from, RECV, MPI_COMM_WORLD, &list[RECV]));
    CHECK_OK(MPI_Start(&list[AGAIN]));
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
}

static void send_all(void)
{
    CHECK_OK(MPI_Isend(&out[0], 1, MPI_INT, to, RECV, MPI_COMM_WORLD, &list[SEND]));
    CHECK_OK(MPI_Start(&list[SEND_AGAIN]));
}

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

/* Request i has been reported with this status. */
static void check_reported(int i, const MPI_Status *status)
{
    int count = -1, cancelled = -1;
    CHECK_OK(MPI_Test_cancelled(status, &cancelled));
    CHECK_INT(cancelled, 0);
    if (i == RECV || i == AGAIN) {
        CHECK_INT(status->MPI_SOURCE, from);
        CHECK_INT(status->MPI_TAG, i);
        CHECK_OK(MPI_Get_count(status, MPI_INT, &count));
        CHECK_INT(count, 1);
        CHECK_INT(in[i == AGAIN], from + (i == AGAIN ? 100 : 0));
    }
    CHECK(i == RECV || i == SEND ? list[i] == MPI_REQUEST_NULL : list[i] != MPI_REQUEST_NULL);
}

/* All have been reported: what is left counts for nothing. */
static void check_end(void)
{
    int index = -1, flag = -1, outcount = -1, indices[N];
    MPI_Status status, statuses[N];
    CHECK(list[NONE] == MPI_REQUEST_NULL && list[LAST] == MPI_REQUEST_NULL);
    CHECK(list[IDLE] == idle && list[AGAIN] == again && list[SEND_AGAIN] == send_again);
    CHECK_OK(MPI_Waitany(N, list, &index, &status));
    CHECK_INT(index, MPI_UNDEFINED);
    check_empty(&status);
    CHECK_OK(MPI_Testany(N, list, &index, &flag, &status));
    CHECK_INT(index, MPI_UNDEFINED);
    CHECK_INT(flag, 1);
    check_empty(&status);
    CHECK_OK(MPI_Waitsome(N, list, &outcount, indices, statuses));
    CHECK_INT(outcount, MPI_UNDEFINED);
    CHECK_OK(MPI_Testsome(N, list, &outcount, indices, statuses));
    CHECK_INT(outcount, MPI_UNDEFINED);
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
}

static void any(int test)
{
    int index = -1, flag = -1, seen[N] = {0};
    MPI_Status status;
    open_list();
    CHECK_OK(MPI_Testany(N, list, &index, &flag,
                         &status)); /* inactive ones are not complete ones here */
    CHECK_INT(flag, 0);
    CHECK_INT(index, MPI_UNDEFINED);
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
    send_all();
    for (int left = 4; left; left--) {
        if (!test)
            CHECK_OK(MPI_Waitany(N, list, &index, &status));
        for (flag = !test; !flag;)
            CHECK_OK(MPI_Testany(N, list, &index, &flag, &status));
        CHECK(index >= RECV && index <= SEND_AGAIN);
        CHECK_INT(seen[index]++, 0);
        check_reported(index, &status);
    }
    check_end();
}

static void some(int test, int ignore)
{
    int outcount = -1, indices[N], seen[N] = {0};
    MPI_Status statuses[N], *given = ignore ? MPI_STATUSES_IGNORE : statuses;
    open_list();
    CHECK_OK(MPI_Testsome(N, list, &outcount, indices, given));
    CHECK_INT(outcount, 0);
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
    send_all();
    for (int left = 4; left; left -= outcount) {
        if (test)
            CHECK_OK(MPI_Testsome(N, list, &outcount, indices, given));
        else
            CHECK_OK(MPI_Waitsome(N, list, &outcount, indices, given));
        CHECK(outcount >= !test && outcount <= left);
        for (int k = 0; k < outcount; k++) {
            CHECK(indices[k] >= RECV && indices[k] <= SEND_AGAIN);
            CHECK_INT(seen[indices[k]]++, 0);
            if (!ignore)
                check_reported(indices[k], &statuses[k]);
        }
    }
    check_end();
}

static void all(int test, int ignore)
{
    int flag = -1;
    MPI_Request before[N];
    MPI_Status statuses[N], *given = ignore ? MPI_STATUSES_IGNORE : statuses;
    open_list();
    memcpy(before, list, sizeof list);
    CHECK_OK(MPI_Testall(N, list, &flag, given));
    CHECK_INT(flag, 0);
    CHECK_BYTES(list, before, sizeof list);
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
    send_all();
    memset(statuses, 0x11, sizeof statuses);
    if (!test)
        CHECK_OK(MPI_Waitall(N, list, given));
    for (flag = !test; !flag;)
        CHECK_OK(MPI_Testall(N, list, &flag, given));
    for (int i = RECV; i <= SEND_AGAIN && !ignore; i++)
        check_reported(i, &statuses[i]);
    if (!ignore) {
        check_empty(&statuses[NONE]);
        check_empty(&statuses[IDLE]);
        check_empty(&statuses[LAST]);
    }
    check_end();
}

static void single(void)
{
    MPI_Status status;
    int flag;
    open_list();
    for (int i = 0; i < N; i++) {
        flag = -1;
        memset(&status, 0x11, sizeof status);
        CHECK_OK(MPI_Test(&list[i], &flag, &status));
        CHECK_INT(flag, i != RECV && i != AGAIN);
        if (flag)
            check_empty(&status);
        if (i != RECV && i != AGAIN) {
            memset(&status, 0x11, sizeof status);
            CHECK_OK(MPI_Wait(&list[i], &status));
            check_empty(&status);
        }
    }
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
    send_all();
    for (int i = RECV; i <= SEND_AGAIN; i++) {
        CHECK_OK(MPI_Wait(&list[i], &status));
        check_reported(i, &status);
        CHECK_OK(MPI_Wait(&list[i], &status)); /* once is enough */
        check_empty(&status);
    }
    check_end();
}

int main(int argc, char **argv)
{
    start(&argc, &argv);
    to = (rank + 1) % size;
    from = (rank + size - 1) % size;
    prepare();
    for (int i = 0; i < 4; i++) {
        any(i & 1);
        some(i & 1, i & 2);
        all(i & 1, i & 2);
    }
    single();
    CHECK_OK(MPI_Request_free(&idle));
    CHECK_OK(MPI_Request_free(&again));
    CHECK_OK(MPI_Request_free(&send_again));
    return end();
}
