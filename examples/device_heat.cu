/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * A rod that cools, on GPUs: CUDA's runtime, a kernel, and MPI calls that get addresses on the devices. Each rank has a part of
 * the rod and exchanges one point with either neighbour in each step; the total heat is an MPI_Allreduce of values on the
 * devices. The ends of the rod are isolated, so the total must stay.
 *
 *     nvcc -O2 -ccbin mpicxx -o device_heat device_heat.cu
 *     mpirun -n 2 ./device_heat
 */
#include <cuda_runtime.h>
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { POINTS = 1 << 16, STEPS = 200 };

static void must(cudaError_t error, const char *what)
{
    if (error == cudaSuccess)
        return;
    fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(error));
    MPI_Abort(MPI_COMM_WORLD, 1);
}

/* Point 0 and point POINTS + 1 belong to the neighbours. */
__global__ static void step(const double *from, double *to)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x + 1;
    if (i <= POINTS)
        to[i] = from[i] + 0.25 * (from[i - 1] - 2 * from[i] + from[i + 1]);
}

/* Adds up the points of this rank; slow and simple. */
__global__ static void add(const double *points, double *sum)
{
    double all = 0;
    for (int i = 1; i <= POINTS; i++)
        all += points[i];
    *sum = all;
}

static double total(const double *points, double *sum)
{
    double result;
    add<<<1, 1>>>(points, sum);
    must(cudaDeviceSynchronize(), "add"); /* MPI does not wait for the program's kernels */
    MPI_Allreduce(MPI_IN_PLACE, sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    must(cudaMemcpy(&result, sum, sizeof result, cudaMemcpyDeviceToHost), "copy");
    return result;
}

int main(int argc, char **argv)
{
    int rank, size, devices = 0;
    double *now, *next, *sum;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    must(cudaGetDeviceCount(&devices), "devices");
    must(cudaSetDevice(rank % devices), "device");
    must(cudaMalloc(&now, (POINTS + 2) * sizeof *now), "memory");
    must(cudaMalloc(&next, (POINTS + 2) * sizeof *next), "memory");
    must(cudaMalloc(&sum, sizeof *sum), "memory");

    double *start = (double *)malloc((POINTS + 2) * sizeof *start);
    for (int i = 0; i < POINTS + 2; i++)
        start[i] = rank == 0 && i <= POINTS / 2 ? 100 : 0;
    must(cudaMemcpy(now, start, (POINTS + 2) * sizeof *now, cudaMemcpyHostToDevice), "copy");
    free(start);

    int left = rank > 0 ? rank - 1 : MPI_PROC_NULL, right = rank < size - 1 ? rank + 1 : MPI_PROC_NULL;
    double before = total(now, sum), begin = MPI_Wtime();
    for (int i = 0; i < STEPS; i++) {
        MPI_Sendrecv(now + 1, 1, MPI_DOUBLE, left, 0, now + POINTS + 1, 1, MPI_DOUBLE, right, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Sendrecv(now + POINTS, 1, MPI_DOUBLE, right, 1, now, 1, MPI_DOUBLE, left, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (rank == 0)
            must(cudaMemcpy(now, now + 1, sizeof *now, cudaMemcpyDeviceToDevice), "left end");
        if (rank == size - 1)
            must(cudaMemcpy(now + POINTS + 1, now + POINTS, sizeof *now, cudaMemcpyDeviceToDevice), "right end");
        step<<<POINTS / 256, 256>>>(now, next);
        must(cudaDeviceSynchronize(), "step");
        double *other = now;
        now = next;
        next = other;
    }
    double each = (MPI_Wtime() - begin) / STEPS * 1e6, after = total(now, sum);
    int wrong = fabs(after - before) > 1e-9 * before;
    if (rank == 0) {
        printf("The heat is %s after %d steps\n", wrong ? "lost" : "all there", STEPS);
        fprintf(stderr, "%d ranks, %.1f us per step\n", size, each);
    }
    cudaFree(now);
    cudaFree(next);
    cudaFree(sum);
    MPI_Finalize();
    return wrong;
}
