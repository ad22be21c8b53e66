/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 2 3 4 5 8; needs: MPI_Psend_init */
/* Partitioned sends and receives match by communicator, rank and tag, in the order in which they
 * were initialized, whatever the order in which they are started; freed ones keep their place;
 * nothing else matches them. */
#include "check.h"

enum { N = 20, PARTS = 3 };

static int to, from;

static MPI_Request send_init(int *data, int tag, MPI_Comm comm)
{
    MPI_Request request;
    CHECK_OK(MPI_Psend_init(data, PARTS, 1, MPI_INT, to, tag, comm, MPI_INFO_NULL, &request));
    return request;
}

static MPI_Request recv_init(int *data, int tag, MPI_Comm comm)
{
    MPI_Request request;
    CHECK_OK(MPI_Precv_init(data, PARTS, 1, MPI_INT, from, tag, comm, MPI_INFO_NULL, &request));
    return request;
}

static void send_all(MPI_Request *request)
{
    CHECK_OK(MPI_Start(request));
    CHECK_OK(MPI_Pready_range(0, PARTS - 1, *request));
}

/* Request k of N has tag k % tags. */
static void in_order(int tags, int recv_first, MPI_Comm comm)
{
    int out[N][PARTS], in[N][PARTS];
    MPI_Request sends[N], recvs[N];
    for (int k = 0; k < N && recv_first; k++)
        recvs[k] = recv_init(in[k], k % tags, comm);
    for (int k = 0; k < N; k++)
        sends[k] = send_init(out[k], k % tags, comm);
    if (!recv_first)
        CHECK_OK(MPI_Barrier(comm));
    for (int k = 0; k < N && !recv_first; k++)
        recvs[k] = recv_init(in[k], k % tags, comm);
    for (int round = 0; round < 3; round++) {
        for (int k = 0; k < N; k++)
            for (int i = 0; i < PARTS; i++)
                out[k][i] = 100 * k + i + round;
        for (int k = 0; k < N; k++) /* the order of starting says nothing */
            send_all(&sends[round == 1 ? k : N - 1 - k]);
        for (int k = 0; k < N; k++)
            CHECK_OK(MPI_Start(&recvs[(7 * k + round) % N]));
        CHECK_OK(MPI_Waitall(N, recvs, MPI_STATUSES_IGNORE));
        CHECK_OK(MPI_Waitall(N, sends, MPI_STATUSES_IGNORE));
        for (int k = 0; k < N; k++)
            for (int i = 0; i < PARTS; i++)
                CHECK_INT(in[k][i], 100 * k + i + round);
    }
    for (int k = 0; k < N; k++) {
        CHECK_OK(MPI_Request_free(&sends[k]));
        CHECK_OK(MPI_Request_free(&recvs[k]));
    }
}

/* The first pair is freed without ever being started, on the receiver before the sender has
 * announced it. */
static void freed_unused(MPI_Comm comm)
{
    int out[PARTS] = {4, 5, 6}, in[PARTS] = {0}, unused[PARTS];
    MPI_Request first = recv_init(unused, 9, comm), second = recv_init(in, 9, comm), send;
    CHECK_OK(MPI_Request_free(&first));
    CHECK(first == MPI_REQUEST_NULL);
    CHECK_OK(MPI_Start(&second)); /* before it has a partner */
    CHECK_OK(MPI_Barrier(comm));
    first = send_init(unused, 9, comm);
    CHECK_OK(MPI_Request_free(&first));
    send = send_init(out, 9, comm);
    send_all(&send);
    CHECK_OK(MPI_Wait(&second, MPI_STATUS_IGNORE));
    CHECK_OK(MPI_Wait(&send, MPI_STATUS_IGNORE));
    CHECK_BYTES(in, out, sizeof out);
    CHECK_OK(MPI_Request_free(&send));
    CHECK_OK(MPI_Request_free(&second));
}

/* Plain receives and probes with wildcards do not see partitioned messages, nor the other way
 * round. */
static void apart_from_others(void)
{
    int out[PARTS] = {1, 2, 3}, in[PARTS] = {0}, plain = 77, got = 0, flag = -1;
    MPI_Comm twin;
    MPI_Request any, send, recv, recv_twin;
    MPI_Status status;
    CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &twin));
    CHECK_OK(MPI_Irecv(&got, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &any));
    recv_twin = recv_init(in, 4, twin);
    CHECK_OK(MPI_Start(&recv_twin));
    send = send_init(out, 4, MPI_COMM_WORLD);
    send_all(&send);
    CHECK_OK(MPI_Wait(&send, MPI_STATUS_IGNORE));
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
    CHECK_OK(MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE));
    CHECK_INT(flag, 0);
    CHECK_OK(MPI_Test(&any, &flag, MPI_STATUS_IGNORE));
    CHECK_INT(flag, 0);
    CHECK_OK(MPI_Parrived(recv_twin, 0, &flag));
    CHECK_INT(flag, 0);
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
    CHECK_OK(MPI_Send(&plain, 1, MPI_INT, to, 4, MPI_COMM_WORLD));
    CHECK_OK(MPI_Wait(&any, &status));
    CHECK_INT(got, 77);
    CHECK_INT(status.MPI_TAG, 4);
    recv = recv_init(in, 4, MPI_COMM_WORLD);
    CHECK_OK(MPI_Start(&recv));
    CHECK_OK(MPI_Wait(&recv, MPI_STATUS_IGNORE));
    CHECK_BYTES(in, out, sizeof out);
    CHECK_OK(MPI_Request_free(&send));
    send = send_init(out, 4, twin);
    send_all(&send);
    CHECK_OK(MPI_Wait(&send, MPI_STATUS_IGNORE));
    CHECK_OK(MPI_Wait(&recv_twin, MPI_STATUS_IGNORE));
    CHECK_OK(MPI_Comm_free(&twin)); /* its requests still refer to it */
    CHECK_OK(MPI_Request_free(&recv_twin));
    CHECK_OK(MPI_Request_free(&send));
    CHECK_OK(MPI_Request_free(&recv));
}

/* Even against odd ranks. */
static void between_groups(void)
{
    MPI_Comm half, inter;
    int remote_size, out[PARTS] = {rank, rank + 1, rank + 2}, in[PARTS];
    if (size < 2)
        return;
    CHECK_OK(MPI_Comm_split(MPI_COMM_WORLD, rank % 2, 0, &half));
    CHECK_OK(MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - rank % 2, 5, &inter));
    CHECK_OK(MPI_Comm_remote_size(inter, &remote_size));
    if (rank / 2 < remote_size) { /* ranks 2k and 2k + 1 are partners */
        MPI_Request requests[2];
        CHECK_OK(MPI_Psend_init(out, PARTS, 1, MPI_INT, rank / 2, 1, inter, MPI_INFO_NULL,
                                &requests[0]));
        CHECK_OK(
            MPI_Precv_init(in, 1, PARTS, MPI_INT, rank / 2, 1, inter, MPI_INFO_NULL, &requests[1]));
        CHECK_OK(MPI_Startall(2, requests));
        CHECK_OK(MPI_Pready_range(0, PARTS - 1, requests[0]));
        CHECK_OK(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
        for (int i = 0; i < PARTS; i++)
            CHECK_INT(in[i], (rank ^ 1) + i);
        CHECK_OK(MPI_Request_free(&requests[0]));
        CHECK_OK(MPI_Request_free(&requests[1]));
    }
    CHECK_OK(MPI_Comm_free(&half));
    CHECK_OK(MPI_Comm_free(&inter));
}

int main(int argc, char **argv)
{
    start(&argc, &argv);
    to = (rank + 1) % size;
    from = (rank + size - 1) % size;
    for (int tags = 1; tags <= N; tags += 3) {
        in_order(tags, 0, MPI_COMM_WORLD);
        in_order(tags, 1, MPI_COMM_WORLD);
    }
    freed_unused(MPI_COMM_WORLD);
    apart_from_others();
    between_groups();
    /* A receive that never found a partner does not keep its communicator from being freed. */
    MPI_Comm comm;
    int x[PARTS];
    CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    MPI_Request lonely = recv_init(x, 1, comm);
    CHECK_OK(MPI_Request_free(&lonely));
    CHECK_OK(MPI_Comm_free(&comm));
    lonely = recv_init(x, 1000, MPI_COMM_WORLD);
    CHECK_OK(MPI_Request_free(&lonely));
    return end();
}
