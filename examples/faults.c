/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Faults, wrong on purpose: the user guide shows with them how a fault is found. The first
 * argument says which one, the comment above each function on how many ranks.
 */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

static int rank, value[4];

/* 4 ranks: rank 1 broadcasts from another root than the others. */
static void different_roots(void)
{
    MPI_Bcast(value, 1, MPI_INT, rank == 1 ? 1 : 0, MPI_COMM_WORLD);
}

/* 2 ranks: rank 0 waits for a message that nobody sends. */
static void missing_message(void)
{
    if (rank == 0)
        MPI_Recv(value, 1, MPI_INT, 1, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Never ends. */
static void spin(void)
{
    for (volatile int turns = 0; turns >= 0; turns ^= 1);
}

/* 4 ranks: in its eleventh step rank 1 never stops computing. */
static void endless_loop(void)
{
    for (int step = 1;; step++) {
        if (rank == 1 && step == 11)
            spin();
        MPI_Allreduce(MPI_IN_PLACE, value, 4, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    }
}

/* 2 ranks: rank 0 sends with tag 5, but rank 1 receives with tag 6; rank 0 waits for the answer. */
static void different_tags(void)
{
    if (rank == 0) {
        MPI_Send(value, 2, MPI_INT, 1, 5, MPI_COMM_WORLD);
        MPI_Recv(value, 1, MPI_INT, 1, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else if (rank == 1) {
        MPI_Recv(value, 2, MPI_INT, 0, 6, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Send(value, 1, MPI_INT, 0, 9, MPI_COMM_WORLD);
    }
}

/* 2 ranks: rank 1 writes to an array that is not there. */
static void crash_here(void)
{
    static int *volatile array = NULL;
    if (rank == 1)
        array[4] = 1;
    MPI_Barrier(MPI_COMM_WORLD);
}

static const struct {
    const char *name;
    void (*run)(void);
} faults[] = {
    {"root", different_roots}, {"message", missing_message}, {"loop", endless_loop},
    {"tag", different_tags},   {"crash", crash_here},
};

int main(int argc, char **argv)
{
    int known = 0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (unsigned i = 0; argc == 2 && i < sizeof faults / sizeof faults[0]; i++) {
        if (strcmp(argv[1], faults[i].name) == 0) {
            faults[i].run();
            known = 1;
        }
    }
    if (!known && rank == 0)
        fprintf(stderr, "usage: faults root|message|loop|tag|crash\n");
    MPI_Finalize();
    return known ? 0 : 2;
}
