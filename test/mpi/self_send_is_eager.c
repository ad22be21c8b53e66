/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 2 */
/* Small blocking sends to oneself return before the receive is posted. The standard does not
 * promise that, Open MPI does it, and programs have come to rely on it. */
#include "check.h"

int main(int argc, char **argv)
{
    start(&argc, &argv);
    for (int i = 0; i < 50; i++)
        CHECK_OK(MPI_Send(&i, 1, MPI_INT, rank, i, MPI_COMM_WORLD));
    for (int i = 49; i >= 0; i--) {
        int got = -1;
        CHECK_OK(MPI_Recv(&got, 1, MPI_INT, rank, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        CHECK_INT(got, i);
    }
    return end();
}
