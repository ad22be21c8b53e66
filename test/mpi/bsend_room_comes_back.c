/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 3 4 */
/* A buffer for one message is free again when that message was received, also if the sender learns of it from a third rank, before
 * the receiver's own answer may have arrived. */
#include "check.h"

enum { LENGTH = 60000, ROUNDS = 100 };

int main(int argc, char **argv)
{
    static unsigned char bytes[LENGTH], room[LENGTH + MPI_BSEND_OVERHEAD];
    void *detached;
    int length;
    start(&argc, &argv);
    CHECK_OK(MPI_Buffer_attach(room, sizeof room));
    for (int round = 0; round < ROUNDS; round++)
        if (rank == 0) {
            fill(bytes, LENGTH, (unsigned)round);
            CHECK_OK(MPI_Bsend(bytes, LENGTH, MPI_BYTE, 1, 0, MPI_COMM_WORLD));
            CHECK_OK(MPI_Recv(NULL, 0, MPI_BYTE, 2, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        } else if (rank == 1) {
            CHECK_OK(MPI_Recv(bytes, LENGTH, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
            CHECK_FILLED(bytes, LENGTH, (unsigned)round);
            CHECK_OK(MPI_Send(NULL, 0, MPI_BYTE, 2, 1, MPI_COMM_WORLD));
        } else if (rank == 2) {
            CHECK_OK(MPI_Recv(NULL, 0, MPI_BYTE, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
            CHECK_OK(MPI_Send(NULL, 0, MPI_BYTE, 0, 1, MPI_COMM_WORLD));
        }
    CHECK_OK(MPI_Buffer_detach(&detached, &length));
    return end();
}
