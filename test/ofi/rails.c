/* SPDX-License-Identifier: BSD-3-Clause */
/* Two ranks exchange messages until a file is there, and check each byte. Arguments: the file; long or short. Prints "ready" after
 * the first messages, and at the end how many there were and how long the slowest took. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LONG = 4 << 20, SHORT = 2000, WINDOW = 16 };

static int rank;

static void check(const char *bytes, int length, int message)
{
    for (int i = 0; i < length; i++)
        if (bytes[i] != (char)(message + 1 - rank)) {
            printf("FAILED %s:%d: message %d, byte %d of %d is %d, expected %d\n", __FILE__, __LINE__, message, i, length, bytes[i],
                   (char)(message + 1 - rank));
            MPI_Abort(MPI_COMM_WORLD, 1);
        }
}

/* Exchanges a window of messages. */
static void exchange(char *out, char *in, int length, int message)
{
    MPI_Request requests[2 * WINDOW];
    int count = length == LONG ? 1 : WINDOW;
    for (int i = 0; i < count; i++) {
        memset(out + i * length, message + i + rank, (size_t)length);
        memset(in + i * length, 0x55, (size_t)length);
        MPI_Irecv(in + i * length, length, MPI_CHAR, 1 - rank, 0, MPI_COMM_WORLD, &requests[2 * i]);
        MPI_Isend(out + i * length, length, MPI_CHAR, 1 - rank, 0, MPI_COMM_WORLD, &requests[2 * i + 1]);
    }
    MPI_Waitall(2 * count, requests, MPI_STATUSES_IGNORE);
    for (int i = 0; i < count; i++)
        check(in + i * length, length, message + i);
}

int main(int argc, char **argv)
{
    int length = strcmp(argv[2], "short") == 0 ? SHORT : LONG, goes_on = 1, messages = 0;
    double slowest = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    char *out = malloc(LONG), *in = malloc(LONG);
    while (goes_on) {
        double from = MPI_Wtime();
        exchange(out, in, length, messages++);
        double took = MPI_Wtime() - from;
        slowest = took > slowest ? took : slowest;
        if (messages == 10) {
            printf("ready\n");
            fflush(stdout);
        }
        goes_on = access(argv[1], F_OK) != 0;
        MPI_Bcast(&goes_on, 1, MPI_INT, 0, MPI_COMM_WORLD);
    }
    printf("done %d %.0f ms\n", messages, slowest * 1e3);
    MPI_Finalize();
    return 0;
}
