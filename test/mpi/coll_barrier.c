/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 2 3 4 5 8; long: 16 64 */
/* No rank leaves a barrier before the last has entered it. */
#include "check.h"

int main(int argc, char **argv)
{
    start(&argc, &argv);
    for (int round = 0; round < 50; round++) {
        int late = round % size, value = -1, flag = 0;
        MPI_Request request;
        /* The late rank's message is sent before it enters, so nobody leaves without that having
         * happened; a barrier that lets go early is seen because the message is then not there. */
        if (rank == late) {
            if (round % 10 == 0)
                usleep(2000);
            for (int i = 0; i < size; i++)
                if (i != rank)
                    CHECK_OK(MPI_Send(&round, 1, MPI_INT, i, 1, MPI_COMM_WORLD));
        } else {
            CHECK_OK(MPI_Irecv(&value, 1, MPI_INT, late, 1, MPI_COMM_WORLD, &request));
        }
        CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
        if (rank != late) {
            /* Sent before, perhaps still on its way: it must come without the sender's help. */
            while (!flag)
                CHECK_OK(MPI_Test(&request, &flag, MPI_STATUS_IGNORE));
            CHECK_INT(value, round);
        }
    }
    /* Counted entry: each rank says by a one-byte pipe of messages that it entered. */
    int entered = 0;
    for (int round = 0; round < 20; round++) {
        if (rank != 0) {
            CHECK_OK(MPI_Send(&round, 1, MPI_INT, 0, 2, MPI_COMM_WORLD));
            CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
        } else {
            /* All others may enter but not leave: they cannot send the next round's message. */
            int flag = 0, got;
            for (int i = 1; i < size; i++) {
                CHECK_OK(MPI_Recv(&got, 1, MPI_INT, i, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
                CHECK_INT(got, round);
                entered++;
            }
            for (int i = 0; i < 200; i++) {
                CHECK_OK(MPI_Iprobe(MPI_ANY_SOURCE, 2, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE));
                CHECK_INT(flag, 0);
            }
            CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
        }
    }
    CHECK_INT(entered, rank == 0 ? 20 * (size - 1) : 0);
    return end();
}
