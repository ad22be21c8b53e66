/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 2 3 4 5 8; needs: MPI_Isendrecv MPI_Isendrecv_replace */
/* MPI_Isendrecv and MPI_Isendrecv_replace are one request with the status of the receive: in rings
 * of any size, with blocking partners, wildcards, MPI_PROC_NULL, types that are freed meanwhile;
 * freed or cancelled while open. */
#include "check.h"

enum { MOST = 300000 };
static const int sizes[] = {0, 1, 500, 5000, MOST};
static int out[MOST], in[MOST];

static void check_status(const MPI_Status *status, int source, int tag, int count)
{
    int got = -1, cancelled = -1;
    CHECK_INT(status->MPI_SOURCE, source);
    CHECK_INT(status->MPI_TAG, tag);
    CHECK_OK(MPI_Get_count(status, MPI_INT, &got));
    CHECK_INT(got, count);
    CHECK_OK(MPI_Test_cancelled(status, &cancelled));
    CHECK_INT(cancelled, 0);
}

static void ring(int count, int seed, int replace, int wild)
{
    int to = (rank + 1) % size, from = (rank + size - 1) % size;
    int source = wild ? MPI_ANY_SOURCE : from, tag = wild ? MPI_ANY_TAG : 5;
    size_t bytes = (size_t)count * sizeof(int);
    MPI_Request request;
    MPI_Status status;
    fill(out, bytes, (unsigned)(seed + rank));
    if (seed % 3 == 0 && replace) {
        CHECK_OK(MPI_Isendrecv_replace_c(out, count, MPI_INT, to, 5, source, tag, MPI_COMM_WORLD,
                                         &request));
    } else if (seed % 3 == 0) {
        memset(in, 0, bytes);
        CHECK_OK(MPI_Isendrecv_c(out, count, MPI_INT, to, 5, in, MOST, MPI_INT, source, tag,
                                 MPI_COMM_WORLD, &request));
    } else if (replace) {
        CHECK_OK(MPI_Isendrecv_replace(out, count, MPI_INT, to, 5, source, tag, MPI_COMM_WORLD,
                                       &request));
    } else {
        memset(in, 0, bytes);
        CHECK_OK(MPI_Isendrecv(out, count, MPI_INT, to, 5, in, MOST, MPI_INT, source, tag,
                               MPI_COMM_WORLD, &request));
    }
    CHECK_OK(MPI_Wait(&request, &status));
    CHECK(request == MPI_REQUEST_NULL);
    check_status(&status, from, 5, count);
    CHECK_FILLED(replace ? out : in, bytes, (unsigned)(seed + from));
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD)); /* wildcards must not see the next round */
}

/* The other side uses plain sends and receives, and does nothing until ours have been started. */
static void plain_partner(int count)
{
    size_t bytes = (size_t)count * sizeof(int);
    if (size < 2 || rank > 1)
        return;
    int other = 1 - rank;
    fill(out, bytes, (unsigned)rank);
    if (rank == 0) {
        MPI_Request request;
        MPI_Status status;
        int flag = 0;
        CHECK_OK(MPI_Isendrecv(out, count, MPI_INT, other, 1, in, count, MPI_INT, other, 2,
                               MPI_COMM_WORLD, &request));
        CHECK_OK(MPI_Send(NULL, 0, MPI_INT, other, 3, MPI_COMM_WORLD));
        while (!flag)
            CHECK_OK(MPI_Test(&request, &flag, &status));
        check_status(&status, other, 2, count);
    } else {
        CHECK_OK(MPI_Recv(NULL, 0, MPI_INT, other, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        CHECK_OK(MPI_Send(out, count, MPI_INT, other, 2, MPI_COMM_WORLD));
        CHECK_OK(MPI_Recv(in, count, MPI_INT, other, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    }
    CHECK_FILLED(in, bytes, (unsigned)other);
}

static void no_partner(int count)
{
    int null = MPI_PROC_NULL, next = (rank + 1) % size;
    MPI_Request requests[4];
    MPI_Status statuses[4];
    memset(in, 7, sizeof(int));
    int before = in[0];
    CHECK_OK(MPI_Isendrecv(out, count, MPI_INT, null, 1, in, count, MPI_INT, null, 1,
                           MPI_COMM_WORLD, &requests[0]));
    CHECK_OK(
        MPI_Isendrecv_replace(in, count, MPI_INT, null, 1, null, 1, MPI_COMM_WORLD, &requests[1]));
    CHECK_OK(MPI_Waitall(2, requests, statuses));
    for (int i = 0; i < 2; i++)
        check_status(&statuses[i], null, MPI_ANY_TAG, 0);
    CHECK_INT(in[0], before);
    /* Half of it. */
    fill(out, (size_t)count * sizeof(int), 3);
    CHECK_OK(MPI_Isendrecv(out, count, MPI_INT, next, 8, NULL, 0, MPI_INT, null, 1, MPI_COMM_WORLD,
                           &requests[0]));
    CHECK_OK(MPI_Isendrecv(NULL, 0, MPI_INT, null, 1, in, count, MPI_INT, MPI_ANY_SOURCE, 8,
                           MPI_COMM_WORLD, &requests[1]));
    CHECK_OK(MPI_Waitall(2, requests, statuses));
    check_status(&statuses[0], null, MPI_ANY_TAG, 0);
    check_status(&statuses[1], (rank + size - 1) % size, 8, count);
    CHECK_FILLED(in, (size_t)count * sizeof(int), 3);
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
}

/* Communicator and both types are freed, or the request itself, while a large message waits. */
static void freed_meanwhile(int free_request)
{
    enum { BLOCKS = 40000 };
    int to = (rank + 1) % size, from = (rank + size - 1) % size;
    MPI_Comm comm;
    MPI_Datatype send_type, recv_type;
    MPI_Request request, go[2];
    for (int i = 0; i < BLOCKS; i++)
        out[2 * i] = rank + i, in[3 * i] = -1;
    CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    CHECK_OK(MPI_Type_vector(BLOCKS, 1, 2, MPI_INT, &send_type));
    CHECK_OK(MPI_Type_vector(BLOCKS, 1, 3, MPI_INT, &recv_type));
    CHECK_OK(MPI_Type_commit(&send_type));
    CHECK_OK(MPI_Type_commit(&recv_type));
    CHECK_OK(MPI_Isendrecv(out, 1, send_type, to, 1, in, 1, recv_type, from, 1, comm, &request));
    CHECK_OK(MPI_Type_free(&send_type));
    CHECK_OK(MPI_Type_free(&recv_type));
    CHECK_OK(MPI_Comm_free(&comm));
    if (free_request) {
        CHECK_OK(MPI_Request_free(&request));
        CHECK(request == MPI_REQUEST_NULL);
        /* All that is known now is that it ends some time. Bytes arrive in any order. */
        for (int i = 0; i < BLOCKS; i++)
            while (((volatile int *)in)[3 * i] != from + i) {
                int flag;
                CHECK_OK(MPI_Iprobe(MPI_ANY_SOURCE, 77, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE));
            }
    } else {
        CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    }
    /* Nobody writes to `out` before the neighbour has it. */
    CHECK_OK(MPI_Irecv(NULL, 0, MPI_INT, to, 2, MPI_COMM_WORLD, &go[0]));
    CHECK_OK(MPI_Isend(NULL, 0, MPI_INT, from, 2, MPI_COMM_WORLD, &go[1]));
    CHECK_OK(MPI_Waitall(2, go, MPI_STATUSES_IGNORE));
    for (int i = 0; i < BLOCKS; i++)
        CHECK_INT(in[3 * i], from + i);
}

static void cancelled(void)
{
    MPI_Request request;
    MPI_Status status;
    int flag = -1;
    /* Nobody receives tag 11 or sends tag 12. */
    CHECK_OK(MPI_Isendrecv(out, MOST, MPI_INT, (rank + 1) % size, 11, in, MOST, MPI_INT,
                           MPI_ANY_SOURCE, 12, MPI_COMM_WORLD, &request));
    CHECK_OK(MPI_Cancel(&request));
    CHECK_OK(MPI_Wait(&request, &status));
    CHECK_OK(MPI_Test_cancelled(&status, &flag));
    CHECK_INT(flag, 1);
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
    CHECK_OK(MPI_Iprobe(MPI_ANY_SOURCE, 11, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE));
    CHECK_INT(flag, 0);
}

static void truncated(int sent)
{
    MPI_Request request;
    MPI_Status status;
    in[1] = 99;
    CHECK_OK(MPI_Isendrecv(out, sent, MPI_INT, (rank + 1) % size, 21, in, 1, MPI_INT,
                           MPI_ANY_SOURCE, 21, MPI_COMM_WORLD, &request));
    CHECK_CLASS(MPI_Wait(&request, &status), MPI_ERR_TRUNCATE);
    CHECK(request == MPI_REQUEST_NULL);
    CHECK_INT(in[1], 99);
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
}

int main(int argc, char **argv)
{
    start(&argc, &argv);
    return_errors(MPI_COMM_WORLD);
    for (int i = 0; i < 5; i++)
        for (int kind = 0; kind < 4; kind++)
            ring(sizes[i], 10 * i + kind, kind & 1, kind & 2);
    for (int i = 0; i < 5; i++)
        plain_partner(sizes[i]);
    no_partner(1);
    no_partner(MOST);
    freed_meanwhile(0);
    freed_meanwhile(1);
    cancelled();
    truncated(2);
    truncated(MOST);
    return end();
}
