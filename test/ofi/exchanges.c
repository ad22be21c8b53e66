/* SPDX-License-Identifier: BSD-3-Clause */
/* Two ranks exchange messages without end. Argument: long, short; silent: rank 0 waits for a message of rank 1 that never
 * comes; idle: each waits for two seconds, and prints which part of a processor it used meanwhile, in thousandths. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

enum { LONG = 4 << 20, SHORT = 8, IDLE_S = 2 };

static double processor_s(void)
{
    struct rusage used;
    getrusage(RUSAGE_SELF, &used);
    return used.ru_utime.tv_sec + used.ru_stime.tv_sec + (used.ru_utime.tv_usec + used.ru_stime.tv_usec) / 1e6;
}

/* One rank waits in MPI for the other, which sleeps outside MPI; then the other way round. */
static void idle(int rank)
{
    for (int sleeper = 0; sleeper < 2; sleeper++) {
        char byte = 0;
        double used = processor_s(), begin = MPI_Wtime();
        if (rank == sleeper) {
            sleep(IDLE_S);
            MPI_Send(&byte, 1, MPI_CHAR, 1 - rank, 0, MPI_COMM_WORLD);
        } else {
            MPI_Recv(&byte, 1, MPI_CHAR, 1 - rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            printf("idle %.1f\n", (processor_s() - used) / (MPI_Wtime() - begin) * 1000);
        }
    }
}

int main(int argc, char **argv)
{
    int rank;
    const char *mode = argc > 1 ? argv[1] : "long";
    int length = strcmp(mode, "long") == 0 ? LONG : SHORT;
    char *out = calloc(1, LONG), *in = calloc(1, LONG);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Sendrecv(out, LONG, MPI_CHAR, 1 - rank, 0, in, LONG, MPI_CHAR, 1 - rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (strcmp(mode, "idle") == 0) {
        idle(rank);
        MPI_Finalize();
        return 0;
    }
    printf("ready\n");
    fflush(stdout);
    if (strcmp(mode, "silent") == 0 && rank == 1)
        pause();
    for (;;)
        MPI_Sendrecv(out, length, MPI_CHAR, 1 - rank, 0, in, length, MPI_CHAR, 1 - rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}
