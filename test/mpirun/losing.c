/* SPDX-License-Identifier: BSD-3-Clause */
/* losing WHAT: ranks 0 and 1 lose their connection, by somebody else's hand, once both have said that they are ready. All that is
 * under way between them must end with an error whose text names both ends; rank 2 is not concerned. For tcp_lost.sh and hosts/lost_link.sh. */
#include <mpi.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LARGE = 8 << 20, TAG = 5 };
static int rank, other, errors;
static char *large;

static void handle(MPI_Comm *comm, int *code, ...)
{
    va_list args;
    (void)comm;
    va_start(args, code);
    printf("rank %d: %s\n", rank, va_arg(args, char *));
    va_end(args);
    errors++;
}

static void ready(void)
{
    printf("ready %d %d\n", rank, (int)getpid());
    fflush(stdout);
}

static void must(const char *what, int failed)
{
    if (!failed)
        printf("rank %d: %s did not fail\n", rank, what);
}

/* What waits; and then, what is begun. */
static void everything(void)
{
    MPI_Request requests[4];
    MPI_Status statuses[4];
    int in[3] = {0}, flag;
    ready();
    MPI_Irecv(&in[0], 1, MPI_INT, other, TAG, MPI_COMM_WORLD, &requests[0]);
    MPI_Irecv(&in[1], 1, MPI_INT, MPI_ANY_SOURCE, TAG, MPI_COMM_WORLD, &requests[1]);
    MPI_Isend(large, LARGE, MPI_BYTE, other, TAG + 1, MPI_COMM_WORLD, &requests[2]);
    MPI_Issend(&in[2], 1, MPI_INT, other, TAG + 2, MPI_COMM_WORLD, &requests[3]);
    must("MPI_Waitall", MPI_Waitall(4, requests, statuses));
    for (int i = 0; i < 4; i++)
        must("a request", statuses[i].MPI_ERROR);
    must("MPI_Send", MPI_Send(in, 1, MPI_INT, other, TAG, MPI_COMM_WORLD));
    must("MPI_Recv", MPI_Recv(in, 1, MPI_INT, other, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    must("MPI_Probe", MPI_Probe(other, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    must("MPI_Iprobe", MPI_Iprobe(other, TAG, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE));
    must("MPI_Ssend", MPI_Ssend(large, LARGE, MPI_BYTE, other, TAG, MPI_COMM_WORLD));
}

/* In the middle of transfers. */
static void transfers(void)
{
    ready();
    while (!errors)
        MPI_Sendrecv(large, LARGE, MPI_BYTE, other, TAG, large + LARGE, LARGE, MPI_BYTE, other, TAG, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
}

static void short_ones(void)
{
    ready();
    while (!errors)
        MPI_Sendrecv(large, 8, MPI_BYTE, other, TAG, large + LARGE, 8, MPI_BYTE, other, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

int main(int argc, char **argv)
{
    MPI_Errhandler handler;
    int token = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    other = 1 - rank;
    large = calloc(2, LARGE);
    MPI_Alltoall(large, 1, MPI_BYTE, large + LARGE, 1, MPI_BYTE, MPI_COMM_WORLD); /* all are connected */
    if (strcmp(argv[1], "fatal") != 0) {
        MPI_Comm_create_errhandler(handle, &handler);
        MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
        MPI_Comm_set_errhandler(MPI_COMM_SELF, handler);
    }
    if (rank < 2) {
        if (strcmp(argv[1], "everything") == 0)
            everything();
        else if (strcmp(argv[1], "short") == 0)
            short_ones();
        else
            transfers();
        MPI_Send(&token, 1, MPI_INT, 2, TAG, MPI_COMM_WORLD);
        MPI_Recv(&token, 1, MPI_INT, 2, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else {
        for (int from = 0; from < 2; from++)
            MPI_Recv(&token, 1, MPI_INT, from, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        for (int to = 0; to < 2; to++)
            MPI_Send(&token, 1, MPI_INT, to, TAG, MPI_COMM_WORLD);
    }
    printf("rank %d goes on\n", rank);
    MPI_Finalize();
    return 0;
}
