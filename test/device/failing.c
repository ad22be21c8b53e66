/* SPDX-License-Identifier: BSD-3-Clause */
/* The driver fails every copy (FAKE_CUDA_FAIL=1): each call returns an error, and nobody waits for ever. 2 ranks. With the
 * argument `fatal` the error handler is that of MPI_COMM_WORLD, which ends the job. */
#include "../mpi/check.h"
#include "fake_cuda.h"

int main(int argc, char **argv)
{
    context primary;
    static int host[100000];
    load_driver();
    start(&argc, &argv);
    if (argc < 2)
        return_errors(MPI_COMM_WORLD);
    CU(cu_retain(&primary, 0));
    CU(cu_set(primary));
    void *device = on_device(sizeof host);
    for (int n = 1; n; n = n == 1 ? 100000 : 0) {
        /* from a device that cannot be read */
        if (rank == 0)
            CHECK_CLASS(MPI_Send(device, n, MPI_INT, 1, 1, MPI_COMM_WORLD), MPI_ERR_BUFFER);
        else
            CHECK_OK(MPI_Recv(host, n, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        /* to a device that cannot be written */
        if (rank == 0)
            CHECK_OK(MPI_Send(host, n, MPI_INT, 1, 1, MPI_COMM_WORLD));
        else
            CHECK_CLASS(MPI_Recv(device, n, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE), MPI_ERR_BUFFER);
        CHECK_CLASS(MPI_Allreduce(device, host, n, MPI_INT, MPI_SUM, MPI_COMM_WORLD), MPI_ERR_BUFFER);
        int position = 0;
        CHECK_CLASS(MPI_Pack(device, n, MPI_INT, host, sizeof host, &position, MPI_COMM_WORLD), MPI_ERR_BUFFER);
        CHECK_INT(position, 0);
    }
    CU(cu_free((uintptr_t)device));
    return end();
}
