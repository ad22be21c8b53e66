/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 2 3 4 5 8; needs: MPI_Isendrecv */
/* Everything with MPI_PROC_NULL returns at once; receives and probes give its status. */
#include "check.h"

static const int null = MPI_PROC_NULL;
static int x = 12, y = 12;
static MPI_Comm comm;

static void check_status(const MPI_Status *status)
{
    int count = -1, cancelled = -1;
    CHECK_INT(status->MPI_SOURCE, MPI_PROC_NULL);
    CHECK_INT(status->MPI_TAG, MPI_ANY_TAG);
    CHECK_OK(MPI_Get_count(status, MPI_INT, &count));
    CHECK_INT(count, 0);
    CHECK_OK(MPI_Test_cancelled(status, &cancelled));
    CHECK_INT(cancelled, 0);
}

static void blocking(void)
{
    MPI_Status status;
    int flag = 0;
    CHECK_OK(MPI_Send(&x, 1, MPI_INT, null, 1, comm));
    CHECK_OK(MPI_Ssend(&x, 1, MPI_INT, null, 1, comm));
    CHECK_OK(MPI_Rsend(&x, 1, MPI_INT, null, 1, comm));
    CHECK_OK(MPI_Bsend(&x, 1, MPI_INT, null, 1, comm)); /* needs no buffer */
    CHECK_OK(MPI_Recv(&x, 1, MPI_INT, null, 1, comm, &status));
    check_status(&status);
    CHECK_OK(MPI_Recv(NULL, 0, MPI_INT, null, MPI_ANY_TAG, comm, MPI_STATUS_IGNORE));
    CHECK_OK(MPI_Sendrecv(&x, 1, MPI_INT, null, 1, &y, 1, MPI_INT, null, 1, comm, &status));
    check_status(&status);
    CHECK_OK(MPI_Sendrecv_replace(&x, 1, MPI_INT, null, 1, null, 1, comm, &status));
    check_status(&status);
    CHECK_OK(MPI_Probe(null, MPI_ANY_TAG, comm, &status));
    check_status(&status);
    CHECK_OK(MPI_Iprobe(null, 3, comm, &flag, &status));
    CHECK_INT(flag, 1);
    check_status(&status);
}

/* One side of a pair of operations has a partner. */
static void one_sided(void)
{
    MPI_Status status;
    MPI_Request request;
    int to = (rank + 1) % size, from = (rank + size - 1) % size, got = 0;
    CHECK_OK(MPI_Irecv(&got, 1, MPI_INT, from, 1, comm, &request));
    CHECK_OK(MPI_Sendrecv(&x, 1, MPI_INT, to, 1, &y, 1, MPI_INT, null, 1, comm, &status));
    check_status(&status);
    CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    CHECK_INT(got, 12);
    got = 0;
    CHECK_OK(MPI_Isend(&x, 1, MPI_INT, to, 1, comm, &request));
    CHECK_OK(MPI_Sendrecv(&x, 1, MPI_INT, null, 1, &got, 1, MPI_INT, from, 1, comm, &status));
    CHECK_INT(status.MPI_SOURCE, from);
    CHECK_INT(got, 12);
    CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
}

static void matched(void)
{
    MPI_Message message = MPI_MESSAGE_NULL;
    MPI_Request request;
    MPI_Status status;
    int flag = 0;
    CHECK_OK(MPI_Mprobe(null, 1, comm, &message, &status));
    check_status(&status);
    CHECK(message == MPI_MESSAGE_NO_PROC);
    CHECK_OK(MPI_Mrecv(&x, 1, MPI_INT, &message, &status));
    check_status(&status);
    CHECK(message == MPI_MESSAGE_NULL);
    CHECK_OK(MPI_Improbe(null, MPI_ANY_TAG, comm, &flag, &message, &status));
    CHECK_INT(flag, 1);
    check_status(&status);
    CHECK(message == MPI_MESSAGE_NO_PROC);
    CHECK_OK(MPI_Imrecv(&x, 1, MPI_INT, &message, &request));
    CHECK(message == MPI_MESSAGE_NULL);
    CHECK_OK(MPI_Wait(&request, &status));
    check_status(&status);
}

static void nonblocking(void)
{
    enum { SENDS = 4, N = 7 };
    MPI_Request r[N];
    MPI_Status statuses[N];
    int flag = 0, index = -1;
    for (int way = 0; way < 4; way++) {
        CHECK_OK(MPI_Isend(&x, 1, MPI_INT, null, 1, comm, &r[0]));
        CHECK_OK(MPI_Issend(&x, 1, MPI_INT, null, 1, comm, &r[1]));
        CHECK_OK(MPI_Irsend(&x, 1, MPI_INT, null, 1, comm, &r[2]));
        CHECK_OK(MPI_Ibsend(&x, 1, MPI_INT, null, 1, comm, &r[3]));
        CHECK_OK(MPI_Irecv(&x, 1, MPI_INT, null, 1, comm, &r[4]));
        CHECK_OK(MPI_Isendrecv(&x, 1, MPI_INT, null, 1, &y, 1, MPI_INT, null, 1, comm, &r[5]));
        CHECK_OK(MPI_Isendrecv_replace(&x, 1, MPI_INT, null, 1, null, 1, comm, &r[6]));
        for (int i = 0; i < N; i++)
            CHECK(r[i] != MPI_REQUEST_NULL);
        if (way == 0) {
            CHECK_OK(MPI_Waitall(N, r, statuses));
        } else if (way == 1) {
            CHECK_OK(MPI_Testall(N, r, &flag, statuses));
            CHECK_INT(flag, 1);
        } else if (way == 2) {
            for (int i = 0; i < N; i++) {
                MPI_Status status;
                CHECK_OK(MPI_Waitany(N, r, &index, &status));
                statuses[index] = status;
            }
        } else {
            for (int i = 0; i < N; i++) {
                CHECK_OK(MPI_Cancel(&r[i])); /* too late */
                CHECK_OK(MPI_Request_get_status(r[i], &flag, &statuses[i]));
                CHECK_INT(flag, 1);
                CHECK_OK(MPI_Request_free(&r[i]));
            }
        }
        for (int i = 0; i < N; i++) {
            CHECK(r[i] == MPI_REQUEST_NULL);
            if (i >= SENDS)
                check_status(&statuses[i]);
        }
    }
}

static void persistent(void)
{
    enum { N = 5 };
    MPI_Request r[N];
    MPI_Status status;
    CHECK_OK(MPI_Send_init(&x, 1, MPI_INT, null, 1, comm, &r[0]));
    CHECK_OK(MPI_Ssend_init(&x, 1, MPI_INT, null, 1, comm, &r[1]));
    CHECK_OK(MPI_Rsend_init(&x, 1, MPI_INT, null, 1, comm, &r[2]));
    CHECK_OK(MPI_Bsend_init(&x, 1, MPI_INT, null, 1, comm, &r[3]));
    CHECK_OK(MPI_Recv_init(&x, 1, MPI_INT, null, MPI_ANY_TAG, comm, &r[4]));
    for (int i = 0; i < 3; i++) {
        CHECK_OK(MPI_Startall(N, r));
        CHECK_CLASS(MPI_Start(&r[4]), MPI_ERR_REQUEST); /* active */
        CHECK_OK(MPI_Wait(&r[4], &status));
        check_status(&status);
        CHECK_OK(MPI_Waitall(N, r, MPI_STATUSES_IGNORE));
    }
    CHECK_OK(MPI_Startall(N, r));
    for (int i = 0; i < N; i++)
        CHECK_OK(MPI_Request_free(&r[i])); /* active, but complete */
}

int main(int argc, char **argv)
{
    start(&argc, &argv);
    comm = MPI_COMM_WORLD;
    return_errors(comm);
    return_errors(MPI_COMM_SELF);
    blocking();
    one_sided();
    matched();
    nonblocking();
    persistent();
    CHECK_INT(x, 12);
    CHECK_INT(y, 12);
    return end();
}
