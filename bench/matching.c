/* SPDX-License-Identifier: BSD-3-Clause */
/* The cost of one message if N receives are posted before its own, with wildcards or without, or if
 * N unexpected messages wait before it: a ping-pong with the last tag; rank 1 has the queue. The
 * aim is constant time. */
#include "bench.h"

enum { PING = 30000 };

static double ping_pong(int repetitions, void *state)
{
    int x = 0, *tag = state;
    if (rank > 1)
        return 0;
    double begin = MPI_Wtime();
    for (int i = 0; i < repetitions; i++) {
        if (rank == 0) {
            MPI_Send(&x, 1, MPI_INT, 1, *tag, MPI_COMM_WORLD);
            MPI_Recv(&x, 1, MPI_INT, 1, *tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        } else {
            MPI_Recv(&x, 1, MPI_INT, 0, *tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            MPI_Send(&x, 1, MPI_INT, 0, *tag, MPI_COMM_WORLD);
        }
    }
    return MPI_Wtime() - begin;
}

/* With wildcards, of four receives one takes any tag from its own rank and two take any source.
 * None of them matches the message of the ping-pong. */
static void with_posted(const struct bench *b, int n, int wild)
{
    int x = 0, tag = PING;
    MPI_Request *requests = malloc(((size_t) n + 1) * sizeof *requests);
    int *values = malloc(((size_t) n + 1) * sizeof *values);
    if (requests == NULL || values == NULL)
        MPI_Abort(MPI_COMM_WORLD, 3);
    for (int i = 0; rank == 1 && i < n; i++)
        MPI_Irecv(&values[i], 1, MPI_INT, !wild ? 0 : i % 4 == 0 ? 1 : i % 4 < 3 ? MPI_ANY_SOURCE : 0,
                  wild && i % 4 == 0 ? MPI_ANY_TAG : i % 20000, MPI_COMM_WORLD, &requests[i]);
    bench_print(wild ? "match-wild" : "match-posted", n, bench_median(b, ping_pong, &tag) / 2 * 1e6, "us");
    for (int i = 0; rank < 2 && i < n; i++)
        if (rank == (wild && i % 4 == 0))
            MPI_Send(&x, 1, MPI_INT, 1, i % 20000, MPI_COMM_WORLD);
    if (rank == 1)
        MPI_Waitall(n, requests, MPI_STATUSES_IGNORE);
    free(requests);
    free(values);
}

static void with_unexpected(const struct bench *b, int n)
{
    int x = 0, tag = PING;
    MPI_Request *requests = malloc(((size_t) n + 1) * sizeof *requests);
    if (requests == NULL)
        MPI_Abort(MPI_COMM_WORLD, 3);
    for (int i = 0; rank == 0 && i < n; i++)
        MPI_Isend(&x, 1, MPI_INT, 1, i % 20000, MPI_COMM_WORLD, &requests[i]);
    bench_print("match-unexpected", n, bench_median(b, ping_pong, &tag) / 2 * 1e6, "us");
    for (int i = 0; rank == 1 && i < n; i++)
        MPI_Recv(&x, 1, MPI_INT, 0, i % 20000, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (rank == 0)
        MPI_Waitall(n, requests, MPI_STATUSES_IGNORE);
    free(requests);
}

int main(int argc, char **argv)
{
    struct bench b = bench_start(&argc, &argv, 4);
    bench_need_ranks(2);
    for (int n = 0; n <= 100000; n = n ? n * 10 : 10) {
        with_posted(&b, n, 0);
        with_posted(&b, n, 1);
        with_unexpected(&b, n);
    }
    MPI_Finalize();
    return 0;
}
