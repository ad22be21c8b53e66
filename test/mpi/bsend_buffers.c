/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 2 3 4 5 8; needs: MPI_Comm_attach_buffer */
/* A communicator's own buffer serves its buffered sends and no others, also without one of the
 * process; flushing waits for the messages of one buffer only and leaves it attached; each kind of
 * buffer can be MPI_BUFFER_AUTOMATIC. */
#include "check.h"
#include <sys/mman.h>

enum { INTS = 30000, MANY = 40 }; /* a message too long to be eager */

static int data[INTS], got[INTS], to, from;
static size_t one; /* bytes of buffer for a message */

static void bsend(int value, int tag, MPI_Comm comm)
{
    for (int i = 0; i < INTS; i++)
        data[i] = value + i;
    CHECK_OK(MPI_Bsend(data, INTS, MPI_INT, to, tag, comm));
    memset(data, -1, sizeof data);
}

static void receive(int value, int tag, MPI_Comm comm)
{
    CHECK_OK(MPI_Recv(got, INTS, MPI_INT, from, tag, comm, MPI_STATUS_IGNORE));
    for (int i = 0; i < INTS; i++)
        CHECK_INT(got[i], value + i);
}

/* Without a buffer of the process. */
static void own_buffer(MPI_Comm comm)
{
    char *room = allocate(2 * one);
    void *back = NULL;
    int bytes = -1;
    CHECK_CLASS(MPI_Bsend(data, 1, MPI_INT, to, 1, comm), MPI_ERR_BUFFER);
    CHECK_OK(MPI_Comm_attach_buffer(comm, room, (int)(2 * one)));
    CHECK_CLASS(MPI_Comm_attach_buffer(comm, room, (int)one), MPI_ERR_BUFFER);
    CHECK_CLASS(MPI_Bsend(data, 1, MPI_INT, to, 1, MPI_COMM_WORLD), MPI_ERR_BUFFER);
    bsend(100, 1, comm);
    bsend(200, 2, comm);
    CHECK_CLASS(MPI_Bsend(data, INTS, MPI_INT, to, 3, comm), MPI_ERR_BUFFER); /* full */
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
    receive(200, 2, comm);
    receive(100, 1, comm);
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
    CHECK_OK(MPI_Comm_flush_buffer(comm));
    bsend(300, 3, comm); /* still attached, and empty again */
    bsend(400, 3, comm);
    receive(300, 3, comm);
    receive(400, 3, comm);
    CHECK_OK(MPI_Comm_detach_buffer(comm, &back, &bytes));
    CHECK(back == room);
    CHECK_INT(bytes, 2 * one);
    CHECK_CLASS(MPI_Comm_detach_buffer(comm, &back, &bytes), MPI_ERR_BUFFER);
    CHECK_CLASS(MPI_Bsend(data, 1, MPI_INT, to, 1, comm), MPI_ERR_BUFFER);
    free(room);
}

/* A flush of one waits for its own messages; those in the other stay under way. */
static void flush_one_of_two(MPI_Comm comm)
{
    char *room = allocate(one), *own_room = allocate(one);
    void *back = NULL;
    int flag = -1, bytes;
    MPI_Request requests[3];
    CHECK_OK(MPI_Buffer_attach(room, (int)one));
    CHECK_OK(MPI_Comm_attach_buffer(comm, own_room, (int)one));
    bsend(10, 1, MPI_COMM_WORLD);
    CHECK_OK(MPI_Comm_flush_buffer(comm)); /* nothing in it */
    CHECK_OK(MPI_Comm_iflush_buffer(comm, &requests[0]));
    CHECK_OK(MPI_Wait(&requests[0], MPI_STATUS_IGNORE));
    bsend(20, 1, comm);
    CHECK_OK(MPI_Buffer_iflush(&requests[0]));
    CHECK_OK(MPI_Comm_iflush_buffer(comm, &requests[1]));
    CHECK_OK(MPI_Comm_iflush_buffer(comm, &requests[2]));
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
    CHECK_OK(MPI_Testall(3, requests, &flag, MPI_STATUSES_IGNORE));
    CHECK_INT(flag, 0);
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
    receive(20, 1, comm);
    CHECK_OK(MPI_Waitall(2, &requests[1], MPI_STATUSES_IGNORE));
    CHECK_OK(MPI_Comm_flush_buffer(comm));
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
    CHECK_OK(MPI_Test(&requests[0], &flag, MPI_STATUS_IGNORE));
    CHECK_INT(flag, 0);
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
    receive(10, 1, MPI_COMM_WORLD);
    CHECK_OK(MPI_Wait(&requests[0], MPI_STATUS_IGNORE));
    CHECK_OK(MPI_Buffer_flush());
    bsend(30, 2, MPI_COMM_WORLD);
    CHECK_OK(MPI_Buffer_iflush(&requests[0]));
    CHECK_OK(MPI_Request_free(&requests[0])); /* nobody waits */
    CHECK_OK(MPI_Buffer_iflush(&requests[0]));
    receive(30, 2, MPI_COMM_WORLD);
    CHECK_OK(MPI_Buffer_detach(&back, &bytes)); /* with a flush open */
    CHECK(back == room);
    CHECK_OK(MPI_Wait(&requests[0], MPI_STATUS_IGNORE));
    CHECK_OK(MPI_Comm_detach_buffer(comm, &back, &bytes));
    CHECK(back == own_room);
    free(room);
    free(own_room);
}

/* A flush covers what is buffered when it is called, not what comes later. */
static void flush_earlier_ones(void)
{
    MPI_Request request;
    void *back = NULL;
    int size_back;
    CHECK_OK(MPI_Buffer_attach(MPI_BUFFER_AUTOMATIC, 0));
    bsend(1, 1, MPI_COMM_WORLD);
    CHECK_OK(MPI_Buffer_iflush(&request));
    bsend(2, 2, MPI_COMM_WORLD);
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
    receive(1, 1, MPI_COMM_WORLD);
    CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
    receive(2, 2, MPI_COMM_WORLD);
    CHECK_OK(MPI_Buffer_detach(&back, &size_back));
    CHECK(back == MPI_BUFFER_AUTOMATIC);
}

static void automatic(MPI_Comm comm, int own)
{
    MPI_Request request, persistent;
    void *back = NULL;
    int bytes;
    if (own)
        CHECK_OK(MPI_Comm_attach_buffer(comm, MPI_BUFFER_AUTOMATIC, -1));
    else
        CHECK_OK(MPI_Buffer_attach(MPI_BUFFER_AUTOMATIC, -1));
    CHECK_OK(MPI_Bsend_init(data, INTS, MPI_INT, to, MANY + 1, comm, &persistent));
    for (int i = 0; i < MANY; i++)
        bsend(i, i, comm);
    for (int i = 0; i < INTS; i++)
        data[i] = i;
    CHECK_OK(MPI_Ibsend(data, INTS, MPI_INT, to, MANY, comm, &request));
    CHECK_OK(MPI_Start(&persistent));
    CHECK_OK(MPI_Wait(&persistent, MPI_STATUS_IGNORE));
    memset(data, 0, sizeof data);
    CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    for (int i = MANY + 1; i >= 0; i--)
        receive(i < MANY ? i : 0, i, comm);
    if (own)
        CHECK_OK(MPI_Comm_detach_buffer(comm, &back, &bytes));
    else
        CHECK_OK(MPI_Buffer_detach(&back, &bytes));
    CHECK(back == MPI_BUFFER_AUTOMATIC);
    CHECK_OK(MPI_Request_free(&persistent));
}

/* The communicator is freed with messages in its buffer, or disconnected. */
static void freed_while_full(int disconnect, int own_memory)
{
    MPI_Comm comm;
    MPI_Request request;
    char *room = allocate(one);
    CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    CHECK_OK(
        MPI_Comm_attach_buffer(comm, own_memory ? (void *)room : MPI_BUFFER_AUTOMATIC, (int)one));
    CHECK_OK(MPI_Irecv(got, INTS, MPI_INT, from, 1, comm, &request));
    bsend(5 + rank, 1, comm);
    if (disconnect) {
        CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
        CHECK_OK(MPI_Comm_disconnect(&comm));
        memset(room, 0x55, one);
    } else {
        CHECK_OK(MPI_Comm_free(&comm));
        CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    }
    for (int i = 0; i < INTS; i++)
        CHECK_INT(got[i], 5 + from + i);
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD)); /* now nobody needs `room` */
    free(room);
}

/* Sizes beyond an int; where one does not fit it is MPI_UNDEFINED. */
static void large(MPI_Comm comm)
{
    MPI_Count bytes = 3ll << 30, bytes_back = -1;
    int small_back = -1;
    void *back = NULL;
    char *room = mmap(NULL, (size_t)bytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    CHECK(room != MAP_FAILED);
    CHECK_OK(MPI_Comm_attach_buffer_c(comm, room, bytes));
    bsend(1, 1, comm);
    receive(1, 1, comm);
    CHECK_OK(MPI_Comm_detach_buffer_c(comm, &back, &bytes_back));
    CHECK(back == room);
    CHECK_INT(bytes_back, bytes);
    CHECK_OK(MPI_Buffer_attach_c(room, bytes));
    CHECK_OK(MPI_Buffer_detach(&back, &small_back));
    CHECK(back == room);
    CHECK_INT(small_back, MPI_UNDEFINED);
    munmap(room, (size_t)bytes);
}

int main(int argc, char **argv)
{
    MPI_Comm comm;
    int pack;
    start(&argc, &argv);
    return_errors(MPI_COMM_WORLD);
    return_errors(MPI_COMM_SELF);
    to = (rank + 1) % size;
    from = (rank + size - 1) % size;
    CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    CHECK_OK(MPI_Pack_size(INTS, MPI_INT, comm, &pack));
    one = (size_t)pack + MPI_BSEND_OVERHEAD;
    CHECK_OK(MPI_Buffer_flush()); /* none is attached: nothing to do */
    CHECK_OK(MPI_Comm_flush_buffer(comm));
    own_buffer(comm);
    flush_one_of_two(comm);
    flush_earlier_ones();
    large(comm);
    automatic(comm, 1);
    automatic(comm, 0);
    automatic(MPI_COMM_WORLD, 0);
    for (int kind = 0; kind < 4; kind++)
        freed_while_full(kind & 1, kind & 2);
    CHECK_OK(MPI_Comm_free(&comm));
    /* Left to MPI_Finalize. */
    CHECK_OK(MPI_Comm_attach_buffer(MPI_COMM_WORLD, MPI_BUFFER_AUTOMATIC, 0));
    CHECK_OK(MPI_Buffer_attach(MPI_BUFFER_AUTOMATIC, 0));
    MPI_Request request;
    CHECK_OK(MPI_Irecv(got, INTS, MPI_INT, from, 1, MPI_COMM_WORLD, &request));
    bsend(1, 1, MPI_COMM_WORLD);
    CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    return end();
}
