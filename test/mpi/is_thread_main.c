/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 2; libs: -lpthread */
/* The main thread is the one that started MPI, whichever that was: here a second one starts it and the
 * first one is none. */
#include "check.h"
#include <pthread.h>

static int argc_;
static char **argv_;

static void *other(void *result)
{
    CHECK_OK(MPI_Is_thread_main(result));
    return NULL;
}

static int main_in_another_thread(void)
{
    pthread_t thread;
    int flag = -1;
    CHECK_INT(pthread_create(&thread, NULL, other, &flag), 0);
    CHECK_INT(pthread_join(thread, NULL), 0);
    return flag;
}

static void *run_mpi(void *nothing)
{
    int provided, level, flag = -1;
    CHECK_OK(MPI_Init_thread(&argc_, &argv_, MPI_THREAD_FUNNELED, &provided));
    CHECK_OK(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
    CHECK(provided >= MPI_THREAD_FUNNELED);
    CHECK_OK(MPI_Query_thread(&level));
    CHECK_INT(level, provided);
    CHECK_OK(MPI_Is_thread_main(&flag));
    CHECK_INT(flag, 1);
    CHECK_INT(main_in_another_thread(), 0);
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
    return nothing;
}

int main(int argc, char **argv)
{
    pthread_t thread;
    int flag = -1;
    argc_ = argc;
    argv_ = argv;
    CHECK_INT(pthread_create(&thread, NULL, run_mpi, NULL), 0);
    CHECK_INT(pthread_join(thread, NULL), 0);
    CHECK_OK(MPI_Is_thread_main(&flag));
    CHECK_INT(flag, 0);
    CHECK_OK(MPI_Finalize());
    return 0;
}
