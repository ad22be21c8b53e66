/* SPDX-License-Identifier: BSD-3-Clause */
/* Threads of 2 ranks use device buffers at the same time (MPI_THREAD_MULTIPLE), each its own: memory of all kinds on three
 * devices, freed and got again; on a communicator of the thread's own, and on one for all threads; messages, collectives,
 * windows. No context is current in the last thread while it is in MPI. The first argument says how many rounds; the second,
 * `ipc` or `staged`, which way the long messages between ranks of a node must go. */
#include "../mpi/check.h"
#include "fake_cuda.h"
#include "ints.h"

#include <pthread.h>

enum { THREADS = 4, DEVICES = 3, ROWS = 600, LONGEST = 1 << 18 };

/* A thread. */
struct worker {
    int number, n; /* n: ints of a message of this round */
    MPI_Comm own;
    context context;
    int *out, *in;
};

static context primary[DEVICES];
static int peer, rounds = 12;
static MPI_Comm shared;

static void enter_mpi(const struct worker *worker)
{
    if (worker->number == THREADS - 1)
        CU(cu_set(NULL));
}

static void leave_mpi(const struct worker *worker)
{
    CU(cu_set(worker->context));
}

/* A value that tells rank, thread and step apart. */
static int first_of(const struct worker *worker, int from, int step)
{
    return 1000000 * from + 100000 * worker->number + 1000 * step;
}

static void set_out(const struct worker *worker, int step)
{
    set_ints(worker->out, worker->n, first_of(worker, rank, step));
    set_ints(worker->in, 2 * worker->n, -1);
}

static void expect_in(const struct worker *worker, int step, const char *what)
{
    leave_mpi(worker);
    expect_ints(worker->in, worker->n, first_of(worker, peer, step), what);
}

static void check_messages(struct worker *worker)
{
    MPI_Request requests[2];
    int n = worker->n;
    set_out(worker, 1);
    enter_mpi(worker);
    CHECK_OK(MPI_Sendrecv(worker->out, n, MPI_INT, peer, 1, worker->in, n, MPI_INT, peer, 1, worker->own, MPI_STATUS_IGNORE));
    expect_in(worker, 1, "own communicator");
    set_out(worker, 2);
    enter_mpi(worker);
    CHECK_OK(MPI_Irecv(worker->in, n, MPI_INT, peer, worker->number, shared, &requests[0]));
    CHECK_OK(MPI_Isend(worker->out, n, MPI_INT, peer, worker->number, shared, &requests[1]));
    CHECK_OK(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
    expect_in(worker, 2, "one communicator for all");
    int *host = malloc((size_t)n * sizeof *host);
    enter_mpi(worker);
    CHECK_OK(MPI_Sendrecv(worker->out, n, MPI_INT, peer, 1, host, n, MPI_INT, peer, 1, worker->own, MPI_STATUS_IGNORE));
    for (int i = 0; i < n; i++)
        CHECK_INT(host[i], first_of(worker, peer, 2) + i);
    CHECK_OK(MPI_Sendrecv(host, n, MPI_INT, peer, 1, worker->in, n, MPI_INT, peer, 1, worker->own, MPI_STATUS_IGNORE));
    leave_mpi(worker);
    expect_ints(worker->in, n, first_of(worker, rank, 2), "from the host, and back");
    free(host);
}

/* Rows with gaps, which kernels pack and unpack, and pieces at unequal distances, which they find in lists. */
static void check_types(struct worker *worker)
{
    int length = worker->n / ROWS;
    MPI_Datatype types[2];
    int places[ROWS];
    if (length == 0)
        return;
    for (int i = 0; i < ROWS; i++)
        places[i] = 2 * i * length + i % 2;
    CHECK_OK(MPI_Type_vector(ROWS, length, 2 * length, MPI_INT, &types[0]));
    CHECK_OK(MPI_Type_create_indexed_block(ROWS, length, places, MPI_INT, &types[1]));
    for (int k = 0; k < 2; k++) {
        int *host = malloc(2 * (size_t)worker->n * sizeof *host);
        CHECK_OK(MPI_Type_commit(&types[k]));
        set_out(worker, 3);
        enter_mpi(worker);
        CHECK_OK(MPI_Sendrecv(worker->out, ROWS * length, MPI_INT, peer, 2, worker->in, 1, types[k], peer, 2, worker->own,
                              MPI_STATUS_IGNORE));
        leave_mpi(worker);
        CU(cu_to_host(host, (uintptr_t)worker->in, 2 * (size_t)worker->n * sizeof *host));
        for (int i = 0; i < ROWS * length; i++) {
            int at = k ? places[i / length] + i % length : i / length * 2 * length + i % length;
            CHECK_INT(host[at], first_of(worker, peer, 3) + i);
        }
        free(host);
        CHECK_OK(MPI_Type_free(&types[k]));
    }
}

static void check_collectives(struct worker *worker, int round)
{
    MPI_Request request;
    int n = worker->n, *host = malloc(2 * (size_t)n * sizeof *host);
    set_out(worker, 4);
    enter_mpi(worker);
    if (round % 2) {
        CHECK_OK(MPI_Allreduce(worker->out, worker->in, n, MPI_INT, MPI_SUM, worker->own));
    } else {
        CHECK_OK(MPI_Iallreduce(worker->out, worker->in, n, MPI_INT, MPI_SUM, worker->own, &request));
        CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    }
    leave_mpi(worker);
    CU(cu_to_host(host, (uintptr_t)worker->in, (size_t)n * sizeof *host));
    for (int i = 0; i < n; i++)
        CHECK_INT(host[i], first_of(worker, 0, 4) + first_of(worker, 1, 4) + 2 * i);
    enter_mpi(worker);
    CHECK_OK(MPI_Allgather(worker->out, n, MPI_INT, worker->in, n, MPI_INT, worker->own));
    leave_mpi(worker);
    for (int from = 0; from < 2; from++)
        expect_ints(worker->in + (size_t)from * (size_t)n, n, first_of(worker, from, 4), "allgather");
    enter_mpi(worker);
    CHECK_OK(MPI_Bcast(worker->out, n, MPI_INT, round % 2, worker->own));
    leave_mpi(worker);
    expect_ints(worker->out, n, first_of(worker, round % 2, 4), "bcast");
    free(host);
}

static void check_window(struct worker *worker)
{
    MPI_Win win;
    int n = worker->n, *host = malloc((size_t)n * sizeof *host);
    set_out(worker, 5);
    enter_mpi(worker);
    CHECK_OK(MPI_Win_create(worker->in, (MPI_Aint)n * (MPI_Aint)sizeof(int), sizeof(int), MPI_INFO_NULL, worker->own, &win));
    CHECK_OK(MPI_Win_fence(0, win));
    CHECK_OK(MPI_Put(worker->out, n, MPI_INT, peer, 0, n, MPI_INT, win));
    CHECK_OK(MPI_Win_fence(0, win));
    expect_in(worker, 5, "put");
    enter_mpi(worker);
    CHECK_OK(MPI_Win_fence(0, win));
    CHECK_OK(MPI_Accumulate(worker->out, n, MPI_INT, peer, 0, n, MPI_INT, MPI_SUM, win));
    CHECK_OK(MPI_Win_fence(0, win));
    CHECK_OK(MPI_Get(host, n, MPI_INT, peer, 0, n, MPI_INT, win));
    CHECK_OK(MPI_Win_fence(0, win));
    for (int i = 0; i < n; i++)
        CHECK_INT(host[i], 2 * (first_of(worker, rank, 5) + i));
    CHECK_OK(MPI_Win_free(&win));
    leave_mpi(worker);
    free(host);
}

static void *work(void *argument)
{
    static const int lengths[] = {100, 3000, 20000, LONGEST}, kinds[] = {DEVICE, MANAGED, POOL};
    struct worker *worker = argument;
    for (int round = 0; round < rounds; round++) {
        int turn = worker->number + round;
        worker->context = primary[(rank + worker->number + round / 4) % DEVICES];
        worker->n = lengths[turn % 4];
        CU(cu_set(worker->context));
        worker->out = take_ints(kinds[turn % 3], worker->n);
        worker->in = take_ints(kinds[(turn + rank) % 3], 2 * worker->n);
        check_messages(worker);
        check_types(worker);
        check_collectives(worker, round);
        check_window(worker);
        CU(cu_free((uintptr_t)worker->out));
        CU(cu_free((uintptr_t)worker->in));
    }
    return NULL;
}

int main(int argc, char **argv)
{
    struct worker workers[THREADS];
    pthread_t threads[THREADS];
    load_driver();
    long (*calls)(const char *) = find_calls();
    start_threads(&argc, &argv, MPI_THREAD_MULTIPLE);
    peer = 1 - rank;
    rounds = argument(argc, argv, rounds);
#if defined(__SANITIZE_THREAD__)
    rounds = rounds / 6 + 1; /* it takes many times as long there */
#endif
    for (int i = 0; i < DEVICES; i++)
        CU(cu_retain(&primary[i], i));
    CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &shared));
    for (int i = 0; i < THREADS; i++) {
        workers[i] = (struct worker){.number = i};
        CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &workers[i].own));
    }
    for (int i = 0; i < THREADS; i++)
        CHECK_INT(pthread_create(&threads[i], NULL, work, &workers[i]), 0);
    for (int i = 0; i < THREADS; i++) {
        CHECK_INT(pthread_join(threads[i], NULL), 0);
        CHECK_OK(MPI_Comm_free(&workers[i].own));
    }
    CHECK_OK(MPI_Comm_free(&shared));
    long opened = calls ? calls("handles opened") : 0;
    if (calls && argc > 2 && (strcmp(argv[2], "ipc") == 0) != (opened > 0))
        FAIL("%ld handles of the other rank were opened", opened);
    return end();
}
