/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 2 3 4 5 8; needs: MPI_Bcast_init */
/* Persistent collectives are prepared in the same order on all ranks, but each rank may start them in its own (MPI-4.1
 * section 6.13); other collectives may come in between, and fast ranks may be a start ahead. */
#include "check.h"

enum { OPERATIONS = 8, LENGTH = 3, ROUNDS = 40 };

int main(int argc, char **argv)
{
    start(&argc, &argv);
    static int in[OPERATIONS][LENGTH], out[OPERATIONS][8 * LENGTH];
    uint64_t random = 77 + rank; /* not the same on all ranks */
    MPI_Request requests[OPERATIONS];
    for (int i = 0; i < OPERATIONS; i++)
        switch (i % 4) {
        case 0:
            CHECK_OK(MPI_Bcast_init(out[i], LENGTH, MPI_INT, i % size, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[i]));
            break;
        case 1:
            CHECK_OK(MPI_Allreduce_init(in[i], out[i], LENGTH, MPI_INT, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL,
                                        &requests[i]));
            break;
        case 2:
            CHECK_OK(MPI_Alltoall_init(in[i], 0, MPI_INT, out[i], 0, MPI_INT, MPI_COMM_WORLD, MPI_INFO_NULL,
                                       &requests[i]));
            break;
        default:
            CHECK_OK(MPI_Allgather_init(in[i], LENGTH, MPI_INT, out[i], LENGTH, MPI_INT, MPI_COMM_WORLD,
                                        MPI_INFO_NULL, &requests[i]));
        }
    for (int round = 0; round < ROUNDS; round++) {
        int order[OPERATIONS], sum = 0;
        for (int i = 0; i < OPERATIONS; i++) {
            int j = random_below(&random, i + 1);
            order[i] = order[j];
            order[j] = i;
            for (int k = 0; k < LENGTH; k++) {
                in[i][k] = 1000 * round + 10 * i + rank;
                out[i][k] = i % 4 == 0 && rank == i % size ? 1000 * round + i : -1;
            }
        }
        for (int i = 0; i < OPERATIONS; i++) {
            CHECK_OK(MPI_Start(&requests[order[i]]));
            if (i == OPERATIONS / 2)
                CHECK_OK(MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
        }
        CHECK_INT(sum, size * (size - 1) / 2);
        for (int i = 0; i < OPERATIONS; i++)
            CHECK_OK(MPI_Wait(&requests[order[i]], MPI_STATUS_IGNORE));
        for (int i = 0; i < OPERATIONS; i++)
            for (int k = 0; k < LENGTH; k++) {
                if (i % 4 == 0)
                    CHECK_INT(out[i][k], 1000 * round + i);
                if (i % 4 == 1)
                    CHECK_INT(out[i][k], size * (1000 * round + 10 * i) + sum);
                if (i % 4 == 3)
                    CHECK_INT(out[i][LENGTH * (size - 1) + k], 1000 * round + 10 * i + size - 1);
            }
    }
    for (int i = 0; i < OPERATIONS; i++)
        CHECK_OK(MPI_Request_free(&requests[i]));
    return end();
}
