/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 4 8; long: 32; long-args: 3000 */
/* All ranks flood one, with small and large messages; it receives from any source and answers. */
#include "check.h"

enum { MOST = 40000 };

int main(int argc, char **argv)
{
    start(&argc, &argv);
    int each = argument(argc, argv, 60);
    int *data = allocate(MOST * sizeof(int));
    if (rank == 0) {
        int *seen = allocate((size_t) size * sizeof(int));
        for (int i = 0; i < each * (size - 1); i++) {
            MPI_Status status;
            int count;
            CHECK_OK(MPI_Recv(data, MOST, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD,
                              &status));
            int from = status.MPI_SOURCE, k = seen[from]++;
            CHECK_OK(MPI_Get_count(&status, MPI_INT, &count));
            CHECK_INT(status.MPI_TAG, k);
            CHECK_INT(count, k % 10 == 9 ? MOST : 1 + k);
            CHECK_INT(data[0], from + k);
            CHECK_INT(data[count - 1], from + k);
            if (k % 20 == 19)
                CHECK_OK(MPI_Send(&k, 1, MPI_INT, from, 1, MPI_COMM_WORLD));
        }
        free(seen);
    } else {
        for (int k = 0; k < each; k++) {
            int count = k % 10 == 9 ? MOST : 1 + k, answer = -1;
            data[0] = data[count - 1] = rank + k;
            CHECK_OK(MPI_Send(data, count, MPI_INT, 0, k, MPI_COMM_WORLD));
            if (k % 20 == 19) {
                CHECK_OK(MPI_Recv(&answer, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
                CHECK_INT(answer, k);
            }
        }
    }
    free(data);
    return end();
}
