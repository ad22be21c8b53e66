/* SPDX-License-Identifier: BSD-3-Clause */
/* A rank that is connected with every other, has a process of its own that has left its session (sleep $1), and waits in MPI
 * until the file $2 is there, and then ends that process; forever without one. */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    int rank, size, word = 1, words[64], theirs[64];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    pid_t child = fork();
    if (child == 0) {
        setsid();
        execlp("sleep", "sleep", argv[1], NULL);
        _exit(1);
    }
    for (int i = 0; i < size; i++)
        words[i] = rank;
    MPI_Alltoall(words, 1, MPI_INT, theirs, 1, MPI_INT, MPI_COMM_WORLD);
    printf("ready\n");
    fflush(stdout);
    while (rank == 0 && (argc < 3 || access(argv[2], F_OK) != 0))
        usleep(20000);
    MPI_Bcast(&word, 1, MPI_INT, 0, MPI_COMM_WORLD);
    printf("went on\n");
    kill(child, SIGKILL);
    MPI_Finalize();
    return 0;
}
