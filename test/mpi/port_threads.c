/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 2; libs: -lpthread */
/* Threads accept at one port at the same time: they take turns, and each gets a visitor of its own. */
#include "check.h"
#include <pthread.h>

enum { THREADS = 4 };

static char port[MPI_MAX_PORT_NAME];
static MPI_Comm own[THREADS];
static int heard[THREADS];

static void *accept_one(void *argument)
{
    int i = (int)(intptr_t)argument;
    MPI_Comm visitor;
    CHECK_OK(MPI_Comm_accept(port, MPI_INFO_NULL, 0, own[i], &visitor));
    CHECK_OK(MPI_Recv(&heard[i], 1, MPI_INT, 0, 0, visitor, MPI_STATUS_IGNORE));
    CHECK_OK(MPI_Comm_disconnect(&visitor));
    return NULL;
}

static void accept_all(void)
{
    pthread_t threads[THREADS];
    int visits[THREADS] = {0};
    for (int i = 0; i < THREADS; i++) {
        CHECK_OK(MPI_Comm_dup(MPI_COMM_SELF, &own[i]));
        CHECK_INT(pthread_create(&threads[i], NULL, accept_one, (void *)(intptr_t)i), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        CHECK_INT(pthread_join(threads[i], NULL), 0);
        CHECK_OK(MPI_Comm_free(&own[i]));
        CHECK(heard[i] >= 100 && heard[i] < 100 + THREADS);
        visits[heard[i] - 100]++;
    }
    for (int i = 0; i < THREADS; i++)
        CHECK_INT(visits[i], 1);
}

static void visit_all(void)
{
    for (int i = 0; i < THREADS; i++) {
        MPI_Comm host;
        int said = 100 + i;
        CHECK_OK(MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &host));
        CHECK_OK(MPI_Send(&said, 1, MPI_INT, 0, 0, host));
        CHECK_OK(MPI_Comm_disconnect(&host));
    }
}

int main(int argc, char **argv)
{
    start_threads(&argc, &argv, MPI_THREAD_MULTIPLE);
    if (rank == 0)
        CHECK_OK(MPI_Open_port(MPI_INFO_NULL, port));
    CHECK_OK(MPI_Bcast(port, MPI_MAX_PORT_NAME, MPI_CHAR, 0, MPI_COMM_WORLD));
    if (rank == 0)
        accept_all();
    else
        visit_all();
    if (rank == 0)
        CHECK_OK(MPI_Close_port(port));
    return end();
}
