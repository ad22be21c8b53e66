/* SPDX-License-Identifier: BSD-3-Clause */
/* For mpi_abort.sh: abort_with CODE world|self|dup|half: the last rank calls MPI_Abort, the others wait
 * for it in MPI or asleep. */
#include <mpi.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    MPI_Comm comm = MPI_COMM_WORLD;
    int rank, size;
    (void)argc;
    MPI_Init(NULL, NULL);
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    if (strcmp(argv[2], "self") == 0)
        comm = MPI_COMM_SELF;
    else if (strcmp(argv[2], "dup") == 0)
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    else if (strcmp(argv[2], "half") == 0)
        MPI_Comm_split(MPI_COMM_WORLD, rank % 2, 0, &comm);
    if (rank == size - 1)
        MPI_Abort(comm, atoi(argv[1]));
    if (rank % 2)
        sleep(600);
    MPI_Barrier(MPI_COMM_WORLD);
    return 0;
}
