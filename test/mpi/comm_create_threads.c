/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 2 4; libs: -lpthread */
/* Threads make communicators from the same parent at the same time, told apart by their tags, and from each other's. */
#include "check.h"
#include <pthread.h>

enum { THREADS = 4, ROUNDS = 100 };

static MPI_Group everybody;

static void *make_and_use(void *tag)
{
    for (int i = 0; i < ROUNDS; i++) {
        MPI_Comm made, twin, part;
        int ranks, sum, value = rank * 1000 + *(int *) tag;
        CHECK_OK(MPI_Comm_create_group(MPI_COMM_WORLD, everybody, *(int *) tag, &made));
        CHECK_OK(MPI_Comm_dup(made, &twin));
        CHECK_OK(MPI_Comm_split(twin, rank % 2, 0, &part));
        CHECK_OK(MPI_Comm_size(part, &ranks));
        CHECK_INT(ranks, (size + !(rank % 2)) / 2);
        CHECK_OK(MPI_Allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, twin));
        CHECK_INT(sum, size * (size - 1) / 2 * 1000 + size * *(int *) tag);
        CHECK_OK(MPI_Comm_free(&made));
        CHECK_OK(MPI_Comm_free(&twin));
        CHECK_OK(MPI_Comm_free(&part));
    }
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t threads[THREADS];
    int tags[THREADS];
    start_threads(&argc, &argv, MPI_THREAD_MULTIPLE);
    CHECK_OK(MPI_Comm_group(MPI_COMM_WORLD, &everybody));
    for (int t = 0; t < THREADS; t++) {
        tags[t] = t;
        CHECK_INT(pthread_create(&threads[t], NULL, make_and_use, &tags[t]), 0);
    }
    for (int t = 0; t < THREADS; t++)
        CHECK_INT(pthread_join(threads[t], NULL), 0);
    CHECK_OK(MPI_Group_free(&everybody));
    return end();
}
