/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Even ranks send to the next rank, which is away: it computes, outside MPI, until the file
 * `come_back` appears. More waits for it than its system takes, so its window is shut. For
 * tcp_away.sh and hosts/away.sh.
 *
 *     away all    pair by pair other messages; all of them must arrive, and an answer come back
 *     away cut    messages from rank 0, none from rank 2, and then somebody cuts the link: both
 * must be told. Rank 0 ends the job. away leave  rank 0 leaves MPI and ends; what it has sent must
 * arrive all the same
 */
#include <mpi.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { TAG = 5, CUT_CODE = 3 };

static const struct {
    int count, bytes;
} cases[] = {{300, 1000}, {1000, 1000}, {5000, 1000}, {4, 65536},
             {16, 65536}, {64, 65536},  {200, 65536}, {20, 1 << 20}};
enum { CASES = sizeof cases / sizeof cases[0] };

static int rank, errors;

static void handle(MPI_Comm *comm, int *code, ...)
{
    va_list args;
    (void)comm;
    va_start(args, code);
    printf("rank %d: %s\n", rank, va_arg(args, char *));
    va_end(args);
    errors++;
}

static void be_away(void)
{
    printf("away %d %d\n", rank, (int)getpid());
    fflush(stdout);
    while (access("come_back", F_OK))
        usleep(10000);
}

static unsigned char content(int message, int at)
{
    return (unsigned char)(message * 31 + at * 7 + at / 256);
}

/* All messages in one buffer, one behind the other. */
static unsigned char *messages(int count, int bytes, int fill)
{
    unsigned char *all = malloc((size_t)count * bytes);
    for (int i = 0; all && fill && i < count; i++)
        for (int k = 0; k < bytes; k++)
            all[(size_t)i * bytes + k] = content(i, k);
    return all;
}

static void send_all(int count, int bytes, int to)
{
    unsigned char *all = messages(count, bytes, 1);
    MPI_Request *requests = calloc(count, sizeof *requests);
    for (int i = 0; i < count; i++)
        MPI_Isend(all + (size_t)i * bytes, bytes, MPI_BYTE, to, TAG, MPI_COMM_WORLD, &requests[i]);
    printf("sent %d\n", rank);
    fflush(stdout);
    int wrong = -1;
    MPI_Recv(&wrong, 1, MPI_INT, to, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Waitall(count, requests, MPI_STATUSES_IGNORE);
    printf("rank %d: %d messages of %d bytes, %d wrong\n", to, count, bytes, wrong);
    free(requests);
    free(all);
}

static int receive_some(int count, int bytes, int from, MPI_Comm comm)
{
    unsigned char *in = messages(1, bytes, 0);
    int wrong = 0;
    for (int i = 0; i < count; i++) {
        MPI_Recv(in, bytes, MPI_BYTE, from, TAG, comm, MPI_STATUS_IGNORE);
        for (int k = 0; k < bytes; k++)
            wrong += in[k] != content(i, k);
    }
    free(in);
    return wrong;
}

static void receive_all(int count, int bytes, int from)
{
    int wrong = receive_some(count, bytes, from, MPI_COMM_WORLD);
    MPI_Send(&wrong, 1, MPI_INT, from, TAG, MPI_COMM_WORLD);
}

static void wait_for_the_cut(void)
{
    enum { COUNT = 64, BYTES = 65536 };
    unsigned char *all = messages(COUNT, BYTES, 1);
    MPI_Request request;
    int token = 0;
    for (int i = 0; i < COUNT && rank == 0; i++) {
        MPI_Isend(all + (size_t)i * BYTES, BYTES, MPI_BYTE, 1, TAG, MPI_COMM_WORLD, &request);
        MPI_Request_free(&request);
    }
    printf("sent %d\n", rank);
    fflush(stdout);
    MPI_Recv(&token, 1, MPI_INT, rank + 1, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    printf("rank %d: %s\n", rank, errors == 1 ? "told" : "not told");
    fflush(stdout);
    MPI_Sendrecv(&token, 1, MPI_INT, 2 - rank, TAG, &token, 1, MPI_INT, 2 - rank, TAG,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (rank == 0)
        MPI_Abort(MPI_COMM_WORLD, CUT_CODE);
}

/* With a session, for MPI_Finalize waits for the other ranks. */
static void leave(void)
{
    enum { COUNT = 300, BYTES = 1000 };
    MPI_Session session;
    MPI_Group all;
    MPI_Comm comm;
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
    MPI_Group_from_session_pset(session, "mpi://WORLD", &all);
    MPI_Comm_create_from_group(all, "away", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm);
    MPI_Comm_rank(comm, &rank);
    MPI_Barrier(comm);
    if (rank == 0) {
        unsigned char *out = messages(COUNT, BYTES, 1);
        for (int i = 0; i < COUNT; i++)
            MPI_Send(out + (size_t)i * BYTES, BYTES, MPI_BYTE, 1, TAG, comm);
        printf("sent 0\n");
        fflush(stdout);
        free(out);
    } else {
        be_away();
        printf("rank 1: %d messages of %d bytes, %d wrong\n", COUNT, BYTES,
               receive_some(COUNT, BYTES, 0, comm));
    }
    MPI_Group_free(&all);
    MPI_Comm_free(&comm);
    MPI_Session_finalize(&session);
    printf("left %d\n", rank);
}

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "leave") == 0) {
        leave();
        return 0;
    }
    MPI_Errhandler handler;
    int in = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_create_errhandler(handle, &handler);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, handler);
    MPI_Sendrecv(&rank, 1, MPI_INT, rank ^ 1, TAG, &in, 1, MPI_INT, rank ^ 1, TAG, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    if (rank % 2)
        be_away();
    if (argc > 1 && strcmp(argv[1], "cut") == 0)
        wait_for_the_cut();
    else if (rank % 2)
        receive_all(cases[rank / 2 % CASES].count, cases[rank / 2 % CASES].bytes, rank - 1);
    else
        send_all(cases[rank / 2 % CASES].count, cases[rank / 2 % CASES].bytes, rank + 1);
    MPI_Finalize();
    return 0;
}
