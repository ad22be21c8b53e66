/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 2; args: 20; long-args: 1000; libs: -lpthread */
/* Two threads of rank 0 begin the same epoch while rank 1 holds the lock: one gets it, and the other
 * one is refused at once. The lock that the first one gives back is free for rank 1. */
#include "check.h"

#include <pthread.h>

static MPI_Win win;
static int is_refused[2], all_targets;
static pthread_barrier_t both;

static void *lock(void *argument)
{
    int me = *(int *)argument, class = MPI_SUCCESS;
    int code = all_targets ? MPI_Win_lock_all(0, win) : MPI_Win_lock(MPI_LOCK_SHARED, 1, 0, win);
    if (code != MPI_SUCCESS) {
        CHECK_OK(MPI_Error_class(code, &class));
        CHECK_INT(class, MPI_ERR_RMA_SYNC);
        CHECK_OK(MPI_Send(NULL, 0, MPI_INT, 1, 0, MPI_COMM_WORLD));
    }
    is_refused[me] = code != MPI_SUCCESS;
    pthread_barrier_wait(&both);
    if (code == MPI_SUCCESS)
        CHECK_OK(all_targets ? MPI_Win_unlock_all(win) : MPI_Win_unlock(1, win));
    return NULL;
}

static void lock_by_threads(void)
{
    pthread_t threads[2];
    int numbers[2] = {0, 1};
    for (int i = 0; i < 2; i++)
        CHECK(pthread_create(&threads[i], NULL, lock, &numbers[i]) == 0);
    for (int i = 0; i < 2; i++)
        CHECK(pthread_join(threads[i], NULL) == 0);
    CHECK_INT(is_refused[0] + is_refused[1], 1);
}

int main(int argc, char **argv)
{
    start_threads(&argc, &argv, MPI_THREAD_MULTIPLE);
    int *memory, rounds = argument(argc, argv, 20);
    CHECK(pthread_barrier_init(&both, NULL, 2) == 0);
    CHECK_OK(MPI_Win_allocate(sizeof *memory, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win));
    CHECK_OK(MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN));
    for (int i = 0; i < rounds; i++) {
        all_targets = i % 2;
        if (rank == 1)
            CHECK_OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, win));
        CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
        if (rank == 0) {
            lock_by_threads();
        } else {
            CHECK_OK(MPI_Recv(NULL, 0, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
            CHECK_OK(MPI_Win_unlock(1, win));
        }
        CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
    }
    CHECK_OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, win));
    CHECK_OK(MPI_Win_unlock(1, win));
    CHECK_OK(MPI_Win_free(&win));
    return end();
}
