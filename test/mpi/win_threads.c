/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 2 3; args: 200; long-args: 3000; libs: -lpthread */
/* MPI_THREAD_MULTIPLE: threads use windows of their own at a time, and one window together. */
#include "check.h"

#include <pthread.h>

enum { THREADS = 3 };

static MPI_Win wins[THREADS], common;
static int64_t *memory[THREADS], *common_memory;
static int rounds;

static void *use(void *argument)
{
    int me = *(int *)argument, target = (rank + 1) % size;
    int64_t one = 1, before;
    for (int i = 0; i < rounds; i++) {
        CHECK_OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, target, 0, wins[me]));
        CHECK_OK(MPI_Fetch_and_op(&one, &before, MPI_INT64_T, target, 0, MPI_SUM, wins[me]));
        CHECK_OK(MPI_Win_unlock(target, wins[me]));
        CHECK_INT(before, i);
        CHECK_OK(MPI_Fetch_and_op(&one, &before, MPI_INT64_T, target, me, MPI_SUM, common));
        CHECK_OK(MPI_Win_flush(target, common));
        CHECK_INT(before, i);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    start_threads(&argc, &argv, MPI_THREAD_MULTIPLE);
    pthread_t threads[THREADS];
    int numbers[THREADS];
    rounds = argument(argc, argv, 200);
    for (int i = 0; i < THREADS; i++) {
        CHECK_OK(MPI_Win_allocate(8, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &memory[i], &wins[i]));
        *memory[i] = 0;
    }
    CHECK_OK(MPI_Win_allocate(8 * THREADS, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &common_memory,
                              &common));
    memset(common_memory, 0, 8 * THREADS);
    CHECK_OK(MPI_Win_lock_all(0, common));
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
    for (int i = 0; i < THREADS; i++) {
        numbers[i] = i;
        CHECK(pthread_create(&threads[i], NULL, use, &numbers[i]) == 0);
    }
    for (int i = 0; i < THREADS; i++)
        CHECK(pthread_join(threads[i], NULL) == 0);
    CHECK_OK(MPI_Win_unlock_all(common));
    CHECK_OK(MPI_Win_free(&common));
    for (int i = 0; i < THREADS; i++) {
        CHECK_OK(MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, wins[i]));
        CHECK_INT(*memory[i], rounds);
        CHECK_OK(MPI_Win_unlock(rank, wins[i]));
        CHECK_OK(MPI_Win_free(&wins[i]));
    }
    return end();
}
