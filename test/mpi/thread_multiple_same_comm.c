/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 2 3; libs: -lpthread; args: 300; long-args: 20000 */
/* Threads share one communicator, told apart by tags; order within a tag is kept. */
#include "check.h"
#include <pthread.h>

enum { THREADS = 3, WINDOW = 16 };
static int rounds;

static void *send_all(void *arg)
{
    int tag = (int) (intptr_t) arg, values[WINDOW][50];
    MPI_Request requests[WINDOW];
    for (int i = 0; i < rounds; i++) {
        int s = i % WINDOW, n = 1 + i % 50;
        if (i >= WINDOW)
            CHECK_OK(MPI_Wait(&requests[s], MPI_STATUS_IGNORE));
        values[s][0] = values[s][n - 1] = rank * 1000000 + i;
        CHECK_OK(MPI_Isend(values[s], n, MPI_INT, (rank + 1) % size, tag, MPI_COMM_WORLD,
                           &requests[s]));
    }
    CHECK_OK(MPI_Waitall(rounds < WINDOW ? rounds : WINDOW, requests, MPI_STATUSES_IGNORE));
    return NULL;
}

static void *receive_all(void *arg)
{
    int tag = (int) (intptr_t) arg, from = (rank + size - 1) % size, in[50];
    for (int i = 0; i < rounds; i++) {
        MPI_Status status;
        int count;
        CHECK_OK(MPI_Recv(in, 50, MPI_INT, i % 2 ? MPI_ANY_SOURCE : from, tag, MPI_COMM_WORLD,
                          &status));
        CHECK_OK(MPI_Get_count(&status, MPI_INT, &count));
        CHECK_INT(count, 1 + i % 50);
        CHECK_INT(status.MPI_SOURCE, from);
        CHECK_INT(in[0], from * 1000000 + i);
        CHECK_INT(in[count - 1], from * 1000000 + i);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    start_threads(&argc, &argv, MPI_THREAD_MULTIPLE);
    rounds = argument(argc, argv, 300);
    pthread_t threads[2 * THREADS];
    for (intptr_t i = 0; i < THREADS; i++) {
        CHECK_INT(pthread_create(&threads[2 * i], NULL, receive_all, (void *) i), 0);
        CHECK_INT(pthread_create(&threads[2 * i + 1], NULL, send_all, (void *) i), 0);
    }
    for (int i = 0; i < 2 * THREADS; i++)
        CHECK_INT(pthread_join(threads[i], NULL), 0);
    return end();
}
