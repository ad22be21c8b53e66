/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 2; env: OMPI_MCA_pml_eager_limit=1000 */
/* A message of pml_eager_limit bytes is kept for its receive, so that its send ends before. The
 * send of a longer one ends when the receive has begun. */
#include "check.h"

enum { LIMIT = 1000, EARLY = 1, LATE, GO, TESTS = 1000 };

static char bytes[LIMIT + 1];

static void sender(void)
{
    MPI_Request request;
    int done = 0;
    CHECK_OK(MPI_Send(bytes, LIMIT, MPI_BYTE, 1, EARLY, MPI_COMM_WORLD));
    CHECK_OK(MPI_Isend(bytes, LIMIT + 1, MPI_BYTE, 1, LATE, MPI_COMM_WORLD, &request));
    for (int i = 0; i < TESTS; i++) {
        CHECK_OK(MPI_Test(&request, &done, MPI_STATUS_IGNORE));
        CHECK_INT(done, 0);
    }
    CHECK_OK(MPI_Send(NULL, 0, MPI_BYTE, 1, GO, MPI_COMM_WORLD));
    CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
}

static void receiver(void)
{
    CHECK_OK(MPI_Recv(NULL, 0, MPI_BYTE, 0, GO, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    CHECK_OK(MPI_Recv(bytes, LIMIT + 1, MPI_BYTE, 0, LATE, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    CHECK_OK(MPI_Recv(bytes, LIMIT, MPI_BYTE, 0, EARLY, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
}

int main(int argc, char **argv)
{
    start(&argc, &argv);
    if (rank == 0)
        sender();
    else
        receiver();
    return end();
}
