/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 2 3 4 5 8 */
/* MPI_Waitsome and MPI_Testsome hand out every request once, statuses in the same order. */
#include "check.h"

enum { EACH = 30 };

int main(int argc, char **argv)
{
    start(&argc, &argv);
    int n = EACH * (size - 1);
    MPI_Request *requests = allocate((size_t) n * sizeof(MPI_Request));
    MPI_Status *statuses = allocate((size_t) n * sizeof(MPI_Status));
    int *got = allocate((size_t) n * sizeof(int));
    int *indices = allocate((size_t) n * sizeof(int));
    for (int round = 0; round < 4; round++) {
        if (rank == 0) {
            int left = n, outcount;
            for (int i = 0; i < n; i++)
                CHECK_OK(MPI_Irecv(&got[i], 1, MPI_INT, 1 + i % (size - 1), i, MPI_COMM_WORLD,
                                   &requests[i]));
            CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
            while (left > 0) {
                MPI_Status *s = round == 2 ? MPI_STATUSES_IGNORE : statuses;
                if (round % 2)
                    CHECK_OK(MPI_Testsome(n, requests, &outcount, indices, s));
                else
                    CHECK_OK(MPI_Waitsome(n, requests, &outcount, indices, s));
                CHECK(outcount >= (round % 2 ? 0 : 1) && outcount <= left);
                for (int k = 0; k < outcount; k++) {
                    int i = indices[k];
                    CHECK(requests[i] == MPI_REQUEST_NULL);
                    CHECK_INT(got[i], i + 1000);
                    got[i] = -1;
                    if (s != MPI_STATUSES_IGNORE) {
                        CHECK_INT(statuses[k].MPI_TAG, i);
                        CHECK_INT(statuses[k].MPI_SOURCE, 1 + i % (size - 1));
                    }
                }
                left -= outcount;
            }
            CHECK_OK(MPI_Waitsome(n, requests, &outcount, indices, statuses));
            CHECK_INT(outcount, MPI_UNDEFINED);
        } else {
            CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
            for (int i = n - 1; i >= 0; i--) {
                int value = i + 1000;
                if (1 + i % (size - 1) == rank)
                    CHECK_OK(MPI_Send(&value, 1, MPI_INT, 0, i, MPI_COMM_WORLD));
            }
        }
        CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
    }
    free(requests);
    free(statuses);
    free(got);
    free(indices);
    return end();
}
