/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 2 3; libs: -lpthread; args: 30; long-args: 1000; needs: MPI_Psend_init */
/* Several threads say that their partitions are ready, others take partitions as they arrive, one
 * waits: each partition comes once and whole, round after round. */
#include "check.h"
#include <pthread.h>
#include <sched.h>

enum { THREADS = 4, EACH = 8, PARTS = THREADS * EACH, INTS = 2000 };

static int out[PARTS][INTS], in[PARTS][INTS], rounds, from;
static MPI_Request send, recv;
static pthread_barrier_t gate;

static int value(int who, int round, int part, int i)
{
    return who * 1000003 + round * 10007 + part * 101 + i;
}

/* Thread t has partitions t, t + THREADS, ... on both sides. */
static void *work(void *argument)
{
    int t = *(int *)argument;
    for (int round = 0; round < rounds; round++) {
        if (t == 0) {
            memset(in, -1, sizeof in);
            CHECK_OK(MPI_Start(&recv));
            CHECK_OK(MPI_Start(&send));
        }
        pthread_barrier_wait(&gate);
        for (int part = t; part < PARTS; part += THREADS) {
            for (int i = 0; i < INTS; i++)
                out[part][i] = value(rank, round, part, i);
            CHECK_OK(MPI_Pready(part, send));
        }
        if (t == THREADS - 1)
            CHECK_OK(MPI_Wait(&send, MPI_STATUS_IGNORE));
        for (int part = t; part < PARTS; part += THREADS) {
            for (int flag = 0; !flag; sched_yield())
                CHECK_OK(MPI_Parrived(recv, part, &flag));
            for (int i = 0; i < INTS; i++)
                CHECK_INT(in[part][i], value(from, round, part, i));
        }
        pthread_barrier_wait(&gate);
        if (t == 0)
            CHECK_OK(MPI_Wait(&recv, MPI_STATUS_IGNORE));
    }
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t threads[THREADS];
    int numbers[THREADS];
    start_threads(&argc, &argv, MPI_THREAD_MULTIPLE);
    rounds = argument(argc, argv, 30);
    from = (rank + size - 1) % size;
    CHECK_OK(MPI_Psend_init(out, PARTS, INTS, MPI_INT, (rank + 1) % size, 1, MPI_COMM_WORLD,
                            MPI_INFO_NULL, &send));
    CHECK_OK(
        MPI_Precv_init(in, PARTS, INTS, MPI_INT, from, 1, MPI_COMM_WORLD, MPI_INFO_NULL, &recv));
    pthread_barrier_init(&gate, NULL, THREADS);
    for (int t = 0; t < THREADS; t++) {
        numbers[t] = t;
        CHECK(pthread_create(&threads[t], NULL, work, &numbers[t]) == 0);
    }
    for (int t = 0; t < THREADS; t++)
        pthread_join(threads[t], NULL);
    pthread_barrier_destroy(&gate);
    CHECK_OK(MPI_Request_free(&send));
    CHECK_OK(MPI_Request_free(&recv));
    return end();
}
