/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 2 3 4 5 8 */
/* MPI_Testall changes no request while one is open, and ends all of them when the last is done. */
#include "check.h"

int main(int argc, char **argv)
{
    start_pairs(&argc, &argv);
    MPI_Request requests[4], before[4];
    MPI_Status statuses[4];
    int got[3] = { 0, 0, 0 }, flag = -1;
    if (rank == 0) {
        for (int i = 0; i < 3; i++)
            CHECK_OK(MPI_Irecv(&got[i], 1, MPI_INT, 1, i, pair, &requests[i]));
        requests[3] = MPI_REQUEST_NULL;
        memcpy(before, requests, sizeof before);
        for (int i = 0; i < 2; i++) {
            CHECK_OK(MPI_Send(NULL, 0, MPI_INT, 1, 9, pair));
            CHECK_OK(MPI_Recv(NULL, 0, MPI_INT, 1, 9, pair, MPI_STATUS_IGNORE));
            for (int k = 0; k < 100; k++) {
                CHECK_OK(MPI_Testall(4, requests, &flag, statuses));
                CHECK_INT(flag, 0);
                CHECK(memcmp(before, requests, sizeof before) == 0);
            }
        }
        CHECK_OK(MPI_Send(NULL, 0, MPI_INT, 1, 9, pair));
        for (flag = 0; !flag;)
            CHECK_OK(MPI_Testall(4, requests, &flag, statuses));
        for (int i = 0; i < 3; i++) {
            CHECK(requests[i] == MPI_REQUEST_NULL);
            CHECK_INT(got[i], 7 + i);
            CHECK_INT(statuses[i].MPI_TAG, i);
            CHECK_INT(statuses[i].MPI_SOURCE, 1);
        }
        CHECK_INT(statuses[3].MPI_SOURCE, MPI_ANY_SOURCE);
    } else {
        for (int i = 2; i >= 0; i--) {
            int value = 7 + i;
            CHECK_OK(MPI_Recv(NULL, 0, MPI_INT, 0, 9, pair, MPI_STATUS_IGNORE));
            CHECK_OK(MPI_Send(&value, 1, MPI_INT, 0, i, pair));
            if (i > 0)
                CHECK_OK(MPI_Send(NULL, 0, MPI_INT, 0, 9, pair));
        }
    }
    return end();
}
