/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 2 4; long: 8 */
/* Large messages cross each other in both directions, blocking and not, without a deadlock. */
#include "check.h"

int main(int argc, char **argv)
{
    static const int sizes[] = { 60000, 500000, 3000000 };
    start(&argc, &argv);
    int peer = rank ^ 1;
    unsigned char *out = allocate(3000000), *in[4];
    for (int i = 0; i < 4; i++)
        in[i] = allocate(3000000);
    for (int s = 0; s < 3; s++) {
        int n = sizes[s];
        MPI_Request r[8];
        fill(out, (size_t) n, rank);
        /* All sends are open before the first receive is posted, and the other way round. */
        for (int turn = 0; turn < 2; turn++) {
            for (int i = 0; i < 4; i++)
                memset(in[i], 0, (size_t) n);
            for (int i = 0; i < 8; i++) {
                int k = i % 4;
                if ((i < 4) == (turn == rank % 2))
                    CHECK_OK(MPI_Isend(out, n, MPI_BYTE, peer, k, MPI_COMM_WORLD, &r[i]));
                else
                    CHECK_OK(MPI_Irecv(in[k], n, MPI_BYTE, peer, k, MPI_COMM_WORLD, &r[i]));
            }
            CHECK_OK(MPI_Waitall(8, r, MPI_STATUSES_IGNORE));
            for (int i = 0; i < 4; i++)
                CHECK_FILLED(in[i], (size_t) n, peer);
        }
        for (int i = 0; i < 4; i++)
            CHECK_OK(MPI_Isend(out, n, MPI_BYTE, peer, i, MPI_COMM_WORLD, &r[i]));
        for (int i = 3; i >= 0; i--) {
            memset(in[i], 0, (size_t) n);
            CHECK_OK(MPI_Recv(in[i], n, MPI_BYTE, peer, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
            CHECK_FILLED(in[i], (size_t) n, peer);
        }
        CHECK_OK(MPI_Waitall(4, r, MPI_STATUSES_IGNORE));
    }
    for (int i = 0; i < 4; i++)
        free(in[i]);
    free(out);
    return end();
}
