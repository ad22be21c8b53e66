/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Pi as the area under 4 / (1 + x^2) from 0 to 1, by the midpoint rule. Rank 0 reads how many steps to take from the
 * command line and tells the others; each takes every size-th step; the parts are added on rank 0.
 *
 *     mpirun -n 4 ./pi 10000000
 */
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    int rank, size;
    long steps = 0;
    double part = 0, pi;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);

    if (rank == 0) {
        steps = argc > 1 ? atol(argv[1]) : 1000000;
        if (steps < 1) {
            fprintf(stderr, "pi: '%s' is not a number of steps\n", argv[1]);
            MPI_Abort(MPI_COMM_WORLD, 2);
        }
    }
    double begin = MPI_Wtime();
    MPI_Bcast(&steps, 1, MPI_LONG, 0, MPI_COMM_WORLD);
    for (long i = rank; i < steps; i += size) {
        double x = (i + 0.5) / steps;
        part += 4 / (1 + x * x);
    }
    part /= steps;
    MPI_Reduce(&part, &pi, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);

    if (rank == 0) {
        printf("pi is about %.10f\n", pi);
        fprintf(stderr, "off by %.1e, after %.3f s on %d ranks\n", fabs(pi - acos(-1)), MPI_Wtime() - begin, size);
    }
    MPI_Finalize();
    return 0;
}
