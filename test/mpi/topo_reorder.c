/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 2 3 4 5 8 */
/* Where a program allows it, ranks of a new topology change so that neighbours share a core; the
 * processes stay the same, all see the same order, and the neighbours of a rank are those that were
 * named for it, wherever it went. Without permission, and where nothing is gained, ranks stay.
 *
 * The processes bind themselves to two processors in turn, so that rank r and r + 1 are apart. On a
 * machine with only one the order must stay. */
#define _GNU_SOURCE
#include "check.h"
#include <sched.h>
#include <stdbool.h>

enum { SIZE_MAX_HERE = 64 };

static bool apart; /* two processors could be had */

static void bind_in_turn(void)
{
    cpu_set_t mine, one;
    int cpus[2], count = 0;
    CHECK_INT(sched_getaffinity(0, sizeof mine, &mine), 0);
    for (int cpu = 0; cpu < CPU_SETSIZE && count < 2; cpu++)
        if (CPU_ISSET(cpu, &mine))
            cpus[count++] = cpu;
    int least;
    CHECK_OK(MPI_Allreduce(&count, &least, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD));
    if (least < 2)
        return;
    apart = true;
    CPU_ZERO(&one);
    CPU_SET(cpus[rank % 2], &one);
    CHECK_INT(sched_setaffinity(0, sizeof one, &one), 0);
}

/* world[i]: who is rank i of comm; the same on all, nobody twice. Returns how many are not where
 * they were. */
static int check_order(MPI_Comm comm, int world[])
{
    int seen[SIZE_MAX_HERE] = {0}, first[SIZE_MAX_HERE], members, moved = 0;
    CHECK_OK(MPI_Comm_size(comm, &members));
    CHECK_OK(MPI_Allgather(&rank, 1, MPI_INT, world, 1, MPI_INT, comm));
    memcpy(first, world, sizeof first);
    CHECK_OK(MPI_Bcast(first, members, MPI_INT, 0, comm));
    for (int i = 0; i < members; i++) {
        CHECK_INT(first[i], world[i]);
        CHECK(!seen[world[i]]++);
        moved += world[i] != i;
    }
    return moved;
}

/* Neighbours i, i + 1 of a row that are on different processors. */
static int cut_of_row(const int world[], int count)
{
    int cut = 0;
    for (int i = 0; i + 1 < count; i++)
        cut += world[i] % 2 != world[i + 1] % 2;
    return cut;
}

static void grid(int reorder, int places)
{
    MPI_Comm comm;
    int world[SIZE_MAX_HERE], period = 0, me, coord;
    CHECK_OK(MPI_Cart_create(MPI_COMM_WORLD, 1, &places, &period, reorder, &comm));
    if (comm == MPI_COMM_NULL)
        return;
    CHECK_OK(MPI_Comm_rank(comm, &me));
    CHECK_OK(MPI_Cart_coords(comm, me, 1, &coord));
    CHECK_INT(coord, me);
    int moved = check_order(comm, world);
    if (!reorder || !apart || size < 3)
        CHECK_INT(moved, 0);
    else
        CHECK(cut_of_row(world, places) <= 1);
    int got[2] = {-1, -1}, below, above;
    CHECK_OK(MPI_Cart_shift(comm, 0, 1, &below, &above));
    CHECK_OK(MPI_Neighbor_allgather(&me, 1, MPI_INT, got, 1, MPI_INT, comm));
    CHECK_INT(got[0], me > 0 ? me - 1 : -1);
    CHECK_INT(got[1], me + 1 < places ? me + 1 : -1);
    CHECK_INT(below, me > 0 ? me - 1 : MPI_PROC_NULL);
    CHECK_INT(above, me + 1 < places ? me + 1 : MPI_PROC_NULL);
    CHECK_OK(MPI_Comm_free(&comm));
}

/* The row again, as a graph. */
static void graph(int reorder)
{
    MPI_Comm comm;
    int world[SIZE_MAX_HERE], index[SIZE_MAX_HERE], edges[2 * SIZE_MAX_HERE], count = 0, me;
    for (int v = 0; v < size; v++) {
        if (v > 0)
            edges[count++] = v - 1;
        if (v + 1 < size)
            edges[count++] = v + 1;
        index[v] = count;
    }
    CHECK_OK(MPI_Graph_create(MPI_COMM_WORLD, size, index, edges, reorder, &comm));
    CHECK_OK(MPI_Comm_rank(comm, &me));
    int moved = check_order(comm, world), got[2] = {-1, -1};
    if (!reorder || !apart || size < 3)
        CHECK_INT(moved, 0);
    else
        CHECK(cut_of_row(world, size) <= 1);
    CHECK_OK(MPI_Neighbor_allgather(&me, 1, MPI_INT, got, 1, MPI_INT, comm));
    CHECK_INT(got[0], me > 0 ? me - 1 : size > 1 ? 1 : -1);
    CHECK_OK(MPI_Comm_free(&comm));
}

/* A row with weights that say who named the edge; `adjacent`: each end names it; otherwise the last
 * rank names all. */
static void dist_graph(int reorder, bool adjacent, bool weighted)
{
    MPI_Comm comm;
    int me, world[SIZE_MAX_HERE], in[2], in_weights[2], out[2], out_weights[2], indegree = 0,
                                                                                outdegree = 0, flag;
    if (adjacent) { /* to the next one and, lighter, back: two edges of a pair differ */
        for (int v = rank - 1; v <= rank + 1; v += 2) {
            if (v < 0 || v >= size)
                continue;
            in_weights[indegree] = 1000 + 10 * v + rank;
            in[indegree++] = v;
            out_weights[outdegree] = 1000 + 10 * rank + v;
            out[outdegree++] = v;
        }
        CHECK_OK(MPI_Dist_graph_create_adjacent(
            MPI_COMM_WORLD, indegree, in, weighted ? in_weights : MPI_UNWEIGHTED, outdegree, out,
            weighted ? out_weights : MPI_UNWEIGHTED, MPI_INFO_NULL, reorder, &comm));
    } else {
        int sources[2 * SIZE_MAX_HERE], ones[2 * SIZE_MAX_HERE], to[2 * SIZE_MAX_HERE],
            weights[2 * SIZE_MAX_HERE], count = 0;
        for (int v = 0; v + 1 < size && rank == size - 1; v++)
            for (int back = 0; back < 2; back++) {
                sources[count] = v + back;
                to[count] = v + !back;
                ones[count] = 1;
                weights[count] = 1000 + 10 * sources[count] + to[count];
                count++;
            }
        CHECK_OK(MPI_Dist_graph_create(MPI_COMM_WORLD, count, sources, ones, to,
                                       !weighted ? MPI_UNWEIGHTED
                                       : count   ? weights
                                                 : MPI_WEIGHTS_EMPTY,
                                       MPI_INFO_NULL, reorder, &comm));
    }
    CHECK_OK(MPI_Comm_rank(comm, &me));
    int moved = check_order(comm, world), expected = (me > 0) + (me + 1 < size);
    if (!reorder || !apart || size < 3)
        CHECK_INT(moved, 0);
    else
        CHECK(cut_of_row(world, size) <= 1);
    CHECK_OK(MPI_Dist_graph_neighbors_count(comm, &indegree, &outdegree, &flag));
    CHECK_INT(indegree, expected);
    CHECK_INT(outdegree, expected);
    CHECK_INT(flag, weighted);
    CHECK_OK(MPI_Dist_graph_neighbors(comm, 2, in, in_weights, 2, out, out_weights));
    for (int i = 0; i < expected; i++) {
        CHECK(abs(in[i] - me) == 1 && abs(out[i] - me) == 1);
        if (weighted) {
            CHECK_INT(in_weights[i], 1000 + 10 * in[i] + me);
            CHECK_INT(out_weights[i], 1000 + 10 * me + out[i]);
        }
    }
    int got[2] = {-1, -1};
    CHECK_OK(MPI_Neighbor_allgather(&me, 1, MPI_INT, got, 1, MPI_INT, comm));
    for (int i = 0; i < expected; i++)
        CHECK_INT(got[i], in[i]);
    CHECK_OK(MPI_Comm_free(&comm));
}

int main(int argc, char **argv)
{
    start(&argc, &argv);
    CHECK(size <= SIZE_MAX_HERE);
    bind_in_turn();
    for (int reorder = 0; reorder < 2; reorder++) {
        grid(reorder, size);
        if (size > 1)
            grid(reorder, size - 1);
        graph(reorder);
        for (int way = 0; way < 4; way++)
            dist_graph(reorder, way & 1, way & 2);
    }
    return end();
}
