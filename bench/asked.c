/* SPDX-License-Identifier: BSD-3-Clause */
/* How long a target that computes, without any call of MPI, takes to answer: rank 0 locks, puts 8
 * bytes and unlocks, while rank 1 computes for a second. In turn without and with a pause of a
 * millisecond between two epochs. Prints the median, the 99th percentile and the worst of all, in
 * microseconds. Meant for ranks without common memory: on two hosts, or with --mca rma_mechanism
 * asked. */
#include "bench.h"

#include <time.h>

enum { MOST = 100000 };

static double epochs[MOST];

static void compute(double seconds)
{
    volatile double sum = 0;
    for (double end = MPI_Wtime() + seconds; MPI_Wtime() < end;)
        for (int i = 0; i < 1000; i++)
            sum += i;
}

static int order(const void *one, const void *other)
{
    double a = *(const double *) one, b = *(const double *) other;
    return (a > b) - (a < b);
}

/* Returns the number of epochs in 0.8 seconds. */
static int ask(MPI_Win win, int pause)
{
    const struct timespec millisecond = { .tv_nsec = 1000000 };
    double start = MPI_Wtime();
    long value = 7;
    int count = 0;
    while (count < MOST && MPI_Wtime() < start + 0.8) {
        double begin = MPI_Wtime();
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, win);
        MPI_Put(&value, 1, MPI_LONG, 1, 0, 1, MPI_LONG, win);
        MPI_Win_unlock(1, win);
        epochs[count++] = (MPI_Wtime() - begin) * 1e6;
        if (pause)
            nanosleep(&millisecond, NULL);
    }
    qsort(epochs, (size_t) count, sizeof *epochs, order);
    return count;
}

int main(int argc, char **argv)
{
    struct bench b = bench_start(&argc, &argv, 8);
    static const char *const names[2][3] = { { "median", "99th_percentile", "worst" },
                                              { "median_paused", "99th_percentile_paused",
                                                "worst_paused" } };
    long *memory;
    MPI_Win win;
    (void) b;
    bench_need_ranks(2);
    MPI_Win_allocate(8, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
    for (int pause = 0; pause < 2; pause++) {
        MPI_Barrier(MPI_COMM_WORLD);
        if (rank == 0) {
            int count = ask(win, pause);
            bench_print(names[pause][0], 8, epochs[count / 2], "us");
            bench_print(names[pause][1], 8, epochs[count * 99 / 100], "us");
            bench_print(names[pause][2], 8, epochs[count - 1], "us");
        } else {
            compute(1);
        }
    }
    MPI_Win_free(&win);
    MPI_Finalize();
    return 0;
}
