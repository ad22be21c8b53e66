/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages of 8 bytes per second with several threads: 1, 2, 4 ... pairs of threads at once (at
 * most -t), each pair on a communicator of its own. On two ranks, the threads of rank 0 send
 * windows to those of rank 1; on one rank, each thread sends to itself. The value is the sum over
 * pairs. */
#include "bench.h"

#include <pthread.h>

enum { WINDOW = 64, PAIRS_MAX = 64 };

static struct pair {
    pthread_t thread;
    MPI_Comm comm;
    int repetitions;
    double begin, end;
} pairs[PAIRS_MAX];
static pthread_barrier_t start;

static void one_window(const struct pair *pair, int send, int receive, int to, int from)
{
    static char payload[8];
    char in[WINDOW][8];
    MPI_Request requests[2 * WINDOW];
    int count = 0;
    for (int k = 0; k < WINDOW && receive; k++)
        MPI_Irecv(in[k], 8, MPI_BYTE, from, 1, pair->comm, &requests[count++]);
    for (int k = 0; k < WINDOW && send; k++)
        MPI_Isend(payload, 8, MPI_BYTE, to, 1, pair->comm, &requests[count++]);
    MPI_Waitall(count, requests, MPI_STATUSES_IGNORE);
}

static void *run(void *argument)
{
    struct pair *pair = argument;
    pthread_barrier_wait(&start);
    pair->begin = MPI_Wtime();
    for (int i = 0; i < pair->repetitions; i++) {
        if (size == 1) {
            one_window(pair, 1, 1, 0, 0);
            continue;
        }
        one_window(pair, rank == 0, rank == 1, 1, 0);
        if (rank == 0)
            MPI_Recv(NULL, 0, MPI_BYTE, 1, 2, pair->comm, MPI_STATUS_IGNORE);
        else
            MPI_Send(NULL, 0, MPI_BYTE, 0, 2, pair->comm);
    }
    pair->end = MPI_Wtime();
    return NULL;
}

static double flood(int repetitions, void *state)
{
    int count = *(int *)state;
    pthread_barrier_init(&start, NULL, (unsigned)count);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < count; i++) {
        pairs[i].repetitions = repetitions;
        pthread_create(&pairs[i].thread, NULL, run, &pairs[i]);
    }
    double begin = 0, end = 0; /* begin of the first thread, end of the last */
    for (int i = 0; i < count; i++) {
        pthread_join(pairs[i].thread, NULL);
        begin = i == 0 || pairs[i].begin < begin ? pairs[i].begin : begin;
        end = pairs[i].end > end ? pairs[i].end : end;
    }
    pthread_barrier_destroy(&start);
    return end - begin;
}

int main(int argc, char **argv)
{
    struct bench b = bench_start_threads(&argc, &argv, 8, MPI_THREAD_MULTIPLE);
    int most = 4;
    for (int i = 1; i + 1 < argc; i += 2)
        if (strcmp(argv[i], "-t") == 0)
            most = atoi(argv[i + 1]) < PAIRS_MAX ? atoi(argv[i + 1]) : PAIRS_MAX;
    if (size > 2) {
        fprintf(stderr, "this benchmark runs on 1 or 2 ranks\n");
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    for (int i = 0; i < most; i++)
        MPI_Comm_dup(MPI_COMM_WORLD, &pairs[i].comm);
    for (int count = 1; count <= most; count *= 2) {
        double seconds = bench_median(&b, flood, &count);
        bench_print("thread_rate", count, (double)count * WINDOW / seconds / 1e6, "M/s");
    }
    for (int i = 0; i < most; i++)
        MPI_Comm_free(&pairs[i].comm);
    MPI_Finalize();
    return 0;
}
