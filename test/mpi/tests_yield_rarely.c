/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 2; env: OMPI_MCA_btl=shm,self */
/* A wait finds that another program wants the processor: this program's own sched_yield takes long. Programs that compute between
 * tests do not give up the processor with each test after that. */
#define _GNU_SOURCE /* sched_getaffinity */
#include "check.h"

#include <sched.h>
#include <time.h>

enum { TESTS = 100000, WAITS = 3, MOST = 1000 };

static int slow;
static long yields;

/* In place of the C library's. */
int sched_yield(void)
{
    yields++;
    if (slow)
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    return 0;
}

/* Returns true if there are fewer processors than ranks. */
static int shared(void)
{
    cpu_set_t cpus[2], all;
    CHECK(sched_getaffinity(0, sizeof *cpus, &cpus[rank]) == 0);
    CHECK_OK(MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, cpus, sizeof *cpus, MPI_BYTE, MPI_COMM_WORLD));
    CPU_OR(&all, &cpus[0], &cpus[1]);
    return CPU_COUNT(&all) < size;
}

static void wait_long(void)
{
    slow = 1;
    /* in which other programs may keep rank 0 from its processor: so until it has yielded */
    for (int i = 0, yielded = 0; i < WAITS || !yielded; i++) {
        int token = 0;
        if (rank == 1) {
            nanosleep(&(struct timespec){.tv_nsec = 50000000}, NULL);
            CHECK_OK(MPI_Send(&token, 1, MPI_INT, 0, 1, MPI_COMM_WORLD));
        } else {
            CHECK_OK(MPI_Recv(&token, 1, MPI_INT, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
            yielded = yields > 0; /* the library calls the one above */
        }
        CHECK_OK(MPI_Bcast(&yielded, 1, MPI_INT, 0, MPI_COMM_WORLD));
    }
    slow = 0;
}

int main(int argc, char **argv)
{
    start(&argc, &argv);
    int token = 0, done = 0;
    MPI_Request request;
    int sharing = shared(); /* such ranks do yield with each test */
    if (rank == 0)
        CHECK_OK(MPI_Irecv(&token, 1, MPI_INT, 1, 2, MPI_COMM_WORLD, &request));
    wait_long();
    if (rank == 0) {
        yields = 0;
        for (int i = 0; i < TESTS; i++)
            CHECK_OK(MPI_Test(&request, &done, MPI_STATUS_IGNORE));
        CHECK(!done);
        CHECK(sharing || yields <= MOST);
        CHECK_OK(MPI_Send(&token, 1, MPI_INT, 1, 3, MPI_COMM_WORLD));
        CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    } else {
        CHECK_OK(MPI_Recv(&token, 1, MPI_INT, 0, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        CHECK_OK(MPI_Send(&token, 1, MPI_INT, 0, 2, MPI_COMM_WORLD));
    }
    return end();
}
