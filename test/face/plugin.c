/* SPDX-License-Identifier: BSD-3-Clause */
/* A part of a program, compiled for one of the interfaces: starts MPI if nobody has, sends around a ring, and sums. */
#include <mpi.h>
#include <stdio.h>

static void add(void *in, void *inout, int *count, MPI_Datatype *datatype)
{
    for (int i = 0; i < *count; i++)
        ((int *)inout)[i] += *datatype == MPI_INT ? ((int *)in)[i] : -1000;
}

int work(int number)
{
    int started, rank, size, got = 0, sum = 0, version;
    MPI_Status status;
    MPI_Op op;
    MPI_Initialized(&started);
    if (!started)
        MPI_Init(NULL, NULL);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Sendrecv(&rank, 1, MPI_INT, (rank + 1) % size, 7, &got, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD,
                 &status);
    MPI_Op_create(add, 1, &op);
    MPI_Allreduce(&number, &sum, 1, MPI_INT, op, MPI_COMM_WORLD);
    MPI_Op_free(&op);
    MPI_Get_version(&version, &started);
    if (rank == 0)
        printf("MPI-%d: sum %d, right %d\n", version, sum,
               got == (rank + size - 1) % size && status.MPI_SOURCE == got && status.MPI_TAG == 7 && op == MPI_OP_NULL);
    fflush(stdout);
    return sum;
}

void finish(void)
{
    MPI_Finalize();
}
