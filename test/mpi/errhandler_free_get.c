/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 */
/* Every MPI_Comm_get_errhandler gives a reference of its own, of predefined handlers too, and what is freed stays
 * set; a handler may call MPI, change itself, and free what it was called for. */
#include "check.h"

static int calls;

static void handle(MPI_Comm *comm, int *code, ...)
{
    int n;
    (void)code;
    calls++;
    CHECK_OK(MPI_Comm_size(*comm, &n));
    CHECK_OK(MPI_Comm_set_errhandler(*comm, MPI_ERRORS_RETURN));
}

static void free_comm(MPI_Comm *comm, int *code, ...)
{
    MPI_Comm freed = *comm;
    (void)code;
    calls++;
    CHECK_OK(MPI_Comm_free(&freed));
}

int main(int argc, char **argv)
{
    start(&argc, &argv);
    MPI_Errhandler mine, got[3];
    MPI_Comm comm;
    int x = 0;
    for (int i = 0; i < 3; i++) {
        CHECK_OK(MPI_Comm_get_errhandler(MPI_COMM_SELF, &got[i]));
        CHECK(got[i] == MPI_ERRORS_ARE_FATAL);
        CHECK_OK(MPI_Errhandler_free(&got[i]));
        CHECK(got[i] == MPI_ERRHANDLER_NULL);
    }
    CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    CHECK_OK(MPI_Comm_create_errhandler(handle, &mine));
    CHECK_OK(MPI_Comm_set_errhandler(comm, mine));
    CHECK_OK(MPI_Comm_get_errhandler(comm, &got[0]));
    CHECK_OK(MPI_Comm_get_errhandler(comm, &got[1]));
    CHECK_OK(MPI_Errhandler_free(&mine));
    CHECK_OK(MPI_Errhandler_free(&got[0]));
    CHECK_OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, got[1]));
    CHECK_OK(MPI_Errhandler_free(&got[1]));
    CHECK_CLASS(MPI_Send(&x, -1, MPI_INT, 0, 0, comm), MPI_ERR_COUNT);
    CHECK_CLASS(MPI_Send(&x, -1, MPI_INT, 0, 0, comm), MPI_ERR_COUNT);
    CHECK_INT(calls, 1);
    CHECK_CLASS(MPI_Send(&x, -1, MPI_INT, 0, 0, MPI_COMM_SELF), MPI_ERR_COUNT);
    CHECK_INT(calls, 2);

    /* What MPI_Comm_call_errhandler returns is about the call, not about the code. */
    CHECK_OK(MPI_Comm_create_errhandler(free_comm, &mine));
    CHECK_OK(MPI_Comm_set_errhandler(comm, mine));
    CHECK_OK(MPI_Errhandler_free(&mine));
    CHECK_OK(MPI_Comm_call_errhandler(comm, MPI_ERR_OTHER));
    CHECK_INT(calls, 3);
    return end();
}
