/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 2; libs: -lpthread; args: 4000; long-args: 100000 */
/* Threads on communicators of different lanes take no lock in common: the library counts how often
 * one had to wait for a lane. First a thread that copies large messages and so has its lane nearly
 * always, and one with short messages: on one communicator they meet, on two never. Then two pairs
 * of threads between the ranks. (There, a thread may look into the other lane before it sleeps; that
 * is once in a while, not per message.) args: rounds. */
#include "counter.h"
#include <pthread.h>

enum { PAIRS = 2, WINDOW = 8, LARGE = 4 << 20, COPIES = 20, TRIES = 500 };

static int rounds;

/* Ping-pong, windows of nonblocking messages, tests, probes and collectives. */
static void *talk(void *arg)
{
    MPI_Comm comm = *(MPI_Comm *)arg;
    int other = 1 - rank;
    for (int i = 0; i < rounds; i++) {
        int out[WINDOW], in[WINDOW], sum = -1, flag = 0;
        MPI_Request requests[2 * WINDOW];
        MPI_Status status;
        for (int k = 0; k < WINDOW; k++) {
            out[k] = i * WINDOW + k;
            CHECK_OK(MPI_Irecv(&in[k], 1, MPI_INT, other, k, comm, &requests[k]));
        }
        for (int k = 0; k < WINDOW; k++)
            CHECK_OK((k % 4 ? MPI_Isend : MPI_Issend)(&out[k], 1, MPI_INT, other, k, comm,
                                                      &requests[WINDOW + k]));
        CHECK_OK(MPI_Test(&requests[0], &flag, MPI_STATUS_IGNORE));
        CHECK_OK(MPI_Waitall(2 * WINDOW, requests, MPI_STATUSES_IGNORE));
        for (int k = 0; k < WINDOW; k++)
            CHECK_INT(in[k], i * WINDOW + k);
        if (rank == 0)
            CHECK_OK(MPI_Send(&i, 1, MPI_INT, other, 100, comm));
        else {
            CHECK_OK(MPI_Probe(other, 100, comm, &status));
            CHECK_OK(MPI_Recv(&sum, 1, MPI_INT, other, 100, comm, MPI_STATUS_IGNORE));
            CHECK_INT(sum, i);
        }
        CHECK_OK(MPI_Allreduce(&i, &sum, 1, MPI_INT, MPI_SUM, comm));
        CHECK_INT(sum, 2 * i);
    }
    return NULL;
}

static char large_out[LARGE], large_in[LARGE];
static int copying;

static void *copy_large(void *arg)
{
    MPI_Comm comm = *(MPI_Comm *)arg;
    for (int i = 0; i < COPIES; i++)
        CHECK_OK(MPI_Sendrecv(large_out, LARGE, MPI_BYTE, rank, 1, large_in, LARGE, MPI_BYTE, rank,
                              1, comm, MPI_STATUS_IGNORE));
    __atomic_store_n(&copying, 0, __ATOMIC_RELEASE);
    return NULL;
}

static void *send_short(void *arg)
{
    MPI_Comm comm = *(MPI_Comm *)arg;
    for (int i = 0, in = -1; __atomic_load_n(&copying, __ATOMIC_ACQUIRE); i++) {
        CHECK_OK(MPI_Send(&i, 1, MPI_INT, rank, 2, comm));
        CHECK_OK(MPI_Recv(&in, 1, MPI_INT, rank, 2, comm, MPI_STATUS_IGNORE));
        CHECK_INT(in, i);
    }
    return NULL;
}

static void at_once(void *(*a)(void *), MPI_Comm *for_a, void *(*b)(void *), MPI_Comm *for_b)
{
    pthread_t threads[2];
    CHECK_INT(pthread_create(&threads[0], NULL, a, for_a), 0);
    CHECK_INT(pthread_create(&threads[1], NULL, b, for_b), 0);
    for (int i = 0; i < 2; i++)
        CHECK_INT(pthread_join(threads[i], NULL), 0);
}

int main(int argc, char **argv)
{
    MPI_Comm comms[PAIRS];
    unsigned long long met = 0, messages = (unsigned long long)PAIRS * (2 * WINDOW + 3);

    start_threads(&argc, &argv, MPI_THREAD_MULTIPLE);
    rounds = argument(argc, argv, 4000);
    messages *= (unsigned long long)rounds;
    struct counter contended = counter_open("pml_locks_contended", MPI_THREAD_MULTIPLE);
    for (int i = 0; i < PAIRS; i++) /* one after the other: their lanes are neighbours */
        CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]));
    for (int i = 0; i < 2; i++) {
        copying = 1;
        at_once(copy_large, &comms[0], send_short, &comms[1]);
    }
    CHECK_INT(counter_read(&contended), 0);
    for (int i = 0; i < TRIES && met == 0; i++) {
        copying = 1;
        at_once(copy_large, &comms[0], send_short, &comms[0]);
        met = counter_read(&contended);
    }
    CHECK(met > 0);
    at_once(talk, &comms[0], talk, &comms[1]);
    unsigned long long waits = counter_read(&contended) - met;
    if (waits * 1000 > messages)
        FAIL("threads waited %llu times for a lane in %llu messages", waits, messages);
    if (argc > 2)
        printf("one lane: %llu; two: %llu of %llu messages\n", met, waits, messages);
    for (int i = 0; i < PAIRS; i++)
        CHECK_OK(MPI_Comm_free(&comms[i]));
    counter_close(&contended);
    return end();
}
