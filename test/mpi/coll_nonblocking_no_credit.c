/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 2 4; env: OMPI_MCA_pml_eager_credit=1 OMPI_MCA_pml_unexpected_memory=0 */
/* Nonblocking collectives whose sends find no credit, so that starting one makes progress on the others and may end them:
 * those started last still go on. */
#include "check.h"

enum { ROUNDS = 200, MANY = 4 };

int main(int argc, char **argv)
{
    start(&argc, &argv);
    for (int round = 0; round < ROUNDS; round++) {
        MPI_Request requests[2 * MANY];
        int sums[MANY], words[MANY], root = round % size;
        for (int i = 0; i < MANY; i++) {
            words[i] = rank == root ? round + i : -1;
            CHECK_OK(MPI_Ibcast(&words[i], 1, MPI_INT, root, MPI_COMM_WORLD, &requests[2 * i]));
            CHECK_OK(MPI_Iallreduce(&rank, &sums[i], 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD,
                                    &requests[2 * i + 1]));
        }
        for (int i = 2 * MANY - 1; i >= 0; i--)
            CHECK_OK(MPI_Wait(&requests[i], MPI_STATUS_IGNORE));
        for (int i = 0; i < MANY; i++) {
            CHECK_INT(words[i], round + i);
            CHECK_INT(sums[i], size * (size - 1) / 2);
        }
    }
    return end();
}
