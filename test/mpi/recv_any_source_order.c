/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 2 3 4 5 8; long: 16 */
/* With MPI_ANY_SOURCE and MPI_ANY_TAG the messages of each single source still come in order. */
#include "check.h"

enum { MESSAGES = 300 };

int main(int argc, char **argv)
{
    start(&argc, &argv);
    if (rank == 0) {
        int *next = allocate((size_t) size * sizeof(int));
        for (int i = 0; i < MESSAGES * (size - 1); i++) {
            int got[2];
            MPI_Status status;
            CHECK_OK(MPI_Recv(got, 2, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD,
                              &status));
            CHECK_INT(got[0], status.MPI_SOURCE);
            CHECK_INT(got[1], next[status.MPI_SOURCE]);
            CHECK_INT(status.MPI_TAG, got[1] % 5);
            next[status.MPI_SOURCE]++;
        }
        for (int i = 1; i < size; i++)
            CHECK_INT(next[i], MESSAGES);
        free(next);
    } else {
        for (int i = 0; i < MESSAGES; i++) {
            int message[2] = { rank, i };
            CHECK_OK(MPI_Send(message, 2, MPI_INT, 0, i % 5, MPI_COMM_WORLD));
        }
    }
    return end();
}
