/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * A token goes once around: rank 0 sends it to rank 1, that to rank 2, ..., and the last one back to rank 0. Each rank
 * adds its number, so what returns is 0 + 1 + ... + (size - 1).
 *
 * Rank 0 posts its receive before it sends: with one rank alone the message goes to itself, and a blocking send may
 * wait until a receive is there.
 */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    int rank, size, token = 0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int next = (rank + 1) % size;
    int previous = (rank + size - 1) % size;

    if (rank == 0) {
        int sum;
        MPI_Request request;
        MPI_Irecv(&sum, 1, MPI_INT, previous, 0, MPI_COMM_WORLD, &request);
        MPI_Send(&token, 1, MPI_INT, next, 0, MPI_COMM_WORLD);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        printf("The token passed %d ranks and returned with %d\n", size, sum);
        token = sum;
    } else {
        MPI_Recv(&token, 1, MPI_INT, previous, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        token += rank;
        MPI_Send(&token, 1, MPI_INT, next, 0, MPI_COMM_WORLD);
    }

    int wrong = rank == 0 && token != size * (size - 1) / 2;
    MPI_Finalize();
    return wrong;
}
