/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 */
/* Receives that fail at once, and several that fail together, after the user has freed their communicator: the error is
 * reported, to the handler of MPI_COMM_WORLD. */
#include "check.h"

static int calls;

static void note(MPI_Comm *comm, int *code, ...)
{
    CHECK(*comm == MPI_COMM_WORLD);
    CHECK_CLASS(*code, calls ? MPI_ERR_IN_STATUS : MPI_ERR_TRUNCATE);
    calls++;
}

static void use_freed_memory(void)
{
    enum { LARGEST = 4096 };
    void *blocks[LARGEST / 16];
    for (int i = 0; i < LARGEST / 16; i++) {
        blocks[i] = allocate((size_t) (i + 1) * 16);
        memset(blocks[i], 0x5a, (size_t) (i + 1) * 16);
    }
    for (int i = 0; i < LARGEST / 16; i++)
        free(blocks[i]);
}

int main(int argc, char **argv)
{
    MPI_Errhandler handler;
    MPI_Comm comm;
    MPI_Request requests[3];
    MPI_Status statuses[3];
    int two[2] = { 1, 2 }, one[3] = { 0, 0, 0 };

    start(&argc, &argv);
    CHECK_OK(MPI_Comm_create_errhandler(note, &handler));
    CHECK_OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler));

    CHECK_OK(MPI_Comm_dup(MPI_COMM_SELF, &comm));
    return_errors(comm);
    CHECK_OK(MPI_Send(two, 2, MPI_INT, 0, 1, comm));
    CHECK_OK(MPI_Irecv(one, 1, MPI_INT, 0, 1, comm, &requests[0]));
    CHECK_OK(MPI_Comm_free(&comm));
    use_freed_memory();
    CHECK_CLASS(MPI_Wait(&requests[0], &statuses[0]), MPI_ERR_TRUNCATE);
    CHECK_INT(calls, 1);
    CHECK_INT(one[0], 1);

    CHECK_OK(MPI_Comm_dup(MPI_COMM_SELF, &comm));
    return_errors(comm);
    for (int i = 0; i < 3; i++)
        CHECK_OK(MPI_Irecv(&one[i], 1, MPI_INT, 0, i, comm, &requests[i]));
    for (int i = 0; i < 3; i++)
        CHECK_OK(MPI_Send(two, i == 1 ? 1 : 2, MPI_INT, 0, i, comm));
    CHECK_OK(MPI_Comm_free(&comm));
    CHECK_CLASS(MPI_Waitall(3, requests, statuses), MPI_ERR_IN_STATUS);
    CHECK_INT(calls, 2);
    for (int i = 0; i < 3; i++) {
        CHECK_CLASS(statuses[i].MPI_ERROR, i == 1 ? MPI_SUCCESS : MPI_ERR_TRUNCATE);
        CHECK(requests[i] == MPI_REQUEST_NULL);
    }
    CHECK_OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL));
    CHECK_OK(MPI_Errhandler_free(&handler));
    return end();
}
