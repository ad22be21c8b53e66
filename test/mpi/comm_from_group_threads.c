/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 2 3 4; long: 8; args: 20; long-args: 200; libs: -lpthread; needs: MPI_Comm_create_from_group */
/* Threads make communicators from the same groups at the same time, each with a string tag of its own, in orders that
 * differ between ranks; and each thread has its own session, which it starts and ends meanwhile. */
#include "check.h"

#include <pthread.h>

enum { THREADS = 4 };

static int rounds;

static void one(MPI_Session session, const char *tag, int number)
{
    MPI_Group group;
    MPI_Comm comm, twin;
    int n, me, sum = 0, value = number, error = 0;
    CHECK_OK(MPI_Group_from_session_pset(session, "mpi://WORLD", &group));
    CHECK_OK(MPI_Comm_create_from_group(group, tag, MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm));
    CHECK_OK(MPI_Group_free(&group));
    CHECK_OK(MPI_Comm_size(comm, &n));
    CHECK_OK(MPI_Comm_rank(comm, &me));
    CHECK_OK(MPI_Allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, comm));
    error = sum != n * number;
    CHECK_OK(MPI_Comm_dup(comm, &twin));
    CHECK_OK(MPI_Sendrecv(&number, 1, MPI_INT, (me + 1) % n, 0, &value, 1, MPI_INT, (me + n - 1) % n, 0, twin,
                          MPI_STATUS_IGNORE));
    CHECK_INT(value, number);
    CHECK_INT(error, 0);
    CHECK_OK(MPI_Comm_free(&twin));
    CHECK_OK(MPI_Comm_free(&comm));
}

static void *run(void *argument)
{
    int thread = *(int *)argument;
    for (int i = 0; i < rounds; i++) {
        MPI_Session session;
        char tag[40];
        snprintf(tag, sizeof tag, "thread %d, round %d", thread, i % 3);
        CHECK_OK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session));
        one(session, tag, 100 * i + thread);
        CHECK_OK(MPI_Session_finalize(&session));
    }
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t threads[THREADS];
    int numbers[THREADS], place = 0;
    rounds = argc > 1 ? atoi(argv[1]) : 20;
    if (getenv("PMIX_RANK"))
        place = atoi(getenv("PMIX_RANK"));
    for (int i = 0; i < THREADS; i++) {
        numbers[i] = (i + place) % THREADS; /* started in another order on each rank */
        CHECK_INT(pthread_create(&threads[i], NULL, run, &numbers[i]), 0);
    }
    for (int i = 0; i < THREADS; i++)
        CHECK_INT(pthread_join(threads[i], NULL), 0);
    return 0;
}
