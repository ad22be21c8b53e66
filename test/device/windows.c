/* SPDX-License-Identifier: BSD-3-Clause */
/* Windows whose memory is on devices: all operations, from host and device buffers, atomic to each other. Arguments: where the
 * windows are (`devices`: each rank on another device; `one`: on one; `managed`; `host`: rank 0's in host memory; `pool`), and how a rank reaches
 * the others: `ipc`: it opens them and copies itself; `asked`. */
#include "../mpi/check.h"
#include "fake_cuda.h"
#include "ints.h"

enum { N = 4096, ROUNDS = 50 };

static long (*calls)(const char *);
static const char *where = "devices";
static bool direct;  /* operations go without the target's help */
static int *window_memory, *device, host[N];
static MPI_Win win;
static int next;

static int kind(void)
{
    if (strcmp(where, "host") == 0)
        return rank == 0 ? HOST : DEVICE;
    return strcmp(where, "managed") == 0 ? MANAGED : strcmp(where, "pool") == 0 ? POOL : DEVICE;
}

static void write_own(int first)
{
    for (int i = 0; i < N; i++)
        host[i] = first + i;
    if (kind() == HOST)
        memcpy(window_memory, host, sizeof host);
    else
        CU(cu_to_device((uintptr_t)window_memory, host, sizeof host));
}

/* Checks element i of this rank's memory: first + step * i. */
static void expect_own(int from, int n, int first, int step, const char *what)
{
    if (kind() == HOST)
        memcpy(host, window_memory, sizeof host);
    else
        CU(cu_to_host(host, (uintptr_t)window_memory, sizeof host));
    for (int i = from; i < from + n; i++)
        if (host[i] != first + step * i)
            FAIL("%s: element %d is %d, expected %d", what, i, host[i], first + step * i);
}

static void check_put_get(void)
{
    int mine[N];
    write_own(0);
    CHECK_OK(MPI_Win_fence(0, win));
    for (int i = 0; i < N; i++)
        mine[i] = 1000 * rank + i;
    set_ints(device, N, 1000 * rank + N / 2);
    CHECK_OK(MPI_Put(mine, N / 2, MPI_INT, next, 0, N / 2, MPI_INT, win));
    long before = calls("cuMemcpyAsync");
    CHECK_OK(MPI_Put(device, N / 2, MPI_INT, next, N / 2, N / 2, MPI_INT, win));
    if (direct)
        CHECK_INT(calls("cuMemcpyAsync") - before, 1);
    CHECK_OK(MPI_Win_fence(0, win));
    expect_own(0, N, 1000 * ((rank + size - 1) % size), 1, "put");
    CHECK_OK(MPI_Win_fence(0, win));
    CHECK_OK(MPI_Get(mine, N, MPI_INT, next, 0, N, MPI_INT, win));
    CHECK_OK(MPI_Get(device, N, MPI_INT, rank, 0, N, MPI_INT, win));
    CHECK_OK(MPI_Win_fence(0, win));
    for (int i = 0; i < N; i++)
        CHECK_INT(mine[i], 1000 * rank + i);
    expect_ints(device, N, 1000 * ((rank + size - 1) % size), "get");
}

/* Every second element of a buffer to every second one of the target. */
static void check_types(void)
{
    MPI_Datatype second;
    CHECK_OK(MPI_Type_vector(N / 2, 1, 2, MPI_INT, &second));
    CHECK_OK(MPI_Type_commit(&second));
    write_own(0);
    set_ints(device, N, 0);
    CHECK_OK(MPI_Win_fence(0, win));
    CHECK_OK(MPI_Accumulate(device, 1, second, next, 0, 1, second, MPI_SUM, win));
    CHECK_OK(MPI_Win_fence(0, win));
    CHECK_OK(MPI_Put(device, N / 2, MPI_INT, next, 1, 1, second, win));
    CHECK_OK(MPI_Win_fence(0, win));
    expect_own(0, 0, 0, 0, "reads");
    for (int i = 0; i < N; i++)
        CHECK_INT(host[i], i % 2 ? i / 2 : 2 * i);
    CHECK_OK(MPI_Type_free(&second));
}

/* All ranks add to all ranks, from host and device buffers, long and short, and read what was there. */
static void check_accumulates(void)
{
    int one = 1, before[1], (*found)[N] = malloc((size_t)size * sizeof *found); /* a result for each target */
    write_own(0);
    CHECK_OK(MPI_Win_fence(0, win));
    set_ints(device, N, 0);
    for (int i = 0; i < N; i++)
        host[i] = i;
    for (int to = 0; to < size; to++) {
        long kernels = calls("cuLaunchKernel");
        CHECK_OK(MPI_Accumulate(device, N, MPI_INT, to, 0, N, MPI_INT, MPI_SUM, win));
        if (direct && strcmp(where, "one") == 0)
            CHECK_INT(calls("cuLaunchKernel") - kernels, 1);
        CHECK_OK(MPI_Accumulate(host, N, MPI_INT, to, 0, N, MPI_INT, MPI_SUM, win));
        CHECK_OK(MPI_Get_accumulate(host, N, MPI_INT, found[to], N, MPI_INT, to, 0, N, MPI_INT, MPI_SUM, win));
    }
    CHECK_OK(MPI_Win_fence(0, win));
    expect_own(0, N, 0, 1 + 3 * size, "accumulate");
    for (int to = 0; to < size; to++)
        for (int i = 1; i < N; i++)
            if (found[to][i] % i || found[to][i] / i < 3 || found[to][i] / i > 3 * size)
                FAIL("element %d of rank %d was %d", i, to, found[to][i]);
    free(found);
    CHECK_OK(MPI_Win_fence(0, win));
    CHECK_OK(MPI_Get_accumulate(NULL, 0, MPI_INT, device, N, MPI_INT, next, 0, N, MPI_INT, MPI_NO_OP, win));
    CHECK_OK(MPI_Win_fence(0, win));
    int first;
    CU(cu_to_host(&first, (uintptr_t)(device + 1), sizeof first));
    CHECK_INT(first, 1 + 3 * size);
    write_own(0);
    CHECK_OK(MPI_Win_fence(0, win));
    CHECK_OK(MPI_Win_lock_all(0, win));
    for (int i = 0; i < ROUNDS; i++) {
        CHECK_OK(MPI_Fetch_and_op(&one, before, MPI_INT, 0, 0, MPI_SUM, win));
        CHECK_OK(MPI_Win_flush(0, win));
    }
    CHECK_OK(MPI_Win_unlock_all(win));
    for (int i = 0; i < ROUNDS; i++) { /* a counter by compare and swap */
        int seen = 7, wanted, found;
        CHECK_OK(MPI_Win_lock(MPI_LOCK_SHARED, next, 0, win));
        do {
            found = seen;
            wanted = found + 1;
            CHECK_OK(MPI_Compare_and_swap(&wanted, &found, &seen, MPI_INT, next, 7, win));
            CHECK_OK(MPI_Win_flush(next, win));
        } while (seen != found);
        CHECK_OK(MPI_Win_unlock(next, win));
    }
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
    CHECK_OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, rank, 0, win));
    expect_own(1, 6, 0, 1, "beside the counters");
    CHECK_INT(host[0], rank == 0 ? ROUNDS * size : 0);
    CHECK_INT(host[7], 7 + ROUNDS);
    CHECK_OK(MPI_Win_unlock(rank, win));
}

/* Requests, and an exclusive lock under which all ranks add without atomics. */
static void check_locks(void)
{
    MPI_Request request;
    int value;
    write_own(0);
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
    for (int i = 0; i < ROUNDS; i++) {
        CHECK_OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win));
        CHECK_OK(MPI_Rget(&value, 1, MPI_INT, 0, 3, 1, MPI_INT, win, &request));
        CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
        value++;
        CHECK_OK(MPI_Put(&value, 1, MPI_INT, 0, 3, 1, MPI_INT, win));
        CHECK_OK(MPI_Win_unlock(0, win));
    }
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
    if (rank == 0) {
        CHECK_OK(MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win));
        expect_own(4, N - 4, 0, 1, "behind");
        CHECK_INT(host[3], 3 + ROUNDS * size);
        CHECK_OK(MPI_Win_unlock(0, win));
    }
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
}

int main(int argc, char **argv)
{
    context primary;
    if (argc > 1)
        where = argv[1];
    load_driver();
    calls = find_calls();
    start(&argc, &argv);
    return_errors(MPI_COMM_WORLD);
    direct = argc > 2 && strcmp(argv[2], "ipc") == 0;
    next = (rank + 1) % size;
    CU(cu_retain(&primary, strcmp(where, "devices") == 0 ? rank % 3 : 0));
    CU(cu_set(primary));
    device = on_device(N * sizeof(int));
    for (int i = 0; i < 3; i++) { /* memory that is freed and got again */
        window_memory = take_ints(kind(), N);
        CHECK_OK(MPI_Win_create(window_memory, N * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &win));
        CHECK_OK(MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN));
        check_put_get();
        check_types();
        check_accumulates();
        check_locks();
        CHECK_OK(MPI_Win_free(&win));
        give_ints(kind(), window_memory);
    }
    CU(cu_free((uintptr_t)device));
    if (argc > 2 && direct != (calls("handles opened") > 0) && strcmp(where, "host"))
        FAIL("%ld handles of other ranks were opened", calls("handles opened"));
    return end();
}
