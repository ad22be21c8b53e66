/* SPDX-License-Identifier: BSD-3-Clause */
/* Never ends. Does something else in turn, as SEED and the rank say: barriers, short and long messages in a ring, computing,
 * sleeping, waiting for a message that nobody sends. The last argument is a mark by which the test finds its processes. */
#include <mpi.h>
#include <stdlib.h>
#include <unistd.h>

static void exchange(int rank, int size, int bytes)
{
    static char from[1 << 20], to[1 << 20];
    MPI_Sendrecv(from, bytes, MPI_BYTE, (rank + 1) % size, 1, to, bytes, MPI_BYTE, (rank + size - 1) % size, 1,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

int main(int argc, char **argv)
{
    int rank, size, value = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    srandom((unsigned)atoi(argv[1]));
    for (int rounds = (int)(random() % 50);; rounds--) {
        long what = random(); /* alike on all ranks */
        if (rounds == 0 && what % 3 == 0)
            MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, 99, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (rounds == 0 && what % 3 == 1)
            for (;;)
                pause();
        if (what % 5 == 0)
            MPI_Barrier(MPI_COMM_WORLD);
        else if (what % 5 == 1)
            exchange(rank, size, 8);
        else if (what % 5 == 2)
            exchange(rank, size, 1 << 20);
        else if (what % 5 == 3)
            usleep(1000);
        else
            for (volatile long turns = 0; turns < 1000000; turns++)
                ;
    }
}
