/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 2; libs: -lpthread; args: 300; long-args: 20000 */
/* Threads of two ranks talk pairwise on communicators of their own, small and large. */
#include "check.h"
#include <pthread.h>

enum { THREADS = 4, MOST = 30000 };
static int rounds;

struct work { MPI_Comm comm; int id; };

static void *talk(void *arg)
{
    struct work *w = arg;
    int *out = allocate(MOST * sizeof(int)), *in = allocate(MOST * sizeof(int));
    for (int i = 0; i < rounds; i++) {
        int n = i % 20 == 19 ? MOST : 1 + i % 100;
        MPI_Status status;
        out[0] = out[n - 1] = rank + w->id * 1000 + i;
        if (i % 2) {
            CHECK_OK(MPI_Sendrecv(out, n, MPI_INT, 1 - rank, 3, in, n, MPI_INT, 1 - rank, 3,
                                  w->comm, &status));
        } else if (rank == 0) {
            CHECK_OK(MPI_Send(out, n, MPI_INT, 1, 3, w->comm));
            CHECK_OK(MPI_Recv(in, n, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, w->comm, &status));
        } else {
            CHECK_OK(MPI_Recv(in, n, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, w->comm, &status));
            CHECK_OK(MPI_Ssend(out, n, MPI_INT, 0, 3, w->comm));
        }
        CHECK_INT(in[0], 1 - rank + w->id * 1000 + i);
        CHECK_INT(in[n - 1], 1 - rank + w->id * 1000 + i);
    }
    free(out);
    free(in);
    return NULL;
}

int main(int argc, char **argv)
{
    start_threads(&argc, &argv, MPI_THREAD_MULTIPLE);
    rounds = argument(argc, argv, 300);
    pthread_t threads[THREADS];
    struct work work[THREADS];
    for (int i = 0; i < THREADS; i++) {
        work[i].id = i;
        CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &work[i].comm));
    }
    for (int i = 0; i < THREADS; i++)
        CHECK_INT(pthread_create(&threads[i], NULL, talk, &work[i]), 0);
    for (int i = 0; i < THREADS; i++)
        CHECK_INT(pthread_join(threads[i], NULL), 0);
    for (int i = 0; i < THREADS; i++)
        CHECK_OK(MPI_Comm_free(&work[i].comm));
    return end();
}
