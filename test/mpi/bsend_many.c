/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 2 3; args: 20000; long-args: 300000; needs: MPI_Comm_attach_buffer */
/* With MPI_BUFFER_AUTOMATIC any number of buffered messages may wait for their receiver, in order.
 */
#include "check.h"

enum { INTS = 64 };

int main(int argc, char **argv)
{
    start(&argc, &argv);
    int n = argument(argc, argv, 20000), to = (rank + 1) % size, from = (rank + size - 1) % size,
        data[INTS], bytes;
    void *back;
    CHECK_OK(MPI_Comm_attach_buffer(MPI_COMM_WORLD, MPI_BUFFER_AUTOMATIC, 0));
    for (int i = 0; i < n; i++) {
        for (int k = 0; k < INTS; k++)
            data[k] = rank + i + k;
        CHECK_OK(MPI_Bsend(data, INTS, MPI_INT, to, i & 1, MPI_COMM_WORLD));
    }
    for (int odd = 1; odd >= 0; odd--)
        for (int i = odd; i < n; i += 2) {
            CHECK_OK(MPI_Recv(data, INTS, MPI_INT, from, odd, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
            for (int k = 0; k < INTS; k++)
                CHECK_INT(data[k], from + i + k);
        }
    CHECK_OK(MPI_Comm_detach_buffer(MPI_COMM_WORLD, &back, &bytes));
    CHECK(back == MPI_BUFFER_AUTOMATIC);
    return end();
}
