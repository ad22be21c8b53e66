/* SPDX-License-Identifier: BSD-3-Clause */
/* Rank 1 ends by SIGKILL while all ranks exchange long messages with it. */
#include <mpi.h>
#include <signal.h>
#include <stdlib.h>

enum { LONG = 4 << 20, TIMES = 5, ROUNDS = 1000000 };

int main(int argc, char **argv)
{
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    char *out = calloc(1, LONG), *in = calloc(1, LONG);
    for (int i = 0; i < ROUNDS; i++) {
        MPI_Request request;
        MPI_Irecv(in, LONG, MPI_CHAR, (rank + size - 1) % size, 0, MPI_COMM_WORLD, &request);
        if (rank == 1 && i == TIMES)
            raise(SIGKILL);
        MPI_Send(out, LONG, MPI_CHAR, (rank + 1) % size, 0, MPI_COMM_WORLD);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    MPI_Finalize();
    return 0;
}
