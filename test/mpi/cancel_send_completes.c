/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 2 3 4 5 8 */
/* A cancelled send completes; unless its status says cancelled, the message can be received. */
#include "check.h"

int main(int argc, char **argv)
{
    static const int sizes[] = { 1, 100000 };
    start_pairs(&argc, &argv);
    int *buffer = allocate(100000 * sizeof(int));
    for (int i = 0; i < 2; i++) {
        int was_cancelled = 0;
        MPI_Request request;
        MPI_Status status;
        if (rank == 0) {
            buffer[0] = 5;
            CHECK_OK(MPI_Isend(buffer, sizes[i], MPI_INT, 1, 1, pair, &request));
            CHECK_OK(MPI_Cancel(&request));
            /* Request_free would do as well; what may not happen is that nothing can finish it. */
            int done = 0;
            CHECK_OK(MPI_Test(&request, &done, &status));
            if (done)
                CHECK_OK(MPI_Test_cancelled(&status, &was_cancelled));
            int word = done ? was_cancelled : 2;
            CHECK_OK(MPI_Send(&word, 1, MPI_INT, 1, 2, pair));
            if (word == 2) {
                CHECK_OK(MPI_Wait(&request, &status));
                CHECK_OK(MPI_Test_cancelled(&status, &was_cancelled));
                CHECK_OK(MPI_Send(&was_cancelled, 1, MPI_INT, 1, 3, pair));
            }
        } else {
            int word, flag = 0;
            CHECK_OK(MPI_Recv(&word, 1, MPI_INT, 0, 2, pair, MPI_STATUS_IGNORE));
            if (word == 0) {
                CHECK_OK(MPI_Recv(buffer, sizes[i], MPI_INT, 0, 1, pair, &status));
                CHECK_INT(buffer[0], 5);
            } else if (word == 2) {
                CHECK_OK(MPI_Irecv(buffer, sizes[i], MPI_INT, 0, 1, pair, &request));
                CHECK_OK(MPI_Recv(&was_cancelled, 1, MPI_INT, 0, 3, pair, &status));
                if (was_cancelled)
                    CHECK_OK(MPI_Cancel(&request));
                CHECK_OK(MPI_Wait(&request, &status));
                CHECK_OK(MPI_Test_cancelled(&status, &flag));
                CHECK_INT(flag, was_cancelled);
            }
        }
        CHECK_OK(MPI_Barrier(pair));
    }
    free(buffer);
    return end();
}
