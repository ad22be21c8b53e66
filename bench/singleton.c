/* SPDX-License-Identifier: BSD-3-Clause */
/* Time from MPI_Init to MPI_Finalize of a program started without a launcher, in ms. */
#include "bench.h"

#include <time.h>

static double now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double) t.tv_sec * 1e3 + (double) t.tv_nsec * 1e-6;
}

int main(int argc, char **argv)
{
    double begin = now_ms();
    bench_start(&argc, &argv, 0);
    MPI_Finalize();
    bench_print("singleton", 1, now_ms() - begin, "ms");
    return 0;
}
