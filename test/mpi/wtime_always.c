/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 2 5 singleton */
/* MPI_Wtime counts before MPI_Init and after MPI_Finalize as well, always on the same clock; where
 * MPI_WTIME_IS_GLOBAL says so, that clock is the same for all ranks; two times that differ do so by
 * MPI_Wtick at least. */
#include "check.h"
#include <time.h>

int main(int argc, char **argv)
{
    struct timespec pause = {0, 2000000};
    double before = MPI_Wtime(), tick = MPI_Wtick();
    CHECK(before > 0);
    CHECK(tick > 0 && tick < 1e-3);
    nanosleep(&pause, NULL);
    CHECK(MPI_Wtime() - before >= 0.002 - tick);
    start(&argc, &argv);
    double running = MPI_Wtime();
    CHECK(running > before);
    CHECK(running - before < 600); /* not another clock */
    for (int i = 0; i < 100000; i++) {
        double a = MPI_Wtime(), b = MPI_Wtime();
        CHECK(b >= a);
        CHECK(b == a || b - a >= 0.999 * tick);
    }
    int *global, flag;
    CHECK_OK(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_WTIME_IS_GLOBAL, &global, &flag));
    CHECK_INT(flag, 1);
    for (int i = 0; i < 20 && *global; i++) { /* cause comes before effect on every clock */
        double cause = MPI_Wtime(), latest;
        CHECK_OK(MPI_Allreduce(&cause, &latest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD));
        CHECK(MPI_Wtime() >= latest);
    }
    int code = end();
    double after = MPI_Wtime();
    CHECK(after >= running && after - running < 600);
    CHECK(MPI_Wtick() >= tick); /* grows with the time that a double has to hold */
    return code;
}
