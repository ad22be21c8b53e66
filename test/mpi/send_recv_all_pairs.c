/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 2 3 4 5 8; long: 16 */
/* Every ordered pair of ranks can talk: one message each way, status says who and what. */
#include "check.h"

int main(int argc, char **argv)
{
    start(&argc, &argv);
    for (int from = 0; from < size; from++) {
        for (int to = 0; to < size; to++) {
            unsigned char buffer[1000];
            size_t bytes = (size_t) (from * 31 + to * 17) % 1000;
            if (from == to)
                continue;
            if (rank == from) {
                fill(buffer, bytes, from * 100 + to);
                CHECK_OK(MPI_Send(buffer, (int) bytes, MPI_BYTE, to, from + to, MPI_COMM_WORLD));
            }
            if (rank == to) {
                MPI_Status status;
                int count;
                memset(buffer, 0, sizeof buffer);
                CHECK_OK(MPI_Recv(buffer, sizeof buffer, MPI_BYTE, from, from + to, MPI_COMM_WORLD,
                                  &status));
                CHECK_OK(MPI_Get_count(&status, MPI_BYTE, &count));
                CHECK_INT(count, bytes);
                CHECK_INT(status.MPI_SOURCE, from);
                CHECK_INT(status.MPI_TAG, from + to);
                CHECK_FILLED(buffer, bytes, from * 100 + to);
                for (size_t i = bytes; i < sizeof buffer; i++)
                    CHECK_INT(buffer[i], 0);
            }
        }
    }
    return end();
}
