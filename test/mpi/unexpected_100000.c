/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 2; args: 100000; long-args: 1000000 */
/* Many unexpected messages are kept, in order, and cost no more the more there are. */
#include "check.h"

int main(int argc, char **argv)
{
    start(&argc, &argv);
    int messages = argument(argc, argv, 100000);
    if (rank == 0) {
        for (int i = 0; i < messages; i++)
            CHECK_OK(MPI_Send(&i, 1, MPI_INT, 1, 1, MPI_COMM_WORLD));
        CHECK_OK(MPI_Send(NULL, 0, MPI_INT, 1, 2, MPI_COMM_WORLD));
    } else {
        int got = -1;
        CHECK_OK(MPI_Recv(NULL, 0, MPI_INT, 0, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        for (int i = 0; i < messages; i++) {
            CHECK_OK(MPI_Recv(&got, 1, MPI_INT, i % 2 ? 0 : MPI_ANY_SOURCE, 1, MPI_COMM_WORLD,
                              MPI_STATUS_IGNORE));
            CHECK_INT(got, i);
        }
    }
    return end();
}
