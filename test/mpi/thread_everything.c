/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 2 3; libs: -lpthread; args: 40; long-args: 1000 */
/* Eight threads do something different each at the same time, on one communicator and on their own,
 * which are in different lanes. args: rounds. */
#include "check.h"
#include <pthread.h>

enum { LARGE = 150000, SMALL = 48 };

static int rounds, next, before;

/* Blocking exchange around the ring, all protocols; the tag keeps the threads apart. */
static void exchange(int tag, MPI_Comm comm)
{
    static const size_t sizes[] = { 0, 8, SMALL, 5000, LARGE };
    unsigned char *out = allocate(LARGE), *in = allocate(LARGE);
    for (int i = 0; i < rounds; i++) {
        size_t bytes = sizes[i % 5];
        MPI_Status status;
        int count = -1;
        fill(out, bytes, i + rank);
        CHECK_OK(MPI_Sendrecv(out, bytes, MPI_BYTE, next, tag, in, LARGE, MPI_BYTE, before, tag, comm,
                              &status));
        CHECK_OK(MPI_Get_count(&status, MPI_BYTE, &count));
        CHECK_INT(count, bytes);
        CHECK_FILLED(in, bytes, i + before);
    }
    free(out);
    free(in);
}

static void *sendrecv(void *arg)
{
    exchange(1, MPI_COMM_WORLD);
    exchange(1, *(MPI_Comm *) arg);
    return NULL;
}

static void *nonblocking(void *arg)
{
    enum { MANY = 20 };
    static int out[MANY][SMALL], in[MANY][SMALL];
    MPI_Request requests[2 * MANY];
    MPI_Comm comms[] = { MPI_COMM_WORLD, *(MPI_Comm *) arg };
    for (int i = 0; i < rounds; i++) {
        for (int k = 0; k < MANY; k++)
            CHECK_OK(MPI_Irecv(in[k], SMALL, MPI_INT, before, 2, comms[k % 2], &requests[k]));
        for (int k = 0; k < MANY; k++) {
            out[k][0] = i * MANY + k;
            CHECK_OK((k % 3 ? MPI_Isend : MPI_Issend)(out[k], SMALL, MPI_INT, next, 2,
                                                      comms[k % 2], &requests[MANY + k]));
        }
        for (int done = 0; done < 2 * MANY; done++) {
            int index = -1;
            CHECK_OK(MPI_Waitany(2 * MANY, requests, &index, MPI_STATUS_IGNORE));
            CHECK(index >= 0);
        }
        for (int k = 0; k < MANY; k++)
            CHECK_INT(in[k][0], i * MANY + k);
    }
    return NULL;
}

static void *persistent(void *arg)
{
    int out = 0, in = 0, done;
    MPI_Request requests[2];
    (void) arg;
    CHECK_OK(MPI_Send_init(&out, 1, MPI_INT, next, 3, MPI_COMM_WORLD, &requests[0]));
    CHECK_OK(MPI_Recv_init(&in, 1, MPI_INT, before, 3, MPI_COMM_WORLD, &requests[1]));
    for (int i = 0; i < rounds; i++) {
        out = i;
        CHECK_OK(MPI_Startall(2, requests));
        do
            CHECK_OK(MPI_Testall(2, requests, &done, MPI_STATUSES_IGNORE));
        while (!done);
        CHECK_INT(in, i);
    }
    for (int i = 0; i < 2; i++)
        CHECK_OK(MPI_Request_free(&requests[i]));
    return NULL;
}

static void *matched_probe(void *arg)
{
    (void) arg;
    for (int i = 0; i < rounds; i++) {
        MPI_Message message;
        MPI_Request request;
        MPI_Status status;
        int in = -1, count = -1;
        CHECK_OK(MPI_Isend(&i, 1, MPI_INT, next, 4, MPI_COMM_WORLD, &request));
        CHECK_OK(MPI_Mprobe(MPI_ANY_SOURCE, 4, MPI_COMM_WORLD, &message, &status));
        CHECK_OK(MPI_Get_count(&status, MPI_INT, &count));
        CHECK_INT(count, 1);
        CHECK_OK(MPI_Mrecv(&in, 1, MPI_INT, &message, MPI_STATUS_IGNORE));
        CHECK_INT(in, i);
        CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    }
    return NULL;
}

static void *communicators(void *arg)
{
    MPI_Comm parent = *(MPI_Comm *) arg;
    int kept = rounds;
    for (int i = 0; i < kept; i++) {
        MPI_Comm comm;
        int sum = -1;
        if (i % 2)
            CHECK_OK(MPI_Comm_dup(parent, &comm));
        else
            CHECK_OK(MPI_Comm_split(parent, 0, -rank, &comm));
        CHECK_OK(MPI_Allreduce(&i, &sum, 1, MPI_INT, MPI_SUM, comm));
        CHECK_INT(sum, i * size);
        CHECK_OK(MPI_Comm_free(&comm));
    }
    return NULL;
}

static void *collectives(void *arg)
{
    MPI_Comm comm = *(MPI_Comm *) arg;
    for (int i = 0; i < rounds; i++) {
        MPI_Request requests[3];
        int root = i % size, word = rank == root ? i : -1, sum = -1, one = 1;
        CHECK_OK(MPI_Ibcast(&word, 1, MPI_INT, root, comm, &requests[0]));
        CHECK_OK(MPI_Iallreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm, &requests[1]));
        CHECK_OK(MPI_Ibarrier(comm, &requests[2]));
        CHECK_OK(MPI_Waitall(3, requests, MPI_STATUSES_IGNORE));
        CHECK_INT(word, i);
        CHECK_INT(sum, size);
    }
    return NULL;
}

static int query(void *state, MPI_Status *status)
{
    (void) state;
    CHECK_OK(MPI_Status_set_elements(status, MPI_INT, 1));
    return MPI_Status_set_cancelled(status, 0);
}

static int nothing(void *state)
{
    (void) state;
    return MPI_SUCCESS;
}

static int not_cancelled(void *state, int complete)
{
    (void) state;
    (void) complete;
    return MPI_SUCCESS;
}

static int copy_value(MPI_Comm comm, int keyval, void *state, void *in, void *out, int *flag)
{
    (void) comm;
    (void) keyval;
    (void) state;
    *(void **) out = in;
    *flag = 1;
    return MPI_SUCCESS;
}

static int delete_value(MPI_Comm comm, int keyval, void *value, void *state)
{
    (void) comm;
    (void) keyval;
    (void) state;
    (*(int *) value)++;
    return MPI_SUCCESS;
}

static void ignore_error(MPI_Comm *comm, int *code, ...)
{
    (void) comm;
    (void) code;
}

/* Attributes, infos, groups, error handlers. */
static void describe(MPI_Comm comm, int i)
{
    MPI_Info info;
    MPI_Group all, one;
    MPI_Errhandler handler, before_it;
    char value[16] = "";
    int keyval, deleted = 0, flag = 0, index = -1, *got = NULL;
    CHECK_OK(MPI_Comm_create_keyval(copy_value, delete_value, &keyval, NULL));
    CHECK_OK(MPI_Comm_set_attr(comm, keyval, &deleted));
    CHECK_OK(MPI_Comm_get_attr(comm, keyval, &got, &flag));
    CHECK(flag && got == &deleted);
    CHECK_OK(MPI_Comm_delete_attr(comm, keyval));
    CHECK_INT(deleted, 1);
    CHECK_OK(MPI_Comm_free_keyval(&keyval));
    CHECK_OK(MPI_Info_create(&info));
    CHECK_OK(MPI_Info_set(info, "round", i % 2 ? "odd" : "even"));
    CHECK_OK(MPI_Info_get(info, "round", sizeof value - 1, value, &flag));
    CHECK_STRING(value, i % 2 ? "odd" : "even");
    CHECK_OK(MPI_Info_free(&info));
    CHECK_OK(MPI_Comm_group(comm, &all));
    CHECK_OK(MPI_Group_incl(all, 1, &rank, &one));
    CHECK_OK(MPI_Group_translate_ranks(one, 1, (int[]) { 0 }, all, &index));
    CHECK_INT(index, rank);
    CHECK_OK(MPI_Group_free(&one));
    CHECK_OK(MPI_Group_free(&all));
    CHECK_OK(MPI_Comm_get_errhandler(comm, &before_it));
    CHECK_OK(MPI_Comm_create_errhandler(ignore_error, &handler));
    CHECK_OK(MPI_Comm_set_errhandler(comm, handler));
    CHECK_OK(MPI_Errhandler_free(&handler));
    CHECK_CLASS(MPI_Send(&i, 1, MPI_INT, size, 0, comm), MPI_ERR_RANK);
    CHECK_OK(MPI_Comm_set_errhandler(comm, before_it));
    CHECK_OK(MPI_Errhandler_free(&before_it));
}

static void *complete_it(void *arg)
{
    CHECK_OK(MPI_Grequest_complete(*(MPI_Request *) arg));
    return NULL;
}

/* Objects that nobody else sees, receives taken back, requests that another thread completes. */
static void *objects(void *arg)
{
    for (int i = 0; i < rounds; i++) {
        MPI_Datatype vector;
        MPI_Request request, copy;
        MPI_Status status;
        pthread_t thread;
        int words[8] = { 0 }, flag = 0;
        CHECK_OK(MPI_Type_vector(2, 1, 2, MPI_INT, &vector));
        CHECK_OK(MPI_Type_commit(&vector));
        CHECK_OK(MPI_Irecv(words, 1, vector, before, 5, MPI_COMM_WORLD, &request));
        CHECK_OK(MPI_Type_free(&vector));
        CHECK_OK(MPI_Cancel(&request));
        CHECK_OK(MPI_Wait(&request, &status));
        CHECK_OK(MPI_Test_cancelled(&status, &flag));
        CHECK(flag);
        CHECK_OK(MPI_Grequest_start(query, nothing, not_cancelled, NULL, &request));
        copy = request;
        CHECK_INT(pthread_create(&thread, NULL, complete_it, &copy), 0);
        CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
        CHECK_INT(pthread_join(thread, NULL), 0);
        describe(*(MPI_Comm *) arg, i);
    }
    return NULL;
}

static void *buffered(void *arg)
{
    void *memory = allocate(64 * (SMALL + MPI_BSEND_OVERHEAD));
    int bytes;
    (void) arg;
    CHECK_OK(MPI_Buffer_attach(memory, 64 * (SMALL + MPI_BSEND_OVERHEAD)));
    for (int i = 0; i < rounds; i++) {
        int in = -1;
        CHECK_OK(MPI_Bsend(&i, 1, MPI_INT, next, 6, MPI_COMM_WORLD));
        CHECK_OK(MPI_Probe(before, 6, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        CHECK_OK(MPI_Recv(&in, 1, MPI_INT, before, 6, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        CHECK_INT(in, i);
    }
    CHECK_OK(MPI_Buffer_detach(&memory, &bytes));
    free(memory);
    return NULL;
}

int main(int argc, char **argv)
{
    static void *(*const tasks[])(void *) = { sendrecv, nonblocking, persistent, matched_probe,
                                              communicators, collectives, objects, buffered };
    enum { TASKS = sizeof tasks / sizeof *tasks };
    pthread_t threads[TASKS];
    MPI_Comm comms[TASKS];

    start_threads(&argc, &argv, MPI_THREAD_MULTIPLE);
    rounds = argument(argc, argv, 40);
    next = (rank + 1) % size;
    before = (rank + size - 1) % size;
    for (int i = 0; i < TASKS; i++)
        CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]));
    for (int i = 0; i < TASKS; i++)
        CHECK_INT(pthread_create(&threads[i], NULL, tasks[i], &comms[i]), 0);
    for (int i = 0; i < TASKS; i++)
        CHECK_INT(pthread_join(threads[i], NULL), 0);
    for (int i = 0; i < TASKS; i++)
        CHECK_OK(MPI_Comm_free(&comms[i]));
    return end();
}
