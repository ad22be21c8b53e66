/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 2 3; libs: -lpthread; args: 100; long-args: 5000 */
/* Threads run different collectives at the same time, each on its own communicator. */
#include "check.h"
#include <pthread.h>

enum { THREADS = 4 };
static int rounds;
static MPI_Comm comms[THREADS];

static void *collect(void *arg)
{
    int id = (int) (intptr_t) arg, *many = allocate((size_t) size * 4000);
    for (int i = 0; i < rounds; i++) {
        int x = rank + i + id, y = -1, block[1000], expected = size * (size - 1) / 2;
        expected += size * (i + id);
        switch ((i + id) % 4) {
        case 0:
            CHECK_OK(MPI_Allreduce(&x, &y, 1, MPI_INT, MPI_SUM, comms[id]));
            CHECK_INT(y, expected);
            break;
        case 1:
            x = rank == i % size ? i : -1;
            CHECK_OK(MPI_Bcast(&x, 1, MPI_INT, i % size, comms[id]));
            CHECK_INT(x, i);
            break;
        case 2:
            for (int k = 0; k < 1000; k++)
                block[k] = x + k;
            CHECK_OK(MPI_Allgather(block, 1000, MPI_INT, many, 1000, MPI_INT, comms[id]));
            for (int k = 0; k < 1000 * size; k++)
                CHECK_INT(many[k], k / 1000 + i + id + k % 1000);
            break;
        default:
            CHECK_OK(MPI_Barrier(comms[id]));
        }
    }
    free(many);
    return NULL;
}

int main(int argc, char **argv)
{
    start_threads(&argc, &argv, MPI_THREAD_MULTIPLE);
    rounds = argument(argc, argv, 100);
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++)
        CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]));
    for (intptr_t i = 0; i < THREADS; i++)
        CHECK_INT(pthread_create(&threads[i], NULL, collect, (void *) i), 0);
    for (int i = 0; i < THREADS; i++)
        CHECK_INT(pthread_join(threads[i], NULL), 0);
    for (int i = 0; i < THREADS; i++)
        CHECK_OK(MPI_Comm_free(&comms[i]));
    return end();
}
