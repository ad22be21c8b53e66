/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 2; libs: -lpthread */
/* MPI_Init_thread gives a level in order, MPI_Query_thread the same, one thread is the main one. */
#include "check.h"
#include <pthread.h>

static void *ask(void *arg)
{
    int *main_thread = arg;
    CHECK_OK(MPI_Is_thread_main(main_thread));
    return NULL;
}

int main(int argc, char **argv)
{
    int provided = -1, level = -1, main_thread = -1, in_other = -1;
    pthread_t thread;
    CHECK(MPI_THREAD_SINGLE < MPI_THREAD_FUNNELED);
    CHECK(MPI_THREAD_FUNNELED < MPI_THREAD_SERIALIZED);
    CHECK(MPI_THREAD_SERIALIZED < MPI_THREAD_MULTIPLE);
    CHECK_OK(MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided));
    check_ranks();
    CHECK_INT(provided, MPI_THREAD_MULTIPLE);
    CHECK_OK(MPI_Query_thread(&level));
    CHECK_INT(level, provided);
    CHECK_OK(MPI_Is_thread_main(&main_thread));
    CHECK_INT(main_thread, 1);
    CHECK_INT(pthread_create(&thread, NULL, ask, &in_other), 0);
    CHECK_INT(pthread_join(thread, NULL), 0);
    CHECK_INT(in_other, 0);
    return end();
}
