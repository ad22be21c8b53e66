/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 2; libs: -lpthread; args: 300 */
/* Several threads of a rank sleep at the same time, each for a message of its own: whoever's message comes is woken. Odd
 * threads wait in a probe, which no request completes; with one rank the messages never leave the process. args: rounds. */
#include "check.h"
#include <pthread.h>

enum { PAIRS = 4 };

static int rounds;

/* Thread `number` of a pair answers, or asks, over its pair's own two tags. */
static void pass(int number, int round)
{
    int pair = number / 2, asks = number % 2, got = -1;
    int peer = (rank + 1) % size, source = (rank + size - 1) % size;
    int mine = 2 * pair + asks, other = 2 * pair + 1 - asks;

    if (asks)
        CHECK_OK(MPI_Send(&round, 1, MPI_INT, peer, other, MPI_COMM_WORLD));
    if (pair % 2)
        CHECK_OK(MPI_Probe(asks ? peer : source, mine, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    CHECK_OK(MPI_Recv(&got, 1, MPI_INT, asks ? peer : source, mine, MPI_COMM_WORLD,
                      MPI_STATUS_IGNORE));
    CHECK_INT(got, round);
    if (!asks)
        CHECK_OK(MPI_Send(&round, 1, MPI_INT, source, other, MPI_COMM_WORLD));
}

static void *run(void *arg)
{
    for (int round = 0; round < rounds; round++) {
        if (round % 16 == 0)
            usleep(200); /* time for the others to fall asleep */
        pass((int) (intptr_t) arg, round);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t threads[2 * PAIRS];

    start_threads(&argc, &argv, MPI_THREAD_MULTIPLE);
    rounds = argument(argc, argv, 300);
    for (int i = 0; i < 2 * PAIRS; i++)
        CHECK_INT(pthread_create(&threads[i], NULL, run, (void *) (intptr_t) i), 0);
    for (int i = 0; i < 2 * PAIRS; i++)
        CHECK_INT(pthread_join(threads[i], NULL), 0);
    return end();
}
