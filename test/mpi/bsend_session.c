/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 2 3 5; needs: MPI_Session_attach_buffer MPI_Comm_create_from_group */
/* A session's buffer serves the communicators that come from it and have none of their own, also
 * duplicates; those of the World Model and of other sessions use theirs; MPI_Session_finalize gives
 * the memory back. */
#include "check.h"

enum { INTS = 30000 };

static int data[INTS], got[INTS], to, from;

static MPI_Comm open_comm(MPI_Session session, const char *name)
{
    MPI_Group group;
    MPI_Comm comm;
    CHECK_OK(MPI_Group_from_session_pset(session, "mpi://WORLD", &group));
    CHECK_OK(MPI_Comm_create_from_group(group, name, MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm));
    CHECK_OK(MPI_Group_free(&group));
    return comm;
}

static void bsend(int value, MPI_Comm comm)
{
    for (int i = 0; i < INTS; i++)
        data[i] = value + i;
    CHECK_OK(MPI_Bsend(data, INTS, MPI_INT, to, 1, comm));
    memset(data, -1, sizeof data);
}

static void receive(int value, MPI_Comm comm)
{
    CHECK_OK(MPI_Recv(got, INTS, MPI_INT, from, 1, comm, MPI_STATUS_IGNORE));
    for (int i = 0; i < INTS; i++)
        CHECK_INT(got[i], value + i);
}

int main(int argc, char **argv)
{
    size_t one = sizeof data + MPI_BSEND_OVERHEAD;
    char *room = allocate(one), *other_room = allocate(one);
    void *back = NULL;
    int bytes = -1, flag;
    MPI_Session session, other;
    MPI_Request request;
    start(&argc, &argv);
    return_errors(MPI_COMM_WORLD);
    to = (rank + 1) % size;
    from = (rank + size - 1) % size;
    CHECK_OK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session));
    CHECK_OK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &other));
    MPI_Comm comm = open_comm(session, "one"), other_comm = open_comm(other, "other"), twin;
    CHECK_OK(MPI_Comm_dup(comm, &twin));

    CHECK_CLASS(MPI_Bsend(data, 1, MPI_INT, to, 1, comm), MPI_ERR_BUFFER);
    CHECK_OK(MPI_Session_flush_buffer(session)); /* none: nothing to do */
    CHECK_OK(MPI_Session_attach_buffer(session, room, (int)one));
    CHECK_CLASS(MPI_Session_attach_buffer(session, room, (int)one), MPI_ERR_BUFFER);
    CHECK_CLASS(MPI_Bsend(data, 1, MPI_INT, to, 1, other_comm), MPI_ERR_BUFFER);
    CHECK_CLASS(MPI_Bsend(data, 1, MPI_INT, to, 1, MPI_COMM_WORLD), MPI_ERR_BUFFER);
    bsend(10, twin);
    CHECK_CLASS(MPI_Bsend(data, INTS, MPI_INT, to, 2, comm), MPI_ERR_BUFFER); /* full */
    CHECK_OK(MPI_Comm_attach_buffer(comm, other_room, (int)one)); /* its own comes first */
    bsend(20, comm);
    CHECK_OK(MPI_Session_iflush_buffer(session, &request));
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
    CHECK_OK(MPI_Test(&request, &flag, MPI_STATUS_IGNORE));
    CHECK_INT(flag, 0);
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
    receive(10, twin);
    CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    CHECK_OK(MPI_Session_flush_buffer(session));
    receive(20, comm);
    CHECK_OK(MPI_Comm_detach_buffer(comm, &back, &bytes));
    CHECK(back == other_room);
    CHECK_OK(MPI_Session_detach_buffer(session, &back, &bytes));
    CHECK(back == room);
    CHECK_INT(bytes, one);
    CHECK_CLASS(MPI_Session_detach_buffer(session, &back, &bytes), MPI_ERR_BUFFER);

    CHECK_OK(MPI_Session_attach_buffer(other, MPI_BUFFER_AUTOMATIC, 0));
    for (int i = 0; i < 5; i++)
        bsend(i, other_comm);
    for (int i = 0; i < 5; i++)
        receive(i, other_comm);
    CHECK_OK(MPI_Session_detach_buffer(other, &back, &bytes));
    CHECK(back == MPI_BUFFER_AUTOMATIC);

    /* Ending the session waits for what its buffer holds. */
    CHECK_OK(MPI_Session_attach_buffer(session, room, (int)one));
    CHECK_OK(MPI_Irecv(got, INTS, MPI_INT, from, 1, comm, &request));
    bsend(30, comm);
    MPI_Comm kept = comm;
    CHECK_OK(MPI_Comm_free(&twin));
    CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    CHECK_OK(MPI_Comm_free(&kept));
    CHECK_OK(MPI_Session_finalize(&session));
    memset(room, 0x55, one);
    for (int i = 0; i < INTS; i++)
        CHECK_INT(got[i], 30 + i);
    CHECK_OK(MPI_Comm_free(&other_comm));
    CHECK_OK(MPI_Session_finalize(&other));
    free(room);
    free(other_room);
    return end();
}
