/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 2; libs: -lpthread; long-args: 20000 */
/* Several threads probe with wildcards and receive what they matched: each message exactly once. */
#include "check.h"
#include <pthread.h>

enum { THREADS = 3 };
static int messages;
static char *seen;

static void *receive(void *arg)
{
    (void) arg;
    for (;;) {
        MPI_Message message;
        MPI_Status status;
        int count, got[300];
        CHECK_OK(MPI_Mprobe(0, MPI_ANY_TAG, MPI_COMM_WORLD, &message, &status));
        CHECK_OK(MPI_Get_count(&status, MPI_INT, &count));
        CHECK_OK(MPI_Mrecv(got, count, MPI_INT, &message, MPI_STATUS_IGNORE));
        if (count == 0)
            return NULL;
        CHECK_INT(count, 1 + got[0] % 300);
        CHECK_INT(got[count - 1], got[0]);
        CHECK_INT(status.MPI_TAG, got[0] % 7);
        CHECK_INT(__atomic_fetch_add(&seen[got[0]], 1, __ATOMIC_RELAXED), 0);
    }
}

int main(int argc, char **argv)
{
    start_threads(&argc, &argv, MPI_THREAD_MULTIPLE);
    messages = argument(argc, argv, 1500);
    if (rank == 0) {
        int buffer[300];
        for (int i = 0; i < messages; i++) {
            int count = 1 + i % 300;
            buffer[0] = buffer[count - 1] = i;
            CHECK_OK(MPI_Send(buffer, count, MPI_INT, 1, i % 7, MPI_COMM_WORLD));
        }
        for (int i = 0; i < THREADS; i++)
            CHECK_OK(MPI_Send(buffer, 0, MPI_INT, 1, 0, MPI_COMM_WORLD));
    } else {
        pthread_t threads[THREADS];
        seen = allocate((size_t) messages);
        for (int i = 0; i < THREADS; i++)
            CHECK_INT(pthread_create(&threads[i], NULL, receive, NULL), 0);
        for (int i = 0; i < THREADS; i++)
            CHECK_INT(pthread_join(threads[i], NULL), 0);
        for (int i = 0; i < messages; i++)
            CHECK_INT(seen[i], 1);
        free(seen);
    }
    return end();
}
