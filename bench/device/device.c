/* SPDX-License-Identifier: BSD-3-Clause */

/* Time of messages between two ranks with buffers in device memory, beside the bare copies that carry them: one to the host
 * and one from the host, by the driver, each awaited. Both ranks use device 0, or with --devices the device of their rank.
 * Also the time of host buffers while the driver is loaded. Prints a table: bytes, then microseconds one way. */
#include "../../test/device/fake_cuda.h"

#include <mpi.h>
#include <string.h>

enum { MOST = 4 << 20, ROUNDS = 7 };

static int rank;

/* Returns the best of some rounds, in us one way. */
static double ping_pong(void *buffer, int bytes)
{
    double best = 1e30;
    int times = bytes < 65536 ? 500 : 20;
    for (int round = 0; round < ROUNDS; round++) {
        MPI_Barrier(MPI_COMM_WORLD);
        double begin = MPI_Wtime();
        for (int i = 0; i < times; i++) {
            if (rank == 0)
                MPI_Send(buffer, bytes, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
            MPI_Recv(buffer, bytes, MPI_BYTE, 1 - rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            if (rank == 1)
                MPI_Send(buffer, bytes, MPI_BYTE, 0, 0, MPI_COMM_WORLD);
        }
        double each = (MPI_Wtime() - begin) / (2 * times) * 1e6;
        best = each < best ? each : best;
    }
    return best;
}

static double bare(uint64_t device, void *host, size_t bytes)
{
    double best = 1e30;
    for (int round = 0; round < 100; round++) {
        double begin = MPI_Wtime();
        CU(cu_to_host(host, device, bytes));
        CU(cu_to_device(device, host, bytes));
        double each = (MPI_Wtime() - begin) * 1e6;
        best = each < best ? each : best;
    }
    return best;
}

int main(int argc, char **argv)
{
    context primary;
    int size;
    load_driver();
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (size != 2) {
        fprintf(stderr, "run it on 2 ranks\n");
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    CU(cu_retain(&primary, argc > 1 && strcmp(argv[1], "--devices") == 0 ? rank : 0));
    CU(cu_set(primary));
    char *host = malloc(MOST);
    memset(host, 1, MOST);
    uint64_t device = (uintptr_t)on_device(MOST);
    CU(cu_to_device(device, host, MOST));
    if (rank == 0)
        printf("%10s %12s %12s %12s\n", "bytes", "host", "device", "bare copies");
    for (int bytes = 8; bytes <= MOST; bytes *= 8) {
        double on_host = ping_pong(host, bytes), on_gpu = ping_pong((void *)(uintptr_t)device, bytes);
        double copies = bare(device, host, (size_t)bytes);
        if (rank == 0)
            printf("%10d %12.2f %12.2f %12.2f\n", bytes, on_host, on_gpu, copies);
    }
    CU(cu_free(device));
    free(host);
    MPI_Finalize();
    return 0;
}
