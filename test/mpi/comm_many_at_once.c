/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 2 3; args: 300; long-args: 3000 */
/* Many communicators may live at the same time, each with messages of its own. */
#include "check.h"

int main(int argc, char **argv)
{
    start(&argc, &argv);
    int many = argument(argc, argv, 300), to = (rank + 1) % size, from = (rank + size - 1) % size;
    MPI_Comm *comms = allocate((size_t) many * sizeof *comms);
    MPI_Request *requests = allocate((size_t) many * sizeof *requests);
    int *values = allocate((size_t) many * sizeof(int));
    for (int i = 0; i < many; i++)
        CHECK_OK(MPI_Comm_dup(i ? comms[i / 2] : MPI_COMM_WORLD, &comms[i]));
    for (int i = 0; i < many; i++) {
        values[i] = i + rank;
        CHECK_OK(MPI_Isend(&values[i], 1, MPI_INT, to, 0, comms[i], &requests[i]));
    }
    for (int i = many - 1; i >= 0; i--) {
        int got;
        CHECK_OK(MPI_Recv(&got, 1, MPI_INT, from, 0, comms[i], MPI_STATUS_IGNORE));
        CHECK_INT(got, i + from);
    }
    CHECK_OK(MPI_Waitall(many, requests, MPI_STATUSES_IGNORE));
    for (int i = 0; i < many; i++)
        CHECK_OK(MPI_Comm_free(&comms[i]));
    free(comms);
    free(requests);
    free(values);
    return end();
}
