/* SPDX-License-Identifier: BSD-3-Clause */
/* The cost of a communicator's life. "dup-free" is MPI_Comm_dup of MPI_COMM_WORLD and
 * MPI_Comm_free. "dup-dup-free" makes a duplicate and a duplicate of that one, which has never been
 * duplicated before, and frees both. With -l N, each rank has N processes beside it that compute
 * all the time: with as many ranks as cores, -l 1 is one busy process per core. */
#include "bench.h"

#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

static double dup_free(int repetitions, void *state)
{
    (void)state;
    double begin = MPI_Wtime();
    for (int i = 0; i < repetitions; i++) {
        MPI_Comm twin;
        MPI_Comm_dup(MPI_COMM_WORLD, &twin);
        MPI_Comm_free(&twin);
    }
    return MPI_Wtime() - begin;
}

static double dup_dup_free(int repetitions, void *state)
{
    (void)state;
    double begin = MPI_Wtime();
    for (int i = 0; i < repetitions; i++) {
        MPI_Comm twin, third;
        MPI_Comm_dup(MPI_COMM_WORLD, &twin);
        MPI_Comm_dup(twin, &third);
        MPI_Comm_free(&third);
        MPI_Comm_free(&twin);
    }
    return MPI_Wtime() - begin;
}

/* Starts a process that computes until its parent ends. */
static void start_busy_process(void)
{
    pid_t parent = getpid();
    if (fork() != 0)
        return;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    while (getppid() == parent)
        for (volatile int i = 0; i < 1000000; i++) {}
    _exit(0);
}

int main(int argc, char **argv)
{
    for (int i = 1; i + 1 < argc; i += 2)
        for (int n = strcmp(argv[i], "-l") == 0 ? atoi(argv[i + 1]) : 0; n > 0; n--)
            start_busy_process();
    struct bench b = bench_start(&argc, &argv, 0);
    bench_print("dup-free", 0, 1e6 * bench_median(&b, dup_free, NULL), "us");
    bench_print("dup-dup-free", 0, 1e6 * bench_median(&b, dup_dup_free, NULL), "us");
    MPI_Finalize();
    return 0;
}
