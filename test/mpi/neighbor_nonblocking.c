/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 2 4 6 */
/* Nonblocking and persistent neighbourhood collectives on a ring, several at once; communicator and
 * types freed meanwhile. */
#include "check.h"

enum { LENGTH = 50 };

int main(int argc, char **argv)
{
    start(&argc, &argv);
    int dims[1] = {size}, periods[1] = {1};
    int below = (rank + size - 1) % size, above = (rank + 1) % size;
    static int out[2 * LENGTH], in[4][2 * LENGTH];
    int counts[2] = {LENGTH, LENGTH}, places[2] = {0, LENGTH};
    MPI_Aint bytes[2] = {0, LENGTH * sizeof(int)};
    MPI_Comm ring;
    MPI_Datatype single, types[2];
    MPI_Request requests[5], started[2];
    CHECK_OK(MPI_Cart_create(MPI_COMM_WORLD, 1, dims, periods, 0, &ring));
    CHECK_OK(MPI_Type_contiguous(1, MPI_INT, &single));
    CHECK_OK(MPI_Type_commit(&single));
    types[0] = types[1] = single;
    CHECK_OK(MPI_Neighbor_alltoall_init(out, LENGTH, single, in[2], LENGTH, single, ring,
                                        MPI_INFO_NULL, &started[0]));
    CHECK_OK(MPI_Neighbor_alltoallw_init(out, counts, bytes, types, in[3], counts, bytes, types,
                                         ring, MPI_INFO_NULL, &started[1]));
    for (int round = 0; round < 10; round++) {
        for (int i = 0; i < 2 * LENGTH; i++)
            out[i] = rank * 1000 + i + round;
        memset(in, -1, sizeof in);
        CHECK_OK(MPI_Startall(2, started));
        if (round == 0) {
            CHECK_OK(MPI_Ineighbor_allgather(out, LENGTH, single, in[0], LENGTH, single, ring,
                                             &requests[0]));
            CHECK_OK(MPI_Ineighbor_alltoallv(out, counts, places, single, in[1], counts, places,
                                             single, ring, &requests[1]));
            CHECK_OK(MPI_Comm_free(&ring));
            CHECK_OK(MPI_Type_free(&single));
            CHECK_OK(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
        }
        CHECK_OK(MPI_Waitall(2, started, MPI_STATUSES_IGNORE));
        for (int i = 0; i < LENGTH; i++) {
            if (round == 0) {
                CHECK_INT(in[0][i], below * 1000 + i);
                CHECK_INT(in[0][LENGTH + i], above * 1000 + i);
            }
            /* What comes from below was its upper block. */
            for (int kind = round == 0 ? 1 : 2; kind < 4; kind++) {
                CHECK_INT(in[kind][i], below * 1000 + LENGTH + i + round);
                CHECK_INT(in[kind][LENGTH + i], above * 1000 + i + round);
            }
        }
    }
    CHECK_OK(MPI_Request_free(&started[0]));
    CHECK_OK(MPI_Request_free(&started[1]));
    return end();
}
