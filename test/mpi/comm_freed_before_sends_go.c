/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 2; env: OMPI_MCA_pml_eager_credit=4k OMPI_MCA_pml_unexpected_memory=0 */
/* Blocking sends return while the receiver is busy elsewhere; what is still on its way then does not need the communicator,
 * which is freed and its memory used for something else. */
#include "check.h"

enum { BYTES = 1000, MESSAGES = 400 };

/* Overwrites what was freed just now, whatever its size. */
static void use_freed_memory(void)
{
    enum { LARGEST = 4096 };
    void *blocks[LARGEST / 16];
    for (int i = 0; i < LARGEST / 16; i++) {
        blocks[i] = allocate((size_t) (i + 1) * 16);
        memset(blocks[i], 0x5a, (size_t) (i + 1) * 16);
    }
    for (int i = 0; i < LARGEST / 16; i++)
        free(blocks[i]);
}

int main(int argc, char **argv)
{
    unsigned char buffer[BYTES];
    int word = 0;
    MPI_Comm comm;

    start(&argc, &argv);
    CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    if (rank == 0) {
        for (int i = 0; i < MESSAGES; i++) {
            fill(buffer, BYTES, i);
            CHECK_OK(MPI_Send(buffer, BYTES, MPI_BYTE, 1, i, comm));
        }
        CHECK_OK(MPI_Comm_free(&comm));
        use_freed_memory();
        CHECK_OK(MPI_Recv(&word, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    } else {
        usleep(20000);
        for (int i = 0; i < MESSAGES; i++) {
            CHECK_OK(MPI_Recv(buffer, BYTES, MPI_BYTE, 0, i, comm, MPI_STATUS_IGNORE));
            CHECK_FILLED(buffer, BYTES, i);
        }
        CHECK_OK(MPI_Comm_free(&comm));
        CHECK_OK(MPI_Send(&word, 1, MPI_INT, 0, 0, MPI_COMM_WORLD));
    }
    return end();
}
