/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Bodies that attract each other, each pair of them. Every rank owns some bodies. A copy of each rank's bodies travels
 * once around the ring: while a rank computes the forces of the guests it has, the next ones are already on their way.
 *
 *     mpirun -n 4 ./nbody
 */
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BODIES = 480, STEPS = 20 };
static const double step_s = 0.001;

struct body {
    double x[3], mass;
};

static void add_forces(const struct body *own, int count, const struct body *guests, int guest_count,
                       double (*force)[3])
{
    for (int i = 0; i < count; i++)
        for (int k = 0; k < guest_count; k++) {
            double d[3], square = 1e-3; /* softened: a body does not attract itself */
            for (int c = 0; c < 3; c++) {
                d[c] = guests[k].x[c] - own[i].x[c];
                square += d[c] * d[c];
            }
            double pull = own[i].mass * guests[k].mass / (square * sqrt(square));
            for (int c = 0; c < 3; c++)
                force[i][c] += pull * d[c];
        }
}

int main(int argc, char **argv)
{
    int rank, size;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int next = (rank + 1) % size, previous = (rank + size - 1) % size;
    int first = BODIES * rank / size, count = BODIES * (rank + 1) / size - first, most = BODIES / size + 1;

    MPI_Datatype body;
    MPI_Type_contiguous(4, MPI_DOUBLE, &body);
    MPI_Type_commit(&body);
    struct body *own = calloc(most, sizeof *own), *guests = calloc(most, sizeof *guests),
                *coming = calloc(most, sizeof *coming);
    double(*speed)[3] = calloc(most, sizeof *speed), (*force)[3] = calloc(most, sizeof *force);
    if (!own || !guests || !coming || !speed || !force)
        MPI_Abort(MPI_COMM_WORLD, 1);
    for (int i = 0; i < count; i++) { /* on a spiral; the same bodies, whatever the number of ranks */
        double at = first + i;
        own[i] = (struct body){{cos(at), sin(at), at / BODIES}, 1.0 / BODIES};
    }

    double begin = MPI_Wtime();
    for (int step = 0; step < STEPS; step++) {
        int guest_count = count;
        memcpy(guests, own, sizeof *own * most);
        memset(force, 0, sizeof *force * most);
        for (int turn = 0; turn < size; turn++) {
            MPI_Request requests[2];
            MPI_Status status[2];
            MPI_Irecv(coming, most, body, previous, 0, MPI_COMM_WORLD, &requests[0]);
            MPI_Isend(guests, guest_count, body, next, 0, MPI_COMM_WORLD, &requests[1]);
            add_forces(own, count, guests, guest_count, force);
            MPI_Waitall(2, requests, status);
            MPI_Get_count(&status[0], body, &guest_count);
            struct body *gone = guests;
            guests = coming;
            coming = gone;
        }
        for (int i = 0; i < count; i++)
            for (int c = 0; c < 3; c++) {
                speed[i][c] += step_s * force[i][c] / own[i].mass;
                own[i].x[c] += step_s * speed[i][c];
            }
    }

    /* whatever the forces are, the centre of mass stays where it is, and the momentum is 0 */
    double sums[6] = {0}, all[6];
    for (int i = 0; i < count; i++)
        for (int c = 0; c < 3; c++) {
            sums[c] += own[i].mass * speed[i][c];
            sums[3 + c] += own[i].mass * speed[i][c] * speed[i][c] / 2;
        }
    MPI_Allreduce(sums, all, 6, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    int wrong = fabs(all[0]) + fabs(all[1]) + fabs(all[2]) > 1e-9;
    if (rank == 0) {
        printf("%d bodies after %d steps: energy of motion %.6e, momentum %s\n", BODIES, STEPS, all[3] + all[4] + all[5],
               wrong ? "WRONG" : "0");
        fprintf(stderr, "%.1f million pairs a second\n",
                1e-6 * BODIES * BODIES * STEPS / (MPI_Wtime() - begin));
    }
    free(own);
    free(guests);
    free(coming);
    free(speed);
    free(force);
    MPI_Type_free(&body);
    MPI_Finalize();
    return wrong;
}
