/* SPDX-License-Identifier: BSD-3-Clause */
/* How often messages call the driver, on 2 ranks: on the fake driver the number of calls stands for their cost. */
#include "../mpi/check.h"
#include "fake_cuda.h"

enum { LONG = 4 << 20 };

static long (*calls)(const char *);

/* Passes `bytes` bytes from rank 0 to rank 1, both in device memory. Returns the calls of both ranks: of the function
 * `name`, or all. */
static long passes(void *device, int bytes, const char *name)
{
    long before = calls(name), mine, both;
    if (rank == 0)
        CHECK_OK(MPI_Send(device, bytes, MPI_BYTE, 1, 1, MPI_COMM_WORLD));
    else
        CHECK_OK(MPI_Recv(device, bytes, MPI_BYTE, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    mine = calls(name) - before;
    CHECK_OK(MPI_Allreduce(&mine, &both, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD));
    return both;
}

static void check_at_most(const char *what, long found, long most)
{
    if (found > most && rank == 0)
        FAIL("%s: %ld calls of the driver, expected %ld at most", what, found, most);
    if (rank == 0)
        printf("%s: %ld\n", what, found);
}

/* Memory of a million pieces: one kernel a side, and no copies. */
static void check_pieces(void)
{
    enum { PIECES = 1 << 20 };
    static const char *const names[] = {"cuLaunchKernel", "cuMemcpyAsync", "cuMemcpy2DAsync_v2"};
    static const long expected[] = {2, 0, 0};
    MPI_Datatype pieces;
    void *memory = on_device((size_t)PIECES * 8);
    CHECK_OK(MPI_Type_vector(PIECES, 1, 2, MPI_INT, &pieces));
    CHECK_OK(MPI_Type_commit(&pieces));
    for (int i = 0; i < 3; i++) {
        long before = calls(names[i]), mine, both;
        if (rank == 0)
            CHECK_OK(MPI_Send(memory, 1, pieces, 1, 1, MPI_COMM_WORLD));
        else
            CHECK_OK(MPI_Recv(memory, 1, pieces, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        mine = calls(names[i]) - before;
        CHECK_OK(MPI_Allreduce(&mine, &both, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD));
        CHECK_INT(both, expected[i]);
    }
    CHECK_OK(MPI_Type_free(&pieces));
    CU(cu_free((uintptr_t)memory));
}

int main(int argc, char **argv)
{
    context primary;
    load_driver();
    calls = find_calls();
    start(&argc, &argv);
    CU(cu_retain(&primary, 0));
    CU(cu_set(primary));
    void *device = on_device(LONG);
    passes(device, 8, NULL); /* makes the stream */
    check_at_most("8 bytes", passes(device, 8, NULL), 8);
    CHECK_INT(passes(device, 8, "cuMemcpyAsync"), 2);
    if (argc > 1 && strcmp(argv[1], "ipc") == 0) {
        passes(device, LONG, NULL); /* opens the handle */
        CHECK_INT(passes(device, LONG, "cuMemcpyAsync"), 1);
        CHECK_INT(passes(device, LONG, "cuEventRecord"), 1);
        CHECK_INT(passes(device, LONG, "cuStreamSynchronize"), 0);
        CHECK_INT(passes(device, LONG, "cuIpcGetMemHandle"), 0);
        CHECK_INT(passes(device, LONG, "cuIpcOpenMemHandle_v2"), 0);
        long all = passes(device, LONG, NULL), asked = passes(device, LONG, "cuEventQuery");
        check_at_most("4 MiB by IPC without questions", all - asked, 8);
        /* memory of a pool cannot be shared: it is copied on the device to some that can */
        uint64_t pool;
        CU(cu_alloc_pool(&pool, LONG, NULL));
        passes((void *)(uintptr_t)pool, LONG, NULL);
        CHECK_INT(passes((void *)(uintptr_t)pool, LONG, "cuMemcpyAsync"), 2);
        CHECK_INT(passes((void *)(uintptr_t)pool, LONG, "cuMemAlloc_v2"), 0);
        CHECK_INT(passes((void *)(uintptr_t)pool, LONG, "cuMemHostRegister_v2"), 0);
        CU(cu_free(pool));
    }
    if (argc > 1 && strcmp(argv[1], "ipc") == 0)
        check_pieces();
    if (argc > 1 && strcmp(argv[1], "staged") == 0) { /* in pieces of 256 KiB, which nobody awaits one by one */
        passes(device, LONG, NULL);
        CHECK_INT(passes(device, LONG, "cuMemcpyAsync"), 2 * LONG / (256 << 10));
        CHECK_INT(passes(device, LONG, "cuStreamSynchronize"), 0);
        CHECK_INT(passes(device, LONG, "cuMemHostRegister_v2"), 0);
    }
    if (argc > 1 && strcmp(argv[1], "refused") == 0) { /* a refusal is not asked for at each message */
        enum { MESSAGES = 200 };
        long before = calls("cuMemHostRegister_v2"), mine, both;
        for (int i = 0; i < MESSAGES; i++)
            passes(device, 1 << 20, NULL);
        mine = calls("cuMemHostRegister_v2") - before;
        CHECK_OK(MPI_Allreduce(&mine, &both, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD));
        check_at_most("registrations in 200 messages", both, 12);
    }
    CU(cu_free((uintptr_t)device));
    return end();
}
