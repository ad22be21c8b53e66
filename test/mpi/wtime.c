/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 2 */
/* MPI_Wtime never goes back and its tick is a small positive number. */
#include "check.h"

int main(int argc, char **argv)
{
    start(&argc, &argv);
    double last = MPI_Wtime(), tick = MPI_Wtick();
    CHECK(last >= 0);
    CHECK(tick > 0 && tick < 0.1);
    for (int i = 0; i < 100000; i++) {
        double now = MPI_Wtime();
        CHECK(now >= last);
        last = now;
    }
    double begin = MPI_Wtime();
    usleep(20000);
    CHECK(MPI_Wtime() - begin >= 0.02 - tick);
    return end();
}
