/* SPDX-License-Identifier: BSD-3-Clause */
/* Two ranks exchange messages of 4 MiB in device memory, and check each byte. Argument 1: none, for many messages; the file that
 * ends them; or `kill`: rank 1 ends by SIGKILL while messages are under way. Prints "ready" after the first messages, and "done"
 * at the end. */
#include "../mpi/check.h"
#include "../device/fake_cuda.h"
#include "../device/ints.h"

#include <signal.h>

enum { N = 1 << 20, READY = 5, KILLED = 8, MANY = 20 };

int main(int argc, char **argv)
{
    bool kills = argc > 1 && strcmp(argv[1], "kill") == 0;
    context primary;
    load_driver();
    start(&argc, &argv);
    CU(cu_retain(&primary, 0));
    CU(cu_set(primary));
    int *out = on_device(N * sizeof(int)), *in = on_device(N * sizeof(int)), goes_on = 1;
    for (int i = 0; goes_on; i++) {
        MPI_Request requests[2];
        set_ints(out, N, i + rank);
        set_ints(in, N, -1);
        CHECK_OK(MPI_Irecv(in, N, MPI_INT, 1 - rank, 0, MPI_COMM_WORLD, &requests[0]));
        CHECK_OK(MPI_Isend(out, N, MPI_INT, 1 - rank, 0, MPI_COMM_WORLD, &requests[1]));
        if (kills && rank == 1 && i == KILLED)
            raise(SIGKILL);
        CHECK_OK(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
        expect_ints(in, N, i + 1 - rank, "traffic");
        if (i == READY) {
            puts("ready");
            fflush(stdout);
        }
        goes_on = kills || (argc > 1 ? access(argv[1], F_OK) != 0 : i < MANY);
        CHECK_OK(MPI_Bcast(&goes_on, 1, MPI_INT, 0, MPI_COMM_WORLD));
    }
    CU(cu_free((uintptr_t)out));
    CU(cu_free((uintptr_t)in));
    puts("done");
    return end();
}
