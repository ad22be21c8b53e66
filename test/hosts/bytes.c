/* SPDX-License-Identifier: BSD-3-Clause */
/* Rank 0 and the last one send each other 128 MB in large messages, after small ones in which connections are made. */
#include <mpi.h>
#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>

enum { LENGTH = 8 << 20, TIMES = 16, SMALL = 30 };

int main(int argc, char **argv)
{
    int rank, size, word = 0, theirs_word;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    char *bytes = calloc(LENGTH, 1), *theirs = malloc(LENGTH);
    int peer = size - 1 - rank;
    bool ours = rank == 0 || peer == 0;
    for (int i = 0; i < SMALL && ours; i++) {
        MPI_Sendrecv(&word, 1, MPI_INT, peer, 0, &theirs_word, 1, MPI_INT, peer, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        usleep(10000);
    }
    for (int i = 0; i < TIMES && ours; i++)
        MPI_Sendrecv(bytes, LENGTH, MPI_BYTE, peer, 1, theirs, LENGTH, MPI_BYTE, peer, 1, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
    MPI_Finalize();
    return 0;
}
