/* SPDX-License-Identifier: BSD-3-Clause */
/* Rank 0 and the last one send each other 32 MB in large messages, after a small one that makes the connection. */
#include <mpi.h>
#include <stdlib.h>

enum { LENGTH = 8 << 20, TIMES = 4 };

int main(int argc, char **argv)
{
    int rank, size, word = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    char *bytes = calloc(LENGTH, 1), *theirs = malloc(LENGTH);
    int peer = size - 1 - rank;
    for (int i = 0; i < TIMES && (rank == 0 || peer == 0); i++) {
        if (i == 0)
            MPI_Sendrecv(&word, 1, MPI_INT, peer, 0, &word, 1, MPI_INT, peer, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Sendrecv(bytes, LENGTH, MPI_BYTE, peer, 1, theirs, LENGTH, MPI_BYTE, peer, 1, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
    }
    MPI_Finalize();
    return 0;
}
