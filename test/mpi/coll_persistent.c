/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 2 3 4 8 */
/* A persistent collective is prepared once and started often, with new data each time, several of
 * them at once. */
#include "check.h"

enum { LENGTH = 1000 };

int main(int argc, char **argv)
{
    start(&argc, &argv);
    static int in[LENGTH], sum[LENGTH], copied[LENGTH], all[8 * LENGTH], counts[8], places[8],
        prefix;
    MPI_Request requests[5];
    MPI_Comm comm;
    CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    for (int r = 0; r < size; r++) {
        counts[r] = r + 1;
        places[r] = r * LENGTH;
    }
    CHECK_OK(
        MPI_Allreduce_init(in, sum, LENGTH, MPI_INT, MPI_SUM, comm, MPI_INFO_NULL, &requests[0]));
    CHECK_OK(MPI_Bcast_init(copied, LENGTH, MPI_INT, size - 1, comm, MPI_INFO_NULL, &requests[1]));
    CHECK_OK(MPI_Allgatherv_init(in, rank + 1, MPI_INT, all, counts, places, MPI_INT, comm,
                                 MPI_INFO_NULL, &requests[2]));
    CHECK_OK(MPI_Barrier_init(comm, MPI_INFO_NULL, &requests[3]));
    CHECK_OK(MPI_Scan_init(in, &prefix, 1, MPI_INT, MPI_SUM, comm, MPI_INFO_NULL, &requests[4]));
    CHECK_OK(MPI_Comm_free(&comm));
    for (int round = 0; round < 30; round++) {
        for (int i = 0; i < LENGTH; i++) {
            in[i] = rank + i * round;
            copied[i] = rank == size - 1 ? i + round : -1;
        }
        CHECK_OK(MPI_Startall(5, requests));
        CHECK_OK(MPI_Waitall(5, requests, MPI_STATUSES_IGNORE));
        for (int i = 0; i < LENGTH; i++) {
            CHECK_INT(sum[i], size * (size - 1) / 2 + size * i * round);
            CHECK_INT(copied[i], i + round);
        }
        for (int r = 0; r < size; r++)
            for (int i = 0; i <= r; i++)
                CHECK_INT(all[r * LENGTH + i], r + i * round);
        CHECK_INT(prefix, rank * (rank + 1) / 2);
    }
    for (int i = 0; i < 5; i++)
        CHECK_OK(MPI_Request_free(&requests[i]));
    return end();
}
