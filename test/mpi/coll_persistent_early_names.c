/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 2 3 5; needs: MPIX_Barrier_init */
/* The names that persistent collectives had before MPI-4.0 (Open MPI's extension pcollreq) prepare the same as today's. */
#include "check.h"

#include <mpi-ext.h>
#if !OMPI_HAVE_MPI_EXT_PCOLLREQ
#error "mpi-ext.h does not say that the names are there"
#endif

enum { MOST = 8, REQUESTS = 22 };

static int mine[MOST], all[6][MOST], spread[5][MOST], reduced[6][MOST], near[5][2 * MOST], told;
static int ones[MOST], places[MOST], bytes[MOST], from_zero[MOST];
static MPI_Aint wide_bytes[MOST];
static MPI_Datatype ints[MOST];

static int start_value(int r, int round)
{
    return 100 * round + r;
}

static void prepare(MPI_Comm comm, MPI_Comm ring, MPI_Request *q)
{
    MPI_Info none = MPI_INFO_NULL;
    CHECK_OK(MPIX_Barrier_init(comm, none, &q[0]));
    CHECK_OK(MPIX_Bcast_init(&told, 1, MPI_INT, size - 1, comm, none, &q[1]));
    CHECK_OK(MPIX_Allgather_init(mine, 1, MPI_INT, all[0], 1, MPI_INT, comm, none, &q[2]));
    CHECK_OK(MPIX_Allgatherv_init(mine, 1, MPI_INT, all[1], ones, places, MPI_INT, comm, none, &q[3]));
    CHECK_OK(MPIX_Gather_init(mine, 1, MPI_INT, all[2], 1, MPI_INT, 0, comm, none, &q[4]));
    CHECK_OK(MPIX_Gatherv_init(mine, 1, MPI_INT, all[3], ones, places, MPI_INT, 0, comm, none, &q[5]));
    CHECK_OK(MPIX_Alltoall_init(mine, 1, MPI_INT, spread[0], 1, MPI_INT, comm, none, &q[6]));
    CHECK_OK(MPIX_Alltoallv_init(mine, ones, places, MPI_INT, spread[1], ones, places, MPI_INT, comm, none, &q[7]));
    CHECK_OK(MPIX_Alltoallw_init(mine, ones, bytes, ints, spread[2], ones, bytes, ints, comm, none, &q[8]));
    CHECK_OK(MPIX_Scatter_init(mine, 1, MPI_INT, spread[3], 1, MPI_INT, 0, comm, none, &q[9]));
    CHECK_OK(MPIX_Scatterv_init(mine, ones, places, MPI_INT, spread[4], 1, MPI_INT, 0, comm, none, &q[10]));
    CHECK_OK(MPIX_Allreduce_init(mine, reduced[0], 1, MPI_INT, MPI_SUM, comm, none, &q[11]));
    CHECK_OK(MPIX_Reduce_init(mine, reduced[1], 1, MPI_INT, MPI_SUM, 0, comm, none, &q[12]));
    CHECK_OK(MPIX_Scan_init(mine, reduced[2], 1, MPI_INT, MPI_SUM, comm, none, &q[13]));
    CHECK_OK(MPIX_Exscan_init(mine, reduced[3], 1, MPI_INT, MPI_SUM, comm, none, &q[14]));
    CHECK_OK(MPIX_Reduce_scatter_init(mine, reduced[4], ones, MPI_INT, MPI_SUM, comm, none, &q[15]));
    CHECK_OK(MPIX_Reduce_scatter_block_init(mine, reduced[5], 1, MPI_INT, MPI_SUM, comm, none, &q[16]));
    CHECK_OK(MPIX_Neighbor_allgather_init(mine, 1, MPI_INT, near[0], 1, MPI_INT, ring, none, &q[17]));
    CHECK_OK(MPIX_Neighbor_allgatherv_init(mine, 1, MPI_INT, near[1], ones, places, MPI_INT, ring, none, &q[18]));
    CHECK_OK(MPIX_Neighbor_alltoall_init(from_zero, 1, MPI_INT, near[2], 1, MPI_INT, ring, none, &q[19]));
    CHECK_OK(MPIX_Neighbor_alltoallv_init(from_zero, ones, places, MPI_INT, near[3], ones, places, MPI_INT, ring, none,
                                          &q[20]));
    CHECK_OK(MPIX_Neighbor_alltoallw_init(from_zero, ones, wide_bytes, ints, near[4], ones, wide_bytes, ints, ring,
                                          none, &q[21]));
}

/* All hold start_value + i at place i. */
static void check_round(int round)
{
    int left = (rank + size - 1) % size, right = (rank + 1) % size, sum = 0, before = 0;
    CHECK_INT(told, start_value(size - 1, round));
    for (int r = 0; r < size; r++) {
        sum += start_value(r, round);
        before += r < rank ? start_value(r, round) : 0;
        for (int k = 0; k < 4; k++)
            if (k < 2 || rank == 0)
                CHECK_INT(all[k][r], start_value(r, round));
        for (int k = 0; k < 3; k++)
            CHECK_INT(spread[k][r], start_value(r, round) + rank);
    }
    CHECK_INT(spread[3][0], start_value(0, round) + rank);
    CHECK_INT(spread[4][0], start_value(0, round) + rank);
    CHECK_INT(reduced[0][0], sum);
    if (rank == 0)
        CHECK_INT(reduced[1][0], sum);
    CHECK_INT(reduced[2][0], before + start_value(rank, round));
    if (rank > 0)
        CHECK_INT(reduced[3][0], before);
    CHECK_INT(reduced[4][0], sum + size * rank);
    CHECK_INT(reduced[5][0], sum + size * rank);
    for (int k = 0; k < 5; k++) {
        int step = k < 2 ? 0 : 1000; /* what is for the right neighbour is 1000 more */
        if (k >= 2 && size <= 2)
            break; /* both neighbours are the same process: neighbor_collectives knows about that */
        CHECK_INT(near[k][0], start_value(left, round) + step);
        CHECK_INT(near[k][1], start_value(right, round));
    }
}

int main(int argc, char **argv)
{
    MPI_Comm ring;
    MPI_Request requests[REQUESTS];
    start(&argc, &argv);
    for (int r = 0; r < MOST; r++) {
        ones[r] = 1;
        places[r] = r;
        wide_bytes[r] = bytes[r] = r * sizeof(int);
        ints[r] = MPI_INT;
    }
    CHECK_OK(MPI_Cart_create(MPI_COMM_WORLD, 1, &size, (int[]){1}, 0, &ring));
    prepare(MPI_COMM_WORLD, ring, requests);
    for (int round = 1; round <= 3; round++) {
        told = rank == size - 1 ? start_value(rank, round) : -1;
        for (int r = 0; r < MOST; r++)
            mine[r] = start_value(rank, round) + r;
        from_zero[0] = start_value(rank, round); /* to the left */
        from_zero[1] = start_value(rank, round) + 1000;
        CHECK_OK(MPI_Startall(REQUESTS, requests));
        CHECK_OK(MPI_Waitall(REQUESTS, requests, MPI_STATUSES_IGNORE));
        check_round(round);
    }
    for (int i = 0; i < REQUESTS; i++)
        CHECK_OK(MPI_Request_free(&requests[i]));
    CHECK_OK(MPI_Comm_free(&ring));
    return end();
}
