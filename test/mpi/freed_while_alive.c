/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 */
/* A group or an error handler that the library still uses is refused when the program frees its
 * handle once more: a communicator keeps its group, and the handler it was given. */
#include "check.h"

static void ignore(MPI_Comm *comm, int *code, ...)
{
    (void)comm;
    (void)code;
}

static void free_twice(MPI_Comm comm)
{
    MPI_Group group, again, other;
    CHECK_OK(MPI_Comm_group(comm, &group));
    CHECK_OK(MPI_Comm_group(comm, &other));
    again = group;
    CHECK_OK(MPI_Group_free(&group));
    CHECK_OK(MPI_Group_free(&other));
    for (int i = 0; i < 3; i++) {
        group = again;
        CHECK_CLASS(MPI_Group_free(&group), MPI_ERR_GROUP);
    }
    CHECK_OK(MPI_Comm_group(comm, &group));
    CHECK_INT(group != MPI_GROUP_NULL, 1);
    CHECK_OK(MPI_Group_free(&group));
}

int main(int argc, char **argv)
{
    start(&argc, &argv);
    MPI_Comm dup;
    MPI_Errhandler handler, again;
    int n;
    CHECK_OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
    CHECK_OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &dup));
    free_twice(MPI_COMM_WORLD);
    free_twice(MPI_COMM_SELF);
    free_twice(dup);

    CHECK_OK(MPI_Comm_create_errhandler(ignore, &handler));
    CHECK_OK(MPI_Comm_set_errhandler(dup, handler));
    again = handler;
    CHECK_OK(MPI_Errhandler_free(&handler));
    CHECK_CLASS(MPI_Errhandler_free(&again), MPI_ERR_ERRHANDLER);
    CHECK_CLASS(MPI_Send(&n, -1, MPI_INT, 0, 0, dup), MPI_ERR_COUNT);
    CHECK_OK(MPI_Comm_free(&dup));

    MPI_Group empty = MPI_GROUP_EMPTY;
    handler = MPI_ERRORS_RETURN;
    CHECK_OK(MPI_Group_free(&empty));
    CHECK_OK(MPI_Errhandler_free(&handler));
    CHECK_OK(MPI_Comm_size(MPI_COMM_WORLD, &n));
    return end();
}
