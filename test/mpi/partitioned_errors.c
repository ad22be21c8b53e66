/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 2 3 4 5 8; needs: MPI_Psend_init MPI_Request_get_status_all */
/* What is wrong with partitioned requests is refused and changes nothing; MPI_PROC_NULL and no
 * partitions are fine; a message longer than its receive is MPI_ERR_TRUNCATE there, a shorter one
 * is not. */
#include "check.h"

enum { PARTS = 4 };

static int out[PARTS], in[PARTS], to, from;

static void misuse(void)
{
    MPI_Comm comm = MPI_COMM_WORLD;
    MPI_Request send, recv, plain, null = MPI_REQUEST_NULL;
    int flag = -1, list[] = {2, 7};
    CHECK_CLASS(
        MPI_Precv_init(in, PARTS, 1, MPI_INT, MPI_ANY_SOURCE, 1, comm, MPI_INFO_NULL, &recv),
        MPI_ERR_RANK);
    CHECK_CLASS(
        MPI_Precv_init(in, PARTS, 1, MPI_INT, from, MPI_ANY_TAG, comm, MPI_INFO_NULL, &recv),
        MPI_ERR_TAG);
    CHECK_CLASS(MPI_Psend_init(out, -1, 1, MPI_INT, to, 1, comm, MPI_INFO_NULL, &send),
                MPI_ERR_ARG);
    CHECK_CLASS(MPI_Psend_init(out, PARTS, -1, MPI_INT, to, 1, comm, MPI_INFO_NULL, &send),
                MPI_ERR_COUNT);
    CHECK_OK(MPI_Psend_init(out, PARTS, 1, MPI_INT, to, 1, comm, MPI_INFO_NULL, &send));
    CHECK_OK(MPI_Precv_init(in, PARTS, 1, MPI_INT, from, 1, comm, MPI_INFO_NULL, &recv));
    CHECK_OK(MPI_Send_init(out, 1, MPI_INT, to, 1, comm, &plain));

    CHECK_OK(MPI_Parrived(null, 0, &flag));
    CHECK_INT(flag, 1);
    flag = -1;
    CHECK_OK(MPI_Parrived(recv, PARTS - 1, &flag));
    CHECK_INT(flag, 1);
    CHECK_CLASS(MPI_Parrived(recv, PARTS, &flag), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Parrived(send, 0, &flag), MPI_ERR_REQUEST);
    CHECK_CLASS(MPI_Parrived(plain, 0, &flag), MPI_ERR_REQUEST);
    CHECK_CLASS(MPI_Pready(0, send), MPI_ERR_REQUEST); /* not started */
    CHECK_CLASS(MPI_Cancel(&send), MPI_ERR_REQUEST);

    for (int i = 0; i < PARTS; i++)
        out[i] = rank + i, in[i] = -1;
    CHECK_OK(MPI_Start(&recv));
    CHECK_OK(MPI_Start(&send));
    CHECK_CLASS(MPI_Start(&send), MPI_ERR_REQUEST);
    CHECK_CLASS(MPI_Pready(PARTS, send), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Pready(-1, send), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Pready(0, recv), MPI_ERR_REQUEST);
    CHECK_CLASS(MPI_Pready(0, plain), MPI_ERR_REQUEST);
    CHECK_CLASS(MPI_Pready(0, null), MPI_ERR_REQUEST);
    CHECK_OK(MPI_Pready(0, send));
    CHECK_CLASS(MPI_Pready(0, send), MPI_ERR_ARG); /* again */
    CHECK_CLASS(MPI_Pready_range(2, 1, send), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Pready_range(1, PARTS, send), MPI_ERR_ARG); /* and 1 is still free */
    CHECK_CLASS(MPI_Pready_list(2, list, send), MPI_ERR_ARG);
    CHECK_OK(MPI_Pready_list(0, NULL, send));
    CHECK_CLASS(MPI_Cancel(&send), MPI_ERR_REQUEST);
    CHECK_CLASS(MPI_Cancel(&recv), MPI_ERR_REQUEST);
    CHECK_CLASS(MPI_Request_free(&send), MPI_ERR_REQUEST);
    CHECK_CLASS(MPI_Request_free(&recv), MPI_ERR_REQUEST);
    CHECK(send != MPI_REQUEST_NULL && recv != MPI_REQUEST_NULL);
    CHECK_OK(MPI_Test(&send, &flag, MPI_STATUS_IGNORE));
    CHECK_INT(flag, 0);
    CHECK_OK(MPI_Pready_range(1, 2, send));
    CHECK_OK(MPI_Pready(PARTS - 1, send));
    CHECK_OK(MPI_Wait(&recv, MPI_STATUS_IGNORE));
    CHECK_OK(MPI_Wait(&send, MPI_STATUS_IGNORE));
    for (int i = 0; i < PARTS; i++)
        CHECK_INT(in[i], from + i);
    CHECK_OK(MPI_Wait(&send, MPI_STATUS_IGNORE)); /* inactive: at once */
    CHECK_OK(MPI_Request_free(&send));
    CHECK_OK(MPI_Request_free(&recv));
    CHECK_OK(MPI_Request_free(&plain));
}

static void no_partner(void)
{
    MPI_Request requests[2];
    MPI_Status statuses[2];
    int count = -1, flag = -1;
    CHECK_OK(MPI_Psend_init(out, PARTS, 1, MPI_INT, MPI_PROC_NULL, 1, MPI_COMM_WORLD, MPI_INFO_NULL,
                            &requests[0]));
    CHECK_OK(MPI_Precv_init(in, PARTS, 1, MPI_INT, MPI_PROC_NULL, 1, MPI_COMM_WORLD, MPI_INFO_NULL,
                            &requests[1]));
    for (int round = 0; round < 2; round++) {
        memset(in, 5, sizeof in);
        int before = in[0];
        CHECK_OK(MPI_Startall(2, requests));
        CHECK_OK(MPI_Parrived(requests[1], 0, &flag));
        CHECK_INT(flag, 1);
        CHECK_OK(MPI_Pready_range(0, PARTS - 1, requests[0]));
        CHECK_OK(MPI_Waitall(2, requests, statuses));
        CHECK_INT(statuses[1].MPI_SOURCE, MPI_PROC_NULL);
        CHECK_INT(statuses[1].MPI_TAG, MPI_ANY_TAG);
        CHECK_OK(MPI_Get_count(&statuses[1], MPI_INT, &count));
        CHECK_INT(count, 0);
        CHECK_INT(in[0], before);
    }
    CHECK_OK(MPI_Request_free(&requests[0]));
    CHECK_OK(MPI_Request_free(&requests[1]));
}

static void other_length(int sent, int room)
{
    MPI_Request send, recv;
    MPI_Status status;
    int *data = allocate((size_t)sent * sizeof *data),
        *got = allocate((size_t)(room + 1) * sizeof *got), count = -1;
    for (int i = 0; i < sent; i++)
        data[i] = i;
    memset(got, -1, (size_t)(room + 1) * sizeof *got);
    CHECK_OK(
        MPI_Psend_init(data, 2, sent / 2, MPI_INT, to, 1, MPI_COMM_WORLD, MPI_INFO_NULL, &send));
    CHECK_OK(
        MPI_Precv_init(got, 2, room / 2, MPI_INT, from, 1, MPI_COMM_WORLD, MPI_INFO_NULL, &recv));
    for (int round = 0; round < 2; round++) {
        CHECK_OK(MPI_Start(&recv));
        CHECK_OK(MPI_Start(&send));
        CHECK_OK(MPI_Pready_range(0, 1, send));
        if (sent > room)
            CHECK_CLASS(MPI_Wait(&recv, &status), MPI_ERR_TRUNCATE);
        else
            CHECK_OK(MPI_Wait(&recv, &status));
        CHECK_OK(MPI_Wait(&send, MPI_STATUS_IGNORE));
        CHECK_OK(MPI_Get_count(&status, MPI_INT, &count));
        CHECK_INT(count, sent < room ? sent : room);
        for (int i = 0; i <= room; i++)
            CHECK_INT(got[i], i < sent && i < room ? i : -1);
    }
    CHECK_OK(MPI_Request_free(&send));
    CHECK_OK(MPI_Request_free(&recv));
    free(data);
    free(got);
}

int main(int argc, char **argv)
{
    start(&argc, &argv);
    return_errors(MPI_COMM_WORLD);
    return_errors(MPI_COMM_SELF);
    to = (rank + 1) % size;
    from = (rank + size - 1) % size;
    misuse();
    no_partner();
    other_length(4, 2);
    other_length(2, 4);
    other_length(200000, 100000);
    other_length(100000, 200000);
    return end();
}
