/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 2 3 4 5 8 */
/* Ready sends reach receives that are known to be posted: blocking, nonblocking, every size. */
#include "check.h"

int main(int argc, char **argv)
{
    static const int sizes[] = { 0, 8, 5000, 70000, 1000000 };
    start_pairs(&argc, &argv);
    char *a = allocate(1000000), *b = allocate(1000000);
    for (int i = 0; i < 5; i++) {
        MPI_Request requests[2];
        if (rank == 0) {
            fill(a, sizes[i], i);
            fill(b, sizes[i], i + 50);
            CHECK_OK(MPI_Recv(NULL, 0, MPI_INT, 1, 9, pair, MPI_STATUS_IGNORE));
            CHECK_OK(MPI_Irsend(a, sizes[i], MPI_BYTE, 1, 1, pair, &requests[0]));
            CHECK_OK(MPI_Rsend(b, sizes[i], MPI_BYTE, 1, 2, pair));
            CHECK_OK(MPI_Wait(&requests[0], MPI_STATUS_IGNORE));
        } else {
            MPI_Status statuses[2];
            CHECK_OK(MPI_Irecv(b, 1000000, MPI_BYTE, 0, 2, pair, &requests[0]));
            CHECK_OK(MPI_Irecv(a, 1000000, MPI_BYTE, 0, 1, pair, &requests[1]));
            CHECK_OK(MPI_Send(NULL, 0, MPI_INT, 0, 9, pair));
            CHECK_OK(MPI_Waitall(2, requests, statuses));
            int count;
            CHECK_OK(MPI_Get_count(&statuses[1], MPI_BYTE, &count));
            CHECK_INT(count, sizes[i]);
            CHECK_FILLED(a, (size_t) sizes[i], i);
            CHECK_FILLED(b, (size_t) sizes[i], i + 50);
        }
    }
    free(a);
    free(b);
    return end();
}
