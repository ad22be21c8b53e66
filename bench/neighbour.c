/* SPDX-License-Identifier: BSD-3-Clause */

/* neighbour [SECONDS]: how late a process wakes that sleeps for 10 ms at a time, while other
 * programs run. It does not use MPI. Start it in a session of its own while a job computes or
 * exchanges messages:
 *
 *     mpirun -n 2 --mca btl tcp,self ./collectives -o barrier & setsid ./neighbour 5 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static double now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec * 1e-6;
}

int main(int argc, char **argv)
{
    double end = now_ms() + (argc > 1 ? atof(argv[1]) : 3) * 1e3, worst = 0, sum = 0;
    int naps = 0;
    while (now_ms() < end) {
        double begin = now_ms();
        nanosleep(&(struct timespec){0, 10 * 1000 * 1000}, NULL);
        double late = now_ms() - begin - 10;
        worst = late > worst ? late : worst;
        sum += late;
        naps++;
    }
    printf("late_worst 0 %.2f ms\nlate_mean 0 %.2f ms\n", worst, sum / naps);
    return 0;
}
