/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 2 3 5 */
/* What is not significant on a rank is not looked at there: NULL, negative counts and MPI_DATATYPE_NULL are fine. */
#include "check.h"

enum { MOST = 8 };

static int counts[MOST], places[MOST], byte_places[MOST];
static MPI_Datatype ints[MOST];

static void at_the_root_only(int root)
{
    int mine = rank + 1, sum, all[2 * MOST];
    if (rank == root) {
        CHECK_OK(MPI_Reduce(&mine, &sum, 1, MPI_INT, MPI_SUM, root, MPI_COMM_WORLD));
        CHECK_INT(sum, size * (size + 1) / 2);
        CHECK_OK(MPI_Gather(&mine, 1, MPI_INT, all, 1, MPI_INT, root, MPI_COMM_WORLD));
        CHECK_INT(all[size - 1], size);
        CHECK_OK(MPI_Gatherv(&mine, 1, MPI_INT, all, counts, places, MPI_INT, root, MPI_COMM_WORLD));
        CHECK_INT(all[size - 1], size);
        CHECK_OK(MPI_Scatter(all, 1, MPI_INT, &mine, 1, MPI_INT, root, MPI_COMM_WORLD));
        CHECK_INT(mine, rank + 1);
        CHECK_OK(MPI_Scatterv(all, counts, places, MPI_INT, MPI_IN_PLACE, -1, MPI_DATATYPE_NULL, root, MPI_COMM_WORLD));
    } else {
        CHECK_OK(MPI_Reduce(&mine, NULL, 1, MPI_INT, MPI_SUM, root, MPI_COMM_WORLD));
        CHECK_OK(MPI_Gather(&mine, 1, MPI_INT, NULL, -1, MPI_DATATYPE_NULL, root, MPI_COMM_WORLD));
        CHECK_OK(MPI_Gatherv(&mine, 1, MPI_INT, NULL, NULL, NULL, MPI_DATATYPE_NULL, root, MPI_COMM_WORLD));
        mine = -1;
        CHECK_OK(MPI_Scatter(NULL, -1, MPI_DATATYPE_NULL, &mine, 1, MPI_INT, root, MPI_COMM_WORLD));
        CHECK_INT(mine, rank + 1);
        CHECK_OK(MPI_Scatterv(NULL, NULL, NULL, MPI_DATATYPE_NULL, &mine, 1, MPI_INT, root, MPI_COMM_WORLD));
        CHECK_INT(mine, rank + 1);
    }
}

static void with_in_place(void)
{
    int all[MOST];
    for (int r = 0; r < size; r++)
        all[r] = 10 * rank + r;
    CHECK_OK(MPI_Alltoall(MPI_IN_PLACE, -1, MPI_DATATYPE_NULL, all, 1, MPI_INT, MPI_COMM_WORLD));
    CHECK_INT(all[size - 1], 10 * (size - 1) + rank);
    CHECK_OK(MPI_Alltoallv(MPI_IN_PLACE, NULL, NULL, MPI_DATATYPE_NULL, all, counts, places, MPI_INT, MPI_COMM_WORLD));
    CHECK_INT(all[size - 1], 10 * rank + size - 1);
    CHECK_OK(MPI_Alltoallw(MPI_IN_PLACE, NULL, NULL, NULL, all, counts, byte_places, ints, MPI_COMM_WORLD));
    CHECK_INT(all[size - 1], 10 * (size - 1) + rank);
    all[rank] = rank;
    CHECK_OK(MPI_Allgather(MPI_IN_PLACE, -1, MPI_DATATYPE_NULL, all, 1, MPI_INT, MPI_COMM_WORLD));
    CHECK_INT(all[0] + all[size - 1], size - 1);
    CHECK_OK(MPI_Allgatherv(MPI_IN_PLACE, -1, MPI_DATATYPE_NULL, all, counts, places, MPI_INT, MPI_COMM_WORLD));
    CHECK_INT(all[0] + all[size - 1], size - 1);
}

/* Rank 0 gets nothing from MPI_Exscan: its result is not significant, and stays as it is. */
static void exscan_at_rank_0(void)
{
    int mine = rank + 1, before = -77;
    CHECK_OK(MPI_Exscan(&mine, rank ? &before : NULL, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
    CHECK_INT(before, rank ? rank * (rank + 1) / 2 : -77);
    MPI_Request request;
    before = -77;
    CHECK_OK(MPI_Iexscan(&mine, rank ? &before : NULL, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request));
    CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    CHECK_INT(before, rank ? rank * (rank + 1) / 2 : -77);
    CHECK_OK(MPI_Exscan(MPI_IN_PLACE, &mine, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
    CHECK_INT(mine, rank ? rank * (rank + 1) / 2 : 1);
}

int main(int argc, char **argv)
{
    start(&argc, &argv);
    for (int r = 0; r < MOST; r++) {
        counts[r] = 1;
        places[r] = r;
        byte_places[r] = r * (int)sizeof(int);
        ints[r] = MPI_INT;
    }
    for (int root = 0; root < size; root++)
        at_the_root_only(root);
    with_in_place();
    exscan_at_rank_0();
    return end();
}
