/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 2 3 4 5 8 */
/* A synchronous send is complete only when its receive has started, and then it does complete. */
#include "check.h"

int main(int argc, char **argv)
{
    static const int sizes[] = { 0, 4, 1000, 100000 };
    start_pairs(&argc, &argv);
    char *buffer = allocate(100000);
    for (int i = 0; i < 4; i++) {
        int flag = -1, token = 0;
        if (rank == 0) {
            MPI_Request request;
            fill(buffer, sizes[i], i);
            CHECK_OK(MPI_Issend(buffer, sizes[i], MPI_BYTE, 1, 1, pair, &request));
            /* A round trip: the other rank has progressed since, but posted no receive for it. */
            CHECK_OK(MPI_Send(&token, 1, MPI_INT, 1, 2, pair));
            CHECK_OK(MPI_Recv(&token, 1, MPI_INT, 1, 3, pair, MPI_STATUS_IGNORE));
            for (int k = 0; k < 1000; k++) {
                CHECK_OK(MPI_Test(&request, &flag, MPI_STATUS_IGNORE));
                CHECK_INT(flag, 0);
            }
            CHECK_OK(MPI_Send(&token, 1, MPI_INT, 1, 2, pair));
            CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
            CHECK_OK(MPI_Ssend(buffer, sizes[i], MPI_BYTE, 1, 4, pair));
        } else {
            MPI_Request request;
            CHECK_OK(MPI_Irecv(buffer, 100000, MPI_BYTE, 0, 4, pair, &request));
            CHECK_OK(MPI_Recv(&token, 1, MPI_INT, 0, 2, pair, MPI_STATUS_IGNORE));
            CHECK_OK(MPI_Send(&token, 1, MPI_INT, 0, 3, pair));
            CHECK_OK(MPI_Recv(&token, 1, MPI_INT, 0, 2, pair, MPI_STATUS_IGNORE));
            char *other = allocate(100000);
            CHECK_OK(MPI_Recv(other, 100000, MPI_BYTE, 0, 1, pair, MPI_STATUS_IGNORE));
            CHECK_FILLED(other, (size_t) sizes[i], i);
            CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
            CHECK_FILLED(buffer, (size_t) sizes[i], i);
            free(other);
        }
    }
    free(buffer);
    return end();
}
