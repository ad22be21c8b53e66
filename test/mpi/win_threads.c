/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 2 3; args: 200; long-args: 3000; libs: -lpthread */
/* MPI_THREAD_MULTIPLE: threads use windows of their own at a time, and one window together: first
 * under MPI_Win_lock_all, then each thread begins and ends locks of a target of its own, while the
 * threads of other ranks want the same locks. */
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

/* Under the lock no other rank's thread changes the word between the get and the put. */
static void *lock_own_target(void *argument)
{
    int target = *(int *)argument;
    int64_t value;
    MPI_Request request;
    for (int i = 0; i < rounds; i++) {
        CHECK_OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, target, 0, common));
        if (i % 2) {
            CHECK_OK(MPI_Get(&value, 1, MPI_INT64_T, target, 0, 1, MPI_INT64_T, common));
            CHECK_OK(MPI_Win_flush_local(target, common));
            value++;
            CHECK_OK(MPI_Put(&value, 1, MPI_INT64_T, target, 0, 1, MPI_INT64_T, common));
        } else {
            CHECK_OK(MPI_Rget(&value, 1, MPI_INT64_T, target, 0, 1, MPI_INT64_T, common,
                              &request));
            CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
            value++;
            CHECK_OK(MPI_Rput(&value, 1, MPI_INT64_T, target, 0, 1, MPI_INT64_T, common,
                              &request));
            CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
        }
        CHECK_OK(MPI_Win_unlock(target, common));
    }
    return NULL;
}

static void run_threads(void *(*body)(void *), int count)
{
    pthread_t threads[THREADS];
    int numbers[THREADS];
    for (int i = 0; i < count; i++) {
        numbers[i] = i;
        CHECK(pthread_create(&threads[i], NULL, body, &numbers[i]) == 0);
    }
    for (int i = 0; i < count; i++)
        CHECK(pthread_join(threads[i], NULL) == 0);
}

int main(int argc, char **argv)
{
    start_threads(&argc, &argv, MPI_THREAD_MULTIPLE);
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
    run_threads(use, THREADS);
    CHECK_OK(MPI_Win_unlock_all(common));
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
    CHECK_OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, rank, 0, common));
    common_memory[0] = 0;
    CHECK_OK(MPI_Win_unlock(rank, common));
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
    CHECK(size <= THREADS);
    run_threads(lock_own_target, size);
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
    CHECK_OK(MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, common));
    CHECK_INT(common_memory[0], size * rounds);
    CHECK_OK(MPI_Win_unlock(rank, common));
    CHECK_OK(MPI_Win_free(&common));
    for (int i = 0; i < THREADS; i++) {
        CHECK_OK(MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, wins[i]));
        CHECK_INT(*memory[i], rounds);
        CHECK_OK(MPI_Win_unlock(rank, wins[i]));
        CHECK_OK(MPI_Win_free(&wins[i]));
    }
    return end();
}
