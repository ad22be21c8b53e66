/* SPDX-License-Identifier: BSD-3-Clause */
/* Long messages between device buffers of one node, on 2 ranks or more: from and to memory of every origin, freed and got again
 * at the same address, more buffers than anybody keeps handles of, contexts that are destroyed. Arguments: `devices`: each rank
 * uses its own device; `ipc` or `staged`: which way the messages must go; a number: of cycles. */
#include "../mpi/check.h"
#include "fake_cuda.h"
#include "ints.h"

enum { N = 20000, MANY = 70 };

static long (*calls)(const char *); /* NULL: the driver of a machine, which does not count */
static int peer, cycles = 300;
static context primary;

/* Ranks exchange `n` ints, from `out` to `in`. */
static void swap(const void *out, void *in, int n)
{
    CHECK_OK(MPI_Sendrecv(out, n, MPI_INT, peer, 1, in, n, MPI_INT, peer, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
}

static void *pool(size_t bytes)
{
    uint64_t address;
    CU(cu_alloc_pool(&address, bytes, NULL));
    return (void *)(uintptr_t)address;
}

static void give(void *device)
{
    CU(cu_free((uintptr_t)device));
}

static void check_origins(void)
{
    static int host[N];
    int *out = on_device(2 * N * sizeof(int)), *in = on_device(2 * N * sizeof(int)), *from_pool = pool(N * sizeof(int));
    set_ints(out, 2 * N, 1000 * rank);
    set_ints(in, 2 * N, 0);
    swap(out, in, N);
    expect_ints(in, N, 1000 * peer, "whole");
    expect_ints(in + N, N, N, "behind the message");
    swap(out + 7, in + 5, N); /* from and to the middle of an allocation */
    expect_ints(in + 5, N, 1000 * peer + 7, "middle");
    swap(out, host, N);
    for (int i = 0; i < N; i++)
        CHECK_INT(host[i], 1000 * peer + i);
    set_ints(in, N, 0);
    swap(host, in, N);
    expect_ints(in, N, 1000 * rank, "from the host");
    swap(out, from_pool, N);
    expect_ints(from_pool, N, 1000 * peer, "to a pool");
    set_ints(in, N, 0);
    swap(from_pool, in, N);
    expect_ints(in, N, 1000 * rank, "from a pool");
    CHECK_OK(MPI_Sendrecv(out, N, MPI_INT, rank, 2, in, N, MPI_INT, rank, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    expect_ints(in, N, 1000 * rank, "to itself");
    give(out);
    give(in);
    give(from_pool);
}

/* The receiver scatters, has less room than the message, or probes first. */
static void check_receives(void)
{
    MPI_Datatype every_second;
    MPI_Status status;
    int length, host[4];
    int *out = on_device(N * sizeof(int)), *in = on_device(2 * N * sizeof(int));
    CHECK_OK(MPI_Type_vector(N, 1, 2, MPI_INT, &every_second));
    CHECK_OK(MPI_Type_commit(&every_second));
    set_ints(out, N, 100 + rank);
    set_ints(in, 2 * N, 0);
    CHECK_OK(MPI_Sendrecv(out, N, MPI_INT, peer, 1, in, 1, every_second, peer, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    CU(cu_to_host(host, (uintptr_t)(in + 2 * N - 4), sizeof host));
    CHECK_INT(host[0], 100 + peer + N - 2);
    CHECK_INT(host[1], 2 * N - 3);
    CHECK_INT(host[2], 100 + peer + N - 1);
    CHECK_INT(host[3], 2 * N - 1);
    MPI_Request request;
    set_ints(in, 2 * N, 0);
    CHECK_OK(MPI_Isend(out, N, MPI_INT, peer, 3, MPI_COMM_WORLD, &request));
    CHECK_CLASS(MPI_Recv(in, N - 9, MPI_INT, peer, 3, MPI_COMM_WORLD, &status), MPI_ERR_TRUNCATE);
    CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    expect_ints(in, N - 9, 100 + peer, "truncated");
    expect_ints(in + N - 9, 9, N - 9, "behind the room");
    CHECK_OK(MPI_Issend(out, N, MPI_INT, peer, 4, MPI_COMM_WORLD, &request));
    CHECK_OK(MPI_Probe(peer, 4, MPI_COMM_WORLD, &status));
    CHECK_OK(MPI_Get_count(&status, MPI_INT, &length));
    CHECK_INT(length, N);
    CHECK_OK(MPI_Recv(in, N, MPI_INT, peer, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    expect_ints(in, N, 100 + peer, "probed");
    CHECK_OK(MPI_Type_free(&every_second));
    give(out);
    give(in);
}

/* To memory of a pool on each rank's device, which a kernel writes: from memory that is freed between two messages, so what the
 * receiver has opened of it is closed while the next one is opened. */
static void check_pool_after_free(void)
{
    enum { HALF = N / 2 };
    int host[2], *in = pool(N * sizeof(int));
    MPI_Datatype every_second;
    CHECK_OK(MPI_Type_vector(HALF, 1, 2, MPI_INT, &every_second));
    CHECK_OK(MPI_Type_commit(&every_second));
    for (int i = 0; i < 3; i++) {
        int *out = on_device(HALF * sizeof(int));
        set_ints(out, HALF, 100 * i + rank);
        set_ints(in, N, 0);
        CHECK_OK(MPI_Sendrecv(out, HALF, MPI_INT, peer, 5, in, 1, every_second, peer, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        CU(cu_to_host(host, (uintptr_t)(in + N - 2), sizeof host));
        CHECK_INT(host[0], 100 * i + peer + HALF - 1);
        CHECK_INT(host[1], N - 1);
        give(out);
    }
    CHECK_OK(MPI_Type_free(&every_second));
    give(in);
}

/* More buffers at a time than either side keeps handles of. */
static void check_many(void)
{
    static void *out[MANY], *in[MANY];
    static MPI_Request requests[2 * MANY];
    for (int i = 0; i < MANY; i++) {
        out[i] = on_device(N * sizeof(int));
        in[i] = on_device(N * sizeof(int));
        set_ints(out[i], N, i + rank);
    }
    for (int round = 0; round < 2; round++) {
        for (int i = 0; i < MANY; i++) {
            CHECK_OK(MPI_Irecv(in[i], N, MPI_INT, peer, i, MPI_COMM_WORLD, &requests[i]));
            CHECK_OK(MPI_Isend(out[i], N, MPI_INT, peer, i, MPI_COMM_WORLD, &requests[MANY + i]));
        }
        CHECK_OK(MPI_Waitall(2 * MANY, requests, MPI_STATUSES_IGNORE));
    }
    for (int i = 0; i < MANY; i++) {
        expect_ints(in[i], N, i + peer, "many");
        give(out[i]);
        give(in[i]);
    }
}

/* Memory that is freed and got again, mostly at the same address, now and then longer. */
static void check_cycles(void)
{
    int *in = on_device(2 * N * sizeof(int));
    for (int i = 0; i < cycles; i++) {
        int n = N + i % 3 * 1000;
        void *out = on_device((size_t)n * sizeof(int));
        set_ints(out, n, 10 * i + rank);
        swap(out, in, n);
        expect_ints(in, n, 10 * i + peer, "cycles");
        give(out);
    }
    give(in);
    long open = calls ? calls("handles opened") - calls("cuIpcCloseMemHandle") : 0;
    if (open > 128)
        FAIL("%ld handles are open", open);
}

/* The receiver's context is destroyed, and with it what was opened there. */
static void check_contexts(int device)
{
    void *out = on_device(N * sizeof(int));
    set_ints(out, N, 7 * rank);
    for (int i = 0; i < 3; i++) {
        context own;
        CU(cu_create(&own, 0, device));
        void *in = on_device(N * sizeof(int));
        CU(cu_set(primary));
        swap(out, in, N);
        CU(cu_set(own));
        expect_ints(in, N, 7 * peer, "own context");
        give(in);
        CU(cu_destroy(own));
        CU(cu_set(primary));
    }
    give(out);
}

int main(int argc, char **argv)
{
    int device = 0;
    const char *way = "";
    load_driver();
    calls = find_calls();
    start(&argc, &argv);
    return_errors(MPI_COMM_WORLD);
    peer = rank ^ 1;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "devices") == 0)
            device = rank % 3;
        else if (atoi(argv[i]))
            cycles = atoi(argv[i]);
        else
            way = argv[i];
    }
    CU(cu_retain(&primary, device));
    CU(cu_set(primary));
    check_pool_after_free(); /* before anything else of the other rank is open */
    check_origins();
    check_receives();
    check_many();
    check_cycles();
    check_contexts(device);
    long opened = calls ? calls("handles opened") : strcmp(way, "ipc") == 0;
    if (strcmp(way, "ipc") == 0 && opened == 0)
        FAIL("no handle was opened");
    if (strcmp(way, "staged") == 0 && opened != 0)
        FAIL("a handle was opened");
    return end();
}
