/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 2 3 4 5 8 */
/* Only an inactive persistent request can be started, and the rest of an array is not touched; an
 * active one can be freed and still does its work; one that was freed is no request any more. */
#include "check.h"

enum { INTS = 100000 };

static int to, from;

static void refused(void)
{
    int x = 1, y = 0;
    MPI_Request plain, array[3], null = MPI_REQUEST_NULL;
    CHECK_CLASS(MPI_Start(&null), MPI_ERR_REQUEST);
    CHECK_OK(MPI_Irecv(&y, 1, MPI_INT, from, 1, MPI_COMM_WORLD, &plain));
    CHECK_CLASS(MPI_Start(&plain), MPI_ERR_REQUEST);
    CHECK(plain != MPI_REQUEST_NULL);
    CHECK_OK(MPI_Send(&x, 1, MPI_INT, to, 1, MPI_COMM_WORLD));
    CHECK_OK(MPI_Wait(&plain, MPI_STATUS_IGNORE));
    CHECK_INT(y, 1);
    CHECK_CLASS(MPI_Start(&plain), MPI_ERR_REQUEST);

    y = 0;
    CHECK_OK(MPI_Recv_init(&y, 1, MPI_INT, from, 2, MPI_COMM_WORLD, &array[0]));
    array[1] = MPI_REQUEST_NULL;
    CHECK_OK(MPI_Send_init(&x, 1, MPI_INT, to, 2, MPI_COMM_WORLD, &array[2]));
    CHECK_CLASS(MPI_Startall(3, array), MPI_ERR_REQUEST);
    CHECK_CLASS(MPI_Startall(-1, array), MPI_ERR_ARG);
    CHECK_OK(MPI_Startall(0, NULL));
    int flag = -1;
    CHECK_OK(MPI_Test(&array[2], &flag, MPI_STATUS_IGNORE)); /* behind the null one: not started */
    CHECK_INT(flag, 1);
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
    CHECK_OK(MPI_Iprobe(MPI_ANY_SOURCE, 2, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE));
    CHECK_INT(flag, 0);
    if (MPI_Start(&array[0]) != MPI_SUCCESS) { /* whether it was started is the library's choice */
        CHECK_CLASS(MPI_Start(&array[0]), MPI_ERR_REQUEST);
    }
    CHECK_CLASS(MPI_Start(&array[0]), MPI_ERR_REQUEST); /* but now it is */
    CHECK_OK(MPI_Start(&array[2]));
    CHECK_OK(MPI_Waitall(3, array, MPI_STATUSES_IGNORE));
    CHECK_INT(y, 1);
    CHECK_OK(MPI_Request_free(&array[0]));
    CHECK_CLASS(MPI_Request_free(&array[0]), MPI_ERR_REQUEST); /* null now */
    CHECK_OK(MPI_Request_free(&array[2]));
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
}

/* Persistent and plain requests of both kinds are freed while nothing can be through. */
static void freed_active(int persistent)
{
    int *data = allocate(INTS * sizeof *data), *got = allocate(INTS * sizeof *got), word = 3, other;
    MPI_Request recv, send;
    fill(data, INTS * sizeof *data, (unsigned)rank);
    if (persistent) {
        CHECK_OK(MPI_Recv_init(got, INTS, MPI_INT, from, 3, MPI_COMM_WORLD, &recv));
        CHECK_OK(MPI_Send_init(data, INTS, MPI_INT, to, 3, MPI_COMM_WORLD, &send));
        CHECK_OK(MPI_Start(&recv));
    } else {
        CHECK_OK(MPI_Irecv(got, INTS, MPI_INT, from, 3, MPI_COMM_WORLD, &recv));
    }
    CHECK_OK(MPI_Request_free(&recv));
    CHECK(recv == MPI_REQUEST_NULL);
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
    if (persistent)
        CHECK_OK(MPI_Start(&send));
    else
        CHECK_OK(MPI_Isend(data, INTS, MPI_INT, to, 3, MPI_COMM_WORLD, &send));
    CHECK_OK(MPI_Request_free(&send));
    CHECK(send == MPI_REQUEST_NULL);
    /* One can know of the end only by what arrives, byte by byte and in any order. */
    const volatile unsigned char *arrived = (unsigned char *)got;
    for (size_t i = 0; i < INTS * sizeof *got; i++)
        for (int flag; arrived[i] != pattern((unsigned)from, i);)
            CHECK_OK(MPI_Iprobe(MPI_ANY_SOURCE, 77, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE));
    CHECK_OK(MPI_Sendrecv(&word, 1, MPI_INT, from, 4, &other, 1, MPI_INT, to, 4, MPI_COMM_WORLD,
                          MPI_STATUS_IGNORE));
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
    CHECK_FILLED(got, INTS * sizeof *got, (unsigned)from);
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
    refused();
    freed_active(0);
    freed_active(1);
    return end();
}
