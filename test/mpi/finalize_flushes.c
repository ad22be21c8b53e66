/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 2 4 */
/* A rank that leaves early still has its sends delivered, however late the receiver. */
#include "check.h"

int main(int argc, char **argv)
{
    start(&argc, &argv);
    enum { MESSAGES = 500, INTS = 100 };
    int data[INTS];
    if (rank != 0) {
        for (int i = 0; i < MESSAGES; i++) {
            for (int k = 0; k < INTS; k++)
                data[k] = rank * 7 + i + k;
            CHECK_OK(MPI_Send(data, INTS, MPI_INT, 0, 1, MPI_COMM_WORLD));
        }
    } else {
        usleep(100000);
        for (int from = 1; from < size; from++) {
            for (int i = 0; i < MESSAGES; i++) {
                CHECK_OK(MPI_Recv(data, INTS, MPI_INT, from, 1, MPI_COMM_WORLD,
                                  MPI_STATUS_IGNORE));
                for (int k = 0; k < INTS; k++)
                    CHECK_INT(data[k], from * 7 + i + k);
            }
        }
    }
    return end();
}
