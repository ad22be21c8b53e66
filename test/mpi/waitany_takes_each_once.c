/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 2 3 4 5 8 */
/* MPI_Waitany and MPI_Testany give every completed request exactly once, with its own status. */
#include "check.h"

enum { N = 40 };

int main(int argc, char **argv)
{
    start_pairs(&argc, &argv);
    for (int use_test = 0; use_test < 2; use_test++) {
        MPI_Request requests[N];
        int got[N], done[N] = { 0 };
        if (rank == 0) {
            for (int i = 0; i < N; i++)
                CHECK_OK(MPI_Irecv(&got[i], 1, MPI_INT, 1, i, pair, &requests[i]));
            for (int k = 0; k < N; k++) {
                MPI_Status status;
                int index = -1, flag = !use_test;
                if (!use_test)
                    CHECK_OK(MPI_Waitany(N, requests, &index, &status));
                while (!flag)
                    CHECK_OK(MPI_Testany(N, requests, &index, &flag, &status));
                CHECK(index >= 0 && index < N);
                CHECK_INT(done[index]++, 0);
                CHECK(requests[index] == MPI_REQUEST_NULL);
                CHECK_INT(status.MPI_TAG, index);
                CHECK_INT(got[index], index * index);
                /* The sender waits for this word: later messages cannot be there already. */
                CHECK_OK(MPI_Send(&index, 1, MPI_INT, 1, 100, pair));
            }
        } else if (rank == 1) {
            for (int k = 0; k < N; k++) {
                int i = k * 17 % N, value = i * i, index = -1;
                CHECK_OK(MPI_Send(&value, 1, MPI_INT, 0, i, pair));
                CHECK_OK(MPI_Recv(&index, 1, MPI_INT, 0, 100, pair, MPI_STATUS_IGNORE));
                CHECK_INT(index, i);
            }
        }
        CHECK_OK(MPI_Barrier(pair));
    }
    return end();
}
