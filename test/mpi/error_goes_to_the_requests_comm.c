/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 2 */
/* The fault of a request is reported to the error handler of its own communicator, also by calls that have several. */
#include "check.h"

static int calls_of_world, calls_of_copy;

static void on_world(MPI_Comm *comm, int *code, ...)
{
    (void) comm, (void) code;
    calls_of_world++;
}

static void on_copy(MPI_Comm *comm, int *code, ...)
{
    (void) comm, (void) code;
    calls_of_copy++;
}

int main(int argc, char **argv)
{
    MPI_Comm copy;
    MPI_Errhandler world_handler, copy_handler;
    MPI_Request request, requests[2];
    MPI_Status status, statuses[2];
    int in[2], out[8] = { 0 }, index, count, indices[2];

    start(&argc, &argv);
    CHECK_OK(MPI_Comm_dup(MPI_COMM_SELF, &copy));
    CHECK_OK(MPI_Comm_create_errhandler(on_world, &world_handler));
    CHECK_OK(MPI_Comm_create_errhandler(on_copy, &copy_handler));
    CHECK_OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, world_handler));
    CHECK_OK(MPI_Comm_set_errhandler(copy, copy_handler));
    CHECK_OK(MPI_Errhandler_free(&world_handler));
    CHECK_OK(MPI_Errhandler_free(&copy_handler));

    CHECK_OK(MPI_Irecv(&in[0], 1, MPI_INT, 0, 0, copy, &request));
    CHECK_OK(MPI_Send(out, 8, MPI_INT, 0, 0, copy));
    CHECK_CLASS(MPI_Wait(&request, &status), MPI_ERR_TRUNCATE);
    CHECK_INT(calls_of_copy, 1);

    CHECK_OK(MPI_Irecv(&in[0], 1, MPI_INT, 0, 0, MPI_COMM_SELF, &requests[0]));
    CHECK_OK(MPI_Irecv(&in[1], 1, MPI_INT, 0, 0, copy, &requests[1]));
    CHECK_OK(MPI_Send(out, 1, MPI_INT, 0, 0, MPI_COMM_SELF));
    CHECK_OK(MPI_Send(out, 8, MPI_INT, 0, 0, copy));
    CHECK_CLASS(MPI_Waitall(2, requests, statuses), MPI_ERR_IN_STATUS);
    CHECK_INT(statuses[0].MPI_ERROR, MPI_SUCCESS);
    CHECK_CLASS(statuses[1].MPI_ERROR, MPI_ERR_TRUNCATE);
    CHECK_INT(calls_of_copy, 2);

    CHECK_OK(MPI_Irecv(&in[1], 1, MPI_INT, 0, 0, copy, &requests[1]));
    CHECK_OK(MPI_Send(out, 8, MPI_INT, 0, 0, copy));
    CHECK_CLASS(MPI_Waitany(2, requests, &index, &status), MPI_ERR_TRUNCATE);
    CHECK_INT(index, 1);
    CHECK_INT(calls_of_copy, 3);

    CHECK_OK(MPI_Irecv(&in[1], 1, MPI_INT, 0, 0, copy, &requests[1]));
    CHECK_OK(MPI_Send(out, 8, MPI_INT, 0, 0, copy));
    CHECK_CLASS(MPI_Waitsome(2, requests, &count, indices, statuses), MPI_ERR_IN_STATUS);
    CHECK_INT(count, 1);
    CHECK_INT(indices[0], 1);
    CHECK_CLASS(statuses[0].MPI_ERROR, MPI_ERR_TRUNCATE);
    CHECK_INT(calls_of_copy, 4);
    CHECK_INT(calls_of_world, 0);

    /* With the communicator freed meanwhile, MPI_COMM_WORLD's is left. */
    CHECK_OK(MPI_Irecv(&in[0], 1, MPI_INT, 0, 0, copy, &request));
    CHECK_OK(MPI_Send(out, 8, MPI_INT, 0, 0, copy));
    CHECK_OK(MPI_Comm_free(&copy));
    CHECK_CLASS(MPI_Wait(&request, &status), MPI_ERR_TRUNCATE);
    CHECK_INT(calls_of_copy + calls_of_world, 5);
    return end();
}
