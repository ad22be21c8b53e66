/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory for messages that no receive has asked for yet. "unexpected": bytes by which the receiver
 * grows for each of 100,000 waiting messages of 8 bytes. "flood-receiver": MiB by which the
 * receiver grows while it gets 64 MiB in messages of 1 KiB (the size) and waits for a message of a
 * third rank. */
#include "bench.h"

#include <unistd.h>

enum { WAITING = 100000, FLOOD = 64 << 10, KIB = 1024 };

/* Returns the bytes of memory that only this process has, plus its share of shared memory. */
static double own_bytes(void)
{
    char line[256];
    double kib = 0;
    FILE *f = fopen("/proc/self/smaps_rollup", "r");
    while (f != NULL && fgets(line, sizeof line, f) != NULL)
        if (sscanf(line, "Pss: %lf kB", &kib) == 1)
            break;
    if (f != NULL)
        fclose(f);
    return kib * KIB;
}

static double growth_of_waiting(void)
{
    int64_t x = 0;
    double most;
    MPI_Request *requests = bench_buffer(WAITING * sizeof *requests);
    MPI_Barrier(MPI_COMM_WORLD);
    double mine = -own_bytes();
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; rank == 0 && i < WAITING; i++)
        MPI_Isend(&x, 8, MPI_BYTE, 1, 1, MPI_COMM_WORLD, &requests[i]);
    /* arrives after all others */
    if (rank == 0)
        MPI_Send(&x, 8, MPI_BYTE, 1, 2, MPI_COMM_WORLD);
    else if (rank == 1)
        MPI_Recv(&x, 8, MPI_BYTE, 0, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Barrier(MPI_COMM_WORLD);
    mine += own_bytes();
    for (int i = 0; rank == 1 && i < WAITING; i++)
        MPI_Recv(&x, 8, MPI_BYTE, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (rank == 0)
        MPI_Waitall(WAITING, requests, MPI_STATUSES_IGNORE);
    if (rank != 1)
        mine = 0;
    MPI_Reduce(&mine, &most, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    free(requests);
    return most;
}

static double growth_of_flooded(void)
{
    char message[KIB] = { 0 };
    double mine = 0, most = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
        for (int i = 0; i < FLOOD; i++)
            MPI_Send(message, KIB, MPI_BYTE, 1, 1, MPI_COMM_WORLD);
    } else if (rank == 2) {
        sleep(1); /* long enough for the flood to end or to come to a halt */
        MPI_Send(message, 0, MPI_BYTE, 1, 2, MPI_COMM_WORLD);
    } else if (rank == 1) {
        mine = -own_bytes();
        MPI_Recv(message, 0, MPI_BYTE, 2, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        mine += own_bytes();
        for (int i = 0; i < FLOOD; i++)
            MPI_Recv(message, KIB, MPI_BYTE, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    MPI_Reduce(&mine, &most, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    return most;
}

int main(int argc, char **argv)
{
    bench_start(&argc, &argv, KIB);
    bench_need_ranks(3);
    bench_print("unexpected", 8, growth_of_waiting() / WAITING - 8, "bytes");
    bench_print("flood-receiver", KIB, growth_of_flooded() / KIB / KIB, "MiB");
    MPI_Finalize();
    return 0;
}
