/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 2 3; libs: -lpthread; args: 60; long-args: 2000; needs: MPI_Buffer_iflush */
/* Threads on communicators of their own share one buffer, send through it, start persistent buffered sends and flush it, all
 * at the same time: every message arrives once and whole. */
#include "check.h"
#include <pthread.h>

enum { THREADS = 4, MOST = 20000 };

static int rounds, to, from;
static MPI_Comm comms[THREADS];

static int length_of(int round, int t)
{
    static const int lengths[] = { 1, 300, 5000, MOST };
    return lengths[(round + t) % 4];
}

static void *work(void *argument)
{
    int t = *(int *) argument;
    int *out = allocate(MOST * sizeof *out), *in = allocate(MOST * sizeof *in);
    MPI_Request persistent, *flushes = allocate((size_t) rounds * sizeof *flushes);
    CHECK_OK(MPI_Bsend_init(out, 300, MPI_INT, to, 2, comms[t], &persistent));
    for (int round = 0; round < rounds; round++) {
        int n = length_of(round, t);
        for (int i = 0; i < MOST; i++)
            out[i] = rank + 31 * round + 7 * t + i;
        CHECK_OK(MPI_Bsend(out, n, MPI_INT, to, 1, comms[t]));
        CHECK_OK(MPI_Start(&persistent));
        CHECK_OK(MPI_Wait(&persistent, MPI_STATUS_IGNORE));
        memset(out, -1, MOST * sizeof *out);
        CHECK_OK(MPI_Buffer_iflush(&flushes[round]));
        CHECK_OK(MPI_Recv(in, MOST, MPI_INT, from, 1, comms[t], MPI_STATUS_IGNORE));
        for (int i = 0; i < n; i++)
            CHECK_INT(in[i], from + 31 * round + 7 * t + i);
        CHECK_OK(MPI_Recv(in, MOST, MPI_INT, from, 2, comms[t], MPI_STATUS_IGNORE));
        for (int i = 0; i < 300; i++)
            CHECK_INT(in[i], from + 31 * round + 7 * t + i);
    }
    /* A flush is for the messages of all threads, so nobody may wait for one before receiving. */
    CHECK_OK(MPI_Waitall(rounds, flushes, MPI_STATUSES_IGNORE));
    CHECK_OK(MPI_Request_free(&persistent));
    free(out);
    free(in);
    free(flushes);
    return NULL;
}

static void all_threads(void)
{
    pthread_t threads[THREADS];
    int numbers[THREADS];
    for (int t = 0; t < THREADS; t++) {
        numbers[t] = t;
        CHECK_INT(pthread_create(&threads[t], NULL, work, &numbers[t]), 0);
    }
    for (int t = 0; t < THREADS; t++)
        CHECK_INT(pthread_join(threads[t], NULL), 0);
}

int main(int argc, char **argv)
{
    void *back;
    int bytes = 8 * THREADS * (int) (MOST * sizeof(int) + MPI_BSEND_OVERHEAD);
    start_threads(&argc, &argv, MPI_THREAD_MULTIPLE);
    rounds = argument(argc, argv, 60);
    to = (rank + 1) % size;
    from = (rank + size - 1) % size;
    for (int t = 0; t < THREADS; t++)
        CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &comms[t]));
    void *room = allocate((size_t) bytes);
    CHECK_OK(MPI_Buffer_attach(room, bytes));
    all_threads();
    CHECK_OK(MPI_Buffer_detach(&back, &bytes));
    CHECK(back == room);
    free(room);
    CHECK_OK(MPI_Buffer_attach(MPI_BUFFER_AUTOMATIC, 0));
    all_threads();
    CHECK_OK(MPI_Buffer_detach(&back, &bytes));
    for (int t = 0; t < THREADS; t++)
        CHECK_OK(MPI_Comm_free(&comms[t]));
    return end();
}
