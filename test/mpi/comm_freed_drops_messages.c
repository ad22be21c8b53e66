/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 2; env: OMPI_MCA_pml_eager_credit=64k OMPI_MCA_pml_unexpected_memory=0 OMPI_MCA_pml_send_buffer=1m */
/* Messages that nobody receives before the communicator is freed cost the sender nothing for ever: more bytes than all
 * credit and all memory for copies go that way, and short sends still do not wait for their receive. */
#include "check.h"

enum { BYTES = 4000, MESSAGES = 16, ROUNDS = 100 };

int main(int argc, char **argv)
{
    unsigned char buffer[BYTES];
    int word = 0;

    start(&argc, &argv);
    fill(buffer, BYTES, 1);
    for (int round = 0; round < ROUNDS; round++) {
        MPI_Comm comm;
        CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
        if (rank == 0) {
            for (int i = 0; i < MESSAGES; i++)
                CHECK_OK(MPI_Send(buffer, BYTES, MPI_BYTE, 1, i, comm));
            CHECK_OK(MPI_Send(&word, 1, MPI_INT, 1, 0, MPI_COMM_WORLD));
        } else {
            CHECK_OK(MPI_Recv(&word, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        }
        CHECK_OK(MPI_Comm_free(&comm));
        CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
    }
    if (rank == 0) {
        CHECK_OK(MPI_Send(buffer, BYTES, MPI_BYTE, 1, 1, MPI_COMM_WORLD));
        CHECK_OK(MPI_Send(&word, 1, MPI_INT, 1, 0, MPI_COMM_WORLD));
    } else {
        CHECK_OK(MPI_Recv(&word, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        CHECK_OK(MPI_Recv(buffer, BYTES, MPI_BYTE, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        CHECK_FILLED(buffer, BYTES, 1);
    }
    return end();
}
