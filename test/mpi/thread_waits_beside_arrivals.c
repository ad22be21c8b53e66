/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 2; libs: -lpthread; args: 40; long-args: 400 */
/* A thread waits for long, and tells the launcher of the messages that have arrived meanwhile, while another thread receives
 * them on the same communicator. The thread sanitizer sees whether one reads what the other frees. */
#include "check.h"
#include <pthread.h>

enum { MANY = 500, LAST = 0, GO = 1, FIRST = 2 };
static int rounds;

/* Receives the messages of each round, the last one first, so that the others have arrived before. */
static void *receive(void *unused)
{
    for (int i = 0; i < rounds; i++) {
        CHECK_OK(MPI_Send(&i, 1, MPI_INT, 1, GO, MPI_COMM_WORLD));
        for (int k = MANY - 1; k >= 0; k--) {
            int x;
            CHECK_OK(MPI_Recv(&x, 1, MPI_INT, 1, FIRST + k, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
            CHECK_INT(x, i + k);
        }
    }
    return unused;
}

static void send_all(void)
{
    for (int i = 0; i < rounds; i++) {
        int x;
        CHECK_OK(MPI_Recv(&x, 1, MPI_INT, 0, GO, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        CHECK_INT(x, i);
        for (int k = 0; k < MANY; k++) {
            x = i + k;
            CHECK_OK(MPI_Send(&x, 1, MPI_INT, 0, FIRST + k, MPI_COMM_WORLD));
        }
        usleep(5000);
    }
    CHECK_OK(MPI_Send(&rounds, 1, MPI_INT, 0, LAST, MPI_COMM_WORLD));
}

int main(int argc, char **argv)
{
    start_threads(&argc, &argv, MPI_THREAD_MULTIPLE);
    rounds = argument(argc, argv, 40);
    if (rank == 0) {
        pthread_t thread;
        int last;
        MPI_Request request;
        CHECK_INT(pthread_create(&thread, NULL, receive, NULL), 0);
        CHECK_OK(MPI_Irecv(&last, 1, MPI_INT, 1, LAST, MPI_COMM_WORLD, &request));
        CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
        CHECK_INT(last, rounds);
        CHECK_INT(pthread_join(thread, NULL), 0);
    } else {
        send_all();
    }
    return end();
}
