/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Long messages between device memory, on 2 ranks. Argument 1, how they must go:
 *
 *   direct   the network card reads and writes device memory: the driver copies nothing
 *   staged   through the host
 *   any      only the bytes are checked
 *   pipeline only one message, from rank 0 to rank 1
 *
 * Argument 2: how often the same buffers are used.
 */
#include "../mpi/check.h"
#include "../device/fake_cuda.h"
#include "../device/ints.h"

enum { N = 1 << 20, ROWS = 2048, ROW = N / ROWS };

static long (*calls)(const char *);
static int peer;
static const char *way = "any";

static long copies(void)
{
    return calls("cuMemcpyAsync") + calls("cuMemcpy2DAsync_v2") + calls("cuLaunchKernel");
}

static void check_copies(long before, long most, const char *what)
{
    long count = copies() - before;
    if (strcmp(way, "direct") == 0 && count > most)
        FAIL("%s: the driver copied %ld times, expected at most %ld", what, count, most);
    if (strcmp(way, "staged") == 0 && count == 0)
        FAIL("%s: the driver copied nothing", what);
}

static void swap(const void *out, int out_count, MPI_Datatype out_type, void *in, int in_count, MPI_Datatype in_type, long most,
                 const char *what)
{
    long before = copies();
    CHECK_OK(MPI_Sendrecv(out, out_count, out_type, peer, 1, in, in_count, in_type, peer, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    check_copies(before, most, what);
}

/* Both buffers in device memory, or one in host memory. */
static void check_sides(int *out, int *in, int times)
{
    int *host = malloc(N * sizeof *host);
    for (int i = 0; i < times; i++) {
        set_ints(out, N, i + rank);
        swap(out, N, MPI_INT, in, N, MPI_INT, 0, "device to device");
        expect_ints(in, N, i + peer, "device to device");
    }
    memset(host, 0, N * sizeof *host);
    swap(out, N, MPI_INT, host, N, MPI_INT, 0, "device to host");
    for (int i = 0; i < N; i++)
        CHECK_INT(host[i], times - 1 + peer + i);
    for (int i = 0; i < N; i++)
        host[i] = 3 * rank + i;
    set_ints(in, N, 0);
    swap(host, N, MPI_INT, in, N, MPI_INT, 0, "host to device");
    expect_ints(in, N, 3 * peer, "host to device");
    free(host);
}

/* Rows with gaps, at either side or both: packed and unpacked on the device, not by pinned memory. */
static void check_types(int *out, int *in)
{
    MPI_Datatype rows;
    CHECK_OK(MPI_Type_vector(ROWS, ROW, 2 * ROW, MPI_INT, &rows));
    CHECK_OK(MPI_Type_commit(&rows));
    int *wide = on_device(2 * N * sizeof(int));
    for (int kind = 1; kind < 4; kind++) { /* bit 0: the sender's, bit 1: the receiver's */
        long pinned = calls("cuMemHostRegister_v2");
        set_ints(kind & 1 ? wide : out, kind & 1 ? 2 * N : N, rank);
        set_ints(in, 2 * N, -1000);
        swap(kind & 1 ? wide : out, kind & 1 ? 1 : N, kind & 1 ? rows : MPI_INT, in, kind & 2 ? 1 : N,
             kind & 2 ? rows : MPI_INT, 4, "rows");
        if (strcmp(way, "direct") == 0)
            CHECK_INT(calls("cuMemHostRegister_v2") - pinned, 0);
        int *host = malloc(2 * N * sizeof *host);
        CU(cu_to_host(host, (uintptr_t)in, 2 * N * sizeof *host));
        for (int i = 0; i < N; i++) {
            int apart = i / ROW * 2 * ROW + i % ROW, at = kind & 2 ? apart : i;
            CHECK_INT(host[at], peer + (kind & 1 ? apart : i));
            if (kind & 2)
                CHECK_INT(host[at + ROW], at + ROW - 1000); /* a gap */
        }
        free(host);
    }
    CU(cu_free((uintptr_t)wide));
    CHECK_OK(MPI_Type_free(&rows));
}

/* Memory that cards cannot reach: copied on the device to some that they can. */
static void check_origins(int *out, int *in)
{
    uint64_t pool, managed;
    CU(cu_alloc_pool(&pool, N * sizeof(int), NULL));
    CU(cu_alloc_managed(&managed, N * sizeof(int), 1));
    set_ints((void *)(uintptr_t)pool, N, 5 * rank);
    swap((void *)(uintptr_t)pool, N, MPI_INT, (void *)(uintptr_t)managed, N, MPI_INT, 2, "pool to managed");
    expect_ints((void *)(uintptr_t)managed, N, 5 * peer, "pool to managed");
    swap((void *)(uintptr_t)managed, N, MPI_INT, in, N, MPI_INT, 1, "managed to device");
    expect_ints(in, N, 5 * rank, "managed to device");
    set_ints(out, N, 6 * rank);
    swap(out, N, MPI_INT, (void *)(uintptr_t)pool, N, MPI_INT, 1, "device to pool");
    expect_ints((void *)(uintptr_t)pool, N, 6 * peer, "device to pool");
    CU(cu_free(pool));
    CU(cu_free(managed));
}

/* A type whose first half is on the device, and whose second half is in host memory. */
static void check_mixed(int *out, int *in)
{
    static int host[N / 2];
    MPI_Datatype both;
    MPI_Aint places[2];
    int lengths[] = {N / 2, N / 2};
    CHECK_OK(MPI_Get_address(in, &places[0]));
    CHECK_OK(MPI_Get_address(host, &places[1]));
    CHECK_OK(MPI_Type_create_hindexed(2, lengths, places, MPI_INT, &both));
    CHECK_OK(MPI_Type_commit(&both));
    set_ints(out, N, 8 * rank);
    CHECK_OK(MPI_Sendrecv(out, N, MPI_INT, peer, 1, MPI_BOTTOM, 1, both, peer, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    expect_ints(in, N / 2, 8 * peer, "mixed");
    for (int i = 0; i < N / 2; i++)
        CHECK_INT(host[i], 8 * peer + N / 2 + i);
    CHECK_OK(MPI_Type_free(&both));
}

static void check_truncated(int *out, int *in)
{
    MPI_Request request;
    set_ints(out, N, 9 + rank);
    set_ints(in, N, 0);
    CHECK_OK(MPI_Isend(out, N, MPI_INT, peer, 2, MPI_COMM_WORLD, &request));
    CHECK_CLASS(MPI_Recv(in, N - 1000, MPI_INT, peer, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE), MPI_ERR_TRUNCATE);
    CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    expect_ints(in, N - 1000, 9 + peer, "truncated");
    expect_ints(in + N - 1000, 1000, N - 1000, "behind the room");
}

/* Memory that is freed and got again at the same address, at both sides, with other bytes. */
static void check_freed(void)
{
    int cycles = getenv("TERN_TEST_LONG") ? 40 : 12;
    for (int i = 0; i < cycles; i++) {
        int n = N / 4 + i % 3 * 100000;
        int *out = on_device((size_t)n * sizeof(int)), *in = on_device((size_t)n * sizeof(int));
        set_ints(out, n, 100 * i + rank);
        swap(out, n, MPI_INT, in, n, MPI_INT, 0, "freed");
        expect_ints(in, n, 100 * i + peer, "freed");
        CU(cu_free((uintptr_t)(i % 2 ? out : in)));
        CU(cu_free((uintptr_t)(i % 2 ? in : out)));
    }
}

static void pass_one(int *out, int *in)
{
    if (rank == 0) {
        set_ints(out, N, 77);
        CHECK_OK(MPI_Send(out, N, MPI_INT, 1, 1, MPI_COMM_WORLD));
    } else {
        CHECK_OK(MPI_Recv(in, N, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        expect_ints(in, N, 77, "one message");
    }
}

static void check_all(int *out, int *in, int times)
{
    check_sides(out, in, times);
    check_types(out, in);
    check_origins(out, in);
    check_mixed(out, in);
    check_truncated(out, in);
    check_freed();
}

int main(int argc, char **argv)
{
    context primary;
    load_driver();
    calls = find_calls();
    start(&argc, &argv);
    return_errors(MPI_COMM_WORLD);
    peer = rank ^ 1;
    way = argc > 1 ? argv[1] : way;
    CU(cu_retain(&primary, rank % 2));
    CU(cu_set(primary));
    int *out = on_device(N * sizeof(int)), *in = on_device(2 * N * sizeof(int));
    if (strcmp(way, "pipeline") == 0)
        pass_one(out, in);
    else
        check_all(out, in, argc > 2 ? atoi(argv[2]) : 2);
    CU(cu_free((uintptr_t)out));
    CU(cu_free((uintptr_t)in));
    return end();
}
