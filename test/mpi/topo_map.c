/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 2 3 4 5 8 singleton; env: OMPI_MCA_hwloc_base_binding_policy=core */
/* MPI_Cart_map and MPI_Graph_map are local, give each process a rank of its own or MPI_UNDEFINED,
 * and put the neighbours of a row on the same core: the launcher has bound the ranks to cores in
 * turn. */
#define _GNU_SOURCE
#include "check.h"
#include <sched.h>

/* By rank: the only processor the process may use, or -1. */
static int cpus[64];

static void find_cpus(void)
{
    cpu_set_t mine;
    int cpu = 0;
    CHECK_INT(sched_getaffinity(0, sizeof mine, &mine), 0);
    while (!CPU_ISSET(cpu, &mine))
        cpu++;
    if (CPU_COUNT(&mine) > 1)
        cpu = -1;
    CHECK_OK(MPI_Allgather(&cpu, 1, MPI_INT, cpus, 1, MPI_INT, MPI_COMM_WORLD));
}

/* `places` ranks are given out, each once, and neighbours are on one core, but where there is no
 * more room on it. */
static void check_row(int newrank, int places)
{
    int all[64], where[64], parts = 1, cut = 0;
    CHECK_OK(MPI_Allgather(&newrank, 1, MPI_INT, all, 1, MPI_INT, MPI_COMM_WORLD));
    memset(where, -1, sizeof where);
    for (int i = 0; i < size; i++) {
        if (all[i] == MPI_UNDEFINED)
            continue;
        CHECK(all[i] >= 0 && all[i] < places);
        CHECK_INT(where[all[i]], -1);
        where[all[i]] = i;
    }
    for (int i = 0; i < places; i++)
        CHECK(where[i] >= 0);
    for (int i = 0; i + 1 < places; i++)
        cut += cpus[where[i]] != cpus[where[i + 1]];
    for (int i = 1; i < size; i++) { /* distinct processors */
        int seen = 0;
        for (int j = 0; j < i; j++)
            seen |= cpus[j] == cpus[i];
        parts += !seen;
    }
    if (getenv("PMIX_RANK"))
        CHECK(cut <= parts - 1);
}

int main(int argc, char **argv)
{
    int newrank, index[64], edges[128];
    start(&argc, &argv);
    return_errors(MPI_COMM_WORLD);
    find_cpus();
    for (int places = size; places >= 1 && places >= size - 2; places--) {
        int dims[] = {places, 1}, periods[] = {0, 1}, count = 0;
        CHECK_OK(MPI_Cart_map(MPI_COMM_WORLD, 2, dims, periods, &newrank));
        check_row(newrank, places);
        for (int v = 0; v < places; v++) {
            if (v > 0)
                edges[count++] = v - 1;
            if (v + 1 < places)
                edges[count++] = v + 1;
            index[v] = count;
        }
        CHECK_OK(MPI_Graph_map(MPI_COMM_WORLD, places, index, edges, &newrank));
        check_row(newrank, places);
    }
    if (rank == 0) { /* local: the others do not take part */
        int dims[] = {size};
        int periods[] = {1};
        CHECK_OK(MPI_Cart_map(MPI_COMM_WORLD, 1, dims, periods, &newrank));
        CHECK_OK(MPI_Graph_map(MPI_COMM_WORLD, 0, index, edges, &newrank));
        CHECK_INT(newrank, MPI_UNDEFINED);
        CHECK_OK(MPI_Cart_map(MPI_COMM_WORLD, 0, dims, periods, &newrank));
        CHECK(newrank == 0 || newrank == MPI_UNDEFINED);
        dims[0] = size + 1;
        CHECK(MPI_Cart_map(MPI_COMM_WORLD, 1, dims, periods, &newrank) != MPI_SUCCESS);
        index[0] = 1;
        edges[0] = size;
        CHECK(MPI_Graph_map(MPI_COMM_WORLD, 1, index, edges, &newrank) != MPI_SUCCESS);
    }
    return end();
}
