/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 2 */
/* User error handlers get their communicator and code, are inherited by dup, and freed. */
#include "check.h"

static int calls, last_code;
static MPI_Comm last_comm;

static void handle(MPI_Comm *comm, int *code, ...)
{
    calls++;
    last_code = *code;
    last_comm = *comm;
}

static void other(MPI_Comm *comm, int *code, ...)
{
    (void) comm;
    (void) code;
    calls += 100;
}

int main(int argc, char **argv)
{
    start(&argc, &argv);
    MPI_Errhandler mine, second, got;
    MPI_Comm copy, split;
    int x = 0;
    CHECK_OK(MPI_Comm_get_errhandler(MPI_COMM_WORLD, &got));
    CHECK(got == MPI_ERRORS_ARE_FATAL);
    CHECK_OK(MPI_Comm_create_errhandler(handle, &mine));
    CHECK_OK(MPI_Comm_create_errhandler(other, &second));
    CHECK_OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, mine));
    CHECK_OK(MPI_Comm_get_errhandler(MPI_COMM_WORLD, &got));
    CHECK(got == mine);
    CHECK_OK(MPI_Errhandler_free(&got));
    CHECK_CLASS(MPI_Send(&x, 1, MPI_INT, size, 0, MPI_COMM_WORLD), MPI_ERR_RANK);
    CHECK_INT(calls, 1);
    CHECK(last_comm == MPI_COMM_WORLD);
    CHECK_CLASS(last_code, MPI_ERR_RANK);
    /* A duplicate inherits; changing one leaves the other. */
    CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &copy));
    CHECK_OK(MPI_Comm_split(MPI_COMM_WORLD, 0, 0, &split));
    CHECK_CLASS(MPI_Send(&x, -1, MPI_INT, 0, 0, copy), MPI_ERR_COUNT);
    CHECK_INT(calls, 2);
    CHECK(last_comm == copy);
    CHECK_OK(MPI_Comm_set_errhandler(copy, second));
    CHECK_OK(MPI_Errhandler_free(&second));
    CHECK(second == MPI_ERRHANDLER_NULL);
    CHECK_CLASS(MPI_Send(&x, -1, MPI_INT, 0, 0, copy), MPI_ERR_COUNT);
    CHECK_INT(calls, 102);
    CHECK_OK(MPI_Comm_call_errhandler(MPI_COMM_WORLD, MPI_ERR_TAG));
    CHECK_INT(calls, 103);
    CHECK_INT(last_code, MPI_ERR_TAG);
    /* A freed handler works as long as a communicator has it. */
    CHECK_OK(MPI_Errhandler_free(&mine));
    CHECK_CLASS(MPI_Recv(&x, 1, MPI_INT, size + 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE),
                MPI_ERR_RANK);
    CHECK_INT(calls, 104);
    CHECK_OK(MPI_Comm_free(&split));
    CHECK_OK(MPI_Comm_free(&copy));
    CHECK_OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL));
    return end();
}
