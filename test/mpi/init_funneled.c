/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 2; libs: -lpthread */
/* With MPI_THREAD_FUNNELED other threads may run while the main one communicates. */
#include "check.h"
#include <pthread.h>

static _Atomic int stop;

static void *work(void *arg)
{
    long *count = arg;
    while (!stop) {
        ++*count;
        usleep(100);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    int provided = -1, level = -1;
    long count = 0;
    pthread_t thread;
    CHECK_OK(MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided));
    check_ranks();
    CHECK(provided >= MPI_THREAD_FUNNELED);
    CHECK_OK(MPI_Query_thread(&level));
    CHECK_INT(level, provided);
    CHECK_INT(pthread_create(&thread, NULL, work, &count), 0);
    for (int i = 0; i < 500; i++) {
        int x = rank + i, y = -1;
        CHECK_OK(MPI_Sendrecv(&x, 1, MPI_INT, 1 - rank, 0, &y, 1, MPI_INT, 1 - rank, 0,
                              MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        CHECK_INT(y, 1 - rank + i);
    }
    stop = 1;
    CHECK_INT(pthread_join(thread, NULL), 0);
    return end();
}
