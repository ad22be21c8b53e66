/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 2 3 4 5 8 */
/* MPI_Request_get_status tells of completion and leaves the request to be waited for. */
#include "check.h"

int main(int argc, char **argv)
{
    start_pairs(&argc, &argv);
    if (rank == 0) {
        MPI_Request request, before;
        MPI_Status status;
        int got = 0, flag = -1, count = -1;
        CHECK_OK(MPI_Irecv(&got, 1, MPI_INT, 1, MPI_ANY_TAG, pair, &request));
        before = request;
        CHECK_OK(MPI_Request_get_status(request, &flag, &status));
        CHECK_INT(flag, 0);
        CHECK_OK(MPI_Send(NULL, 0, MPI_INT, 1, 0, pair));
        while (!flag)
            CHECK_OK(MPI_Request_get_status(request, &flag, &status));
        for (int i = 0; i < 2; i++) {
            CHECK(request == before);
            CHECK_INT(got, 9);
            CHECK_INT(status.MPI_TAG, 4);
            CHECK_OK(MPI_Get_count(&status, MPI_INT, &count));
            CHECK_INT(count, 1);
            memset(&status, 0, sizeof status);
            CHECK_OK(MPI_Request_get_status(request, &flag, &status));
            CHECK_INT(flag, 1);
        }
        memset(&status, 0, sizeof status);
        CHECK_OK(MPI_Wait(&request, &status));
        CHECK(request == MPI_REQUEST_NULL);
        CHECK_INT(status.MPI_TAG, 4);
        CHECK_INT(status.MPI_SOURCE, 1);
    } else {
        int value = 9;
        CHECK_OK(MPI_Recv(NULL, 0, MPI_INT, 0, 0, pair, MPI_STATUS_IGNORE));
        CHECK_OK(MPI_Send(&value, 1, MPI_INT, 0, 4, pair));
    }
    return end();
}
