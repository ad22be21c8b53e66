/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 8; needs: MPI_T_pvar_handle_alloc */
/* Ranks that come to a collective one after the other, each when those before it are asleep, do not wake all that sleep there. */
#include "counter.h"

enum { GAP_US = 10 * 1000, TIMES = 3, SLEEP_US = 100 * 1000 };

/* A rank that sleeps looks around every now and then by itself. */
static void check_sleeps(const struct counter *sleeps, unsigned long long before, double began)
{
    unsigned long long by_itself = (unsigned long long) ((MPI_Wtime() - began) * 1e6 / SLEEP_US);
    unsigned long long slept = counter_read(sleeps) - before;
    if (slept > TIMES * 2 + by_itself)
        check_fail(__FILE__, __LINE__, "went to sleep %llu times in %d barriers", slept, TIMES);
}

int main(int argc, char **argv)
{
    start(&argc, &argv);
    struct counter sleeps = counter_open("pml_sleeps", MPI_THREAD_SINGLE);
    for (int i = 0; i < 5; i++) /* until there is a board */
        CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
    unsigned long long before = counter_read(&sleeps);
    double began = MPI_Wtime();
    for (int i = 0; i < TIMES; i++) {
        usleep((useconds_t) ((size - rank) % size * GAP_US)); /* rank 0 is the first, then those from the last one downwards */
        CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
    }
    check_sleeps(&sleeps, before, began);
    counter_close(&sleeps);
    return end();
}
