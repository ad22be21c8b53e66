/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 2 4; args: 40; long-args: 1000; libs: -lpthread; needs: MPI_Comm_idup */
/* Threads duplicate communicators of their own at the same time, several under way in each, finished in any order and
 * together with requests of other communicators. */
#include "check.h"

#include <pthread.h>

enum { THREADS = 4, UNDER_WAY = 3 };

static int rounds;
static MPI_Comm own[THREADS];

static void *run(void *argument)
{
    int thread = *(int *)argument;
    for (int i = 0; i < rounds; i++) {
        MPI_Comm twins[UNDER_WAY];
        MPI_Request requests[UNDER_WAY + 1];
        int left = UNDER_WAY + 1, in = -1, out = 10 * i + thread, to = (rank + 1) % size, from = (rank + size - 1) % size;
        for (int k = 0; k < UNDER_WAY; k++)
            CHECK_OK(MPI_Comm_idup(own[thread], &twins[k], &requests[k]));
        CHECK_OK(MPI_Irecv(&in, 1, MPI_INT, from, thread, MPI_COMM_WORLD, &requests[UNDER_WAY]));
        CHECK_OK(MPI_Send(&out, 1, MPI_INT, to, thread, MPI_COMM_WORLD));
        while (left > 0) {
            int index, flag = 1;
            if (i % 2)
                CHECK_OK(MPI_Waitany(UNDER_WAY + 1, requests, &index, MPI_STATUS_IGNORE));
            else
                CHECK_OK(MPI_Testany(UNDER_WAY + 1, requests, &index, &flag, MPI_STATUS_IGNORE));
            left -= flag;
        }
        CHECK_INT(in, out);
        for (int k = UNDER_WAY - 1; k >= 0; k--) {
            int sum = 0;
            CHECK_OK(MPI_Allreduce(&out, &sum, 1, MPI_INT, MPI_SUM, twins[k]));
            CHECK_INT(sum, size * out);
            CHECK_OK(MPI_Comm_free(&twins[k]));
        }
    }
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t threads[THREADS];
    int numbers[THREADS];
    start_threads(&argc, &argv, MPI_THREAD_MULTIPLE);
    rounds = argument(argc, argv, 40);
    for (int i = 0; i < THREADS; i++)
        CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &own[i]));
    for (int i = 0; i < THREADS; i++) {
        numbers[i] = i;
        CHECK_INT(pthread_create(&threads[i], NULL, run, &numbers[i]), 0);
    }
    for (int i = 0; i < THREADS; i++)
        CHECK_INT(pthread_join(threads[i], NULL), 0);
    for (int i = 0; i < THREADS; i++)
        CHECK_OK(MPI_Comm_free(&own[i]));
    return end();
}
