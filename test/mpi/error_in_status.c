/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 2 3 4 5 8 */
/* One failed receive among several: MPI_ERR_IN_STATUS, and each status says its own result. */
#include "check.h"

int main(int argc, char **argv)
{
    start_pairs(&argc, &argv);
    return_errors(pair);
    int in[3] = { 0, 0, 0 }, out[8] = { 1, 2, 3, 4, 5, 6, 7, 8 };
    if (rank == 0) {
        MPI_Request requests[3];
        MPI_Status statuses[3];
        for (int i = 0; i < 3; i++)
            CHECK_OK(MPI_Irecv(&in[i], 1, MPI_INT, 1, i, pair, &requests[i]));
        CHECK_OK(MPI_Barrier(pair));
        CHECK_CLASS(MPI_Waitall(3, requests, statuses), MPI_ERR_IN_STATUS);
        for (int i = 0; i < 3; i++) {
            int error = statuses[i].MPI_ERROR;
            if (error == MPI_ERR_PENDING) {
                CHECK(i != 1);
                error = MPI_Wait(&requests[i], MPI_STATUS_IGNORE);
            }
            CHECK_CLASS(error, i == 1 ? MPI_ERR_TRUNCATE : MPI_SUCCESS);
            CHECK(requests[i] == MPI_REQUEST_NULL);
        }
        CHECK_INT(in[0], 1);
        CHECK_INT(in[2], 1);
    } else {
        CHECK_OK(MPI_Barrier(pair));
        CHECK_OK(MPI_Send(out, 1, MPI_INT, 0, 0, pair));
        CHECK_OK(MPI_Send(out, 8, MPI_INT, 0, 1, pair));
        CHECK_OK(MPI_Send(out, 1, MPI_INT, 0, 2, pair));
    }
    CHECK_OK(MPI_Barrier(pair));
    return end();
}
