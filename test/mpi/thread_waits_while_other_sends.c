/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 2; libs: -lpthread */
/* A thread blocked in a receive does not keep another from sending what it waits for. */
#include "check.h"
#include <pthread.h>

static void *receive(void *arg)
{
    int from = (int) (intptr_t) arg;
    for (int i = 0; i < 60; i++) {
        int got = -1;
        CHECK_OK(MPI_Recv(&got, 1, MPI_INT, from, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        CHECK_INT(got, i);
        CHECK_OK(MPI_Send(&got, 1, MPI_INT, from, 2, MPI_COMM_WORLD));
    }
    return NULL;
}

int main(int argc, char **argv)
{
    start_threads(&argc, &argv, MPI_THREAD_MULTIPLE);
    int peer = (rank + 1) % size;
    pthread_t thread;
    CHECK_INT(pthread_create(&thread, NULL, receive, (void *) (intptr_t) peer), 0);
    for (int i = 0; i < 60; i++) {
        int answer = -1;
        if (i % 20 == 0)
            usleep(5000);
        CHECK_OK(MPI_Send(&i, 1, MPI_INT, peer, 1, MPI_COMM_WORLD));
        CHECK_OK(MPI_Recv(&answer, 1, MPI_INT, peer, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        CHECK_INT(answer, i);
    }
    CHECK_INT(pthread_join(thread, NULL), 0);
    return end();
}
