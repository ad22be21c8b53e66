/* SPDX-License-Identifier: BSD-3-Clause */
/* Device pointers of every origin in calls of every kind, on 2 ranks. With the argument `late` the driver is loaded after
 * messages have gone between all ranks. */
#include "../mpi/check.h"
#include "fake_cuda.h"

enum { N = 1000, LONG = 300000 };

/* Compares memory on a device with what is expected. */
static void expect_ints(const void *device, int n, int first, int step, const char *what)
{
    int *host = malloc((size_t)n * sizeof *host);
    CU(cu_to_host(host, (uintptr_t)device, (size_t)n * sizeof *host));
    for (int i = 0; i < n; i++)
        if (host[i] != first + i * step)
            FAIL("%s: element %d is %d, expected %d", what, i, host[i], first + i * step);
    free(host);
}

static void set_ints(void *device, int n, int first, int step)
{
    int *host = malloc((size_t)n * sizeof *host);
    for (int i = 0; i < n; i++)
        host[i] = first + i * step;
    CU(cu_to_device((uintptr_t)device, host, (size_t)n * sizeof *host));
    free(host);
}

/* Rank 0 sends `from`, rank 1 receives to `to`. */
static void pass(const void *from, void *to, int n, const char *what)
{
    if (rank == 0) {
        CHECK_OK(MPI_Send(from, n, MPI_INT, 1, 3, MPI_COMM_WORLD));
        return;
    }
    CHECK_OK(MPI_Recv(to, n, MPI_INT, 0, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    expect_ints(to, n, 5, 1, what);
    set_ints(to, n, -1, 0);
}

static void check_lengths(void)
{
    static const int lengths[] = {1, 2, 15, 1000, 1023, 20000, LONG};
    void *memory = on_device(LONG * sizeof(int));
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        set_ints(memory, lengths[i], 5, 1);
        pass(memory, memory, lengths[i], "lengths");
    }
    CU(cu_free((uintptr_t)memory));
}

/* Memory of a pool belongs to no context; managed memory to all processors. */
static void check_origins(void)
{
    uint64_t pool, managed;
    CU(cu_alloc_pool(&pool, N * sizeof(int), NULL));
    CU(cu_alloc_managed(&managed, N * sizeof(int), 1));
    set_ints((void *)(uintptr_t)pool, N, 5, 1);
    set_ints((void *)(uintptr_t)managed, N, 5, 1);
    pass((void *)(uintptr_t)pool, (void *)(uintptr_t)managed, N, "pool to managed");
    set_ints((void *)(uintptr_t)managed, N, 5, 1);
    pass((void *)(uintptr_t)managed, (void *)(uintptr_t)pool, N, "managed to pool");
    CU(cu_free(pool));
    CU(cu_free(managed));
}

/* A context of the program's own, which is destroyed; another one takes its place. */
static void check_contexts(void)
{
    context own, before;
    int devices;
    CU(cu_count(&devices));
    CU(cu_retain(&before, 0));
    for (int i = 0; i < 3; i++) {
        CU(cu_create(&own, 0, devices - 1));
        void *memory = on_device(N * sizeof(int));
        set_ints(memory, N, 5, 1);
        CU(cu_set(NULL)); /* the library may not depend on what is current */
        if (rank == 0)
            CHECK_OK(MPI_Send(memory, N, MPI_INT, 1, 4, MPI_COMM_WORLD));
        else
            CHECK_OK(MPI_Recv(memory, N, MPI_INT, 0, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        CU(cu_set(own));
        expect_ints(memory, N, 5, 1, "own context");
        CU(cu_free((uintptr_t)memory));
        CU(cu_destroy(own));
        CU(cu_set(before));
    }
}

/* One datatype of absolute addresses: host, device, host. */
static void check_mixed(void)
{
    int head = 1 + rank, tail = 7 + rank;
    void *middle = on_device(N * sizeof(int));
    int blocks[] = {1, N, 1};
    MPI_Aint at[3];
    MPI_Datatype types[] = {MPI_INT, MPI_INT, MPI_INT}, all;
    set_ints(middle, N, rank == 0 ? 5 : 0, rank == 0);
    CHECK_OK(MPI_Get_address(&head, &at[0]));
    CHECK_OK(MPI_Get_address(middle, &at[1]));
    CHECK_OK(MPI_Get_address(&tail, &at[2]));
    CHECK_OK(MPI_Type_create_struct(3, blocks, at, types, &all));
    CHECK_OK(MPI_Type_commit(&all));
    CHECK_OK(MPI_Bcast(MPI_BOTTOM, 1, all, 0, MPI_COMM_WORLD));
    CHECK_INT(head, 1);
    CHECK_INT(tail, 7);
    expect_ints(middle, N, 5, 1, "mixed");
    CHECK_OK(MPI_Type_free(&all));
    CU(cu_free((uintptr_t)middle));
}

static void add(void *in, void *inout, int *count, MPI_Datatype *type)
{
    (void)type;
    for (int i = 0; i < *count; i++)
        ((int *)inout)[i] += ((int *)in)[i];
}

/* Collectives with device memory on both sides, on one side, and in place. */
static void check_collectives(void)
{
    static int host[LONG];
    void *out = on_device(LONG * sizeof(int)), *in = on_device(LONG * sizeof(int));
    MPI_Op own;
    MPI_Request request;
    CHECK_OK(MPI_Op_create(add, 1, &own));
    for (int n = 1; n <= LONG; n = n == 1 ? N : n == N ? LONG : n + 1) {
        set_ints(out, n, 1 + rank, 1);
        CHECK_OK(MPI_Allreduce(out, in, n, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
        expect_ints(in, n, 3, 2, "allreduce");
        CHECK_OK(MPI_Allreduce(out, host, n, MPI_INT, own, MPI_COMM_WORLD));
        for (int i = 0; i < n; i++)
            CHECK_INT(host[i], 3 + 2 * i);
        CHECK_OK(MPI_Iallreduce(MPI_IN_PLACE, out, n, MPI_INT, own, MPI_COMM_WORLD, &request));
        CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
        expect_ints(out, n, 3, 2, "in place");
        CHECK_OK(MPI_Reduce_local(out, in, n, MPI_INT, MPI_SUM));
        expect_ints(in, n, 6, 4, "reduce_local");
    }
    CHECK_OK(MPI_Op_free(&own));
    CU(cu_free((uintptr_t)out));
    CU(cu_free((uintptr_t)in));
}

/* The window's memory is on a device: created, and attached to a dynamic window. */
static void check_device_windows(void)
{
    enum { LONG_WINDOW = 100 * 1000 };
    struct {
        short value;
        int index;
    } pair = {7, 70 + rank}, before = {0, 0};
    int peer = 1 - rank, one = 1, got = 0;
    int *device = on_device(LONG_WINDOW * sizeof(int)), *host = malloc(LONG_WINDOW * sizeof *host);
    MPI_Win win;
    MPI_Aint at, there;
    set_ints(device, LONG_WINDOW, 5, 1);
    CHECK_OK(MPI_Win_create(device, LONG_WINDOW * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &win));
    CHECK_OK(MPI_Win_fence(0, win));
    CHECK_OK(MPI_Get(host, LONG_WINDOW, MPI_INT, peer, 0, LONG_WINDOW, MPI_INT, win));
    CHECK_OK(MPI_Win_fence(0, win));
    for (int i = 0; i < LONG_WINDOW; i++)
        CHECK_INT(host[i], 5 + i);
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD)); /* the peer has looked, too */
    CHECK_OK(MPI_Put(host + 1, LONG_WINDOW - 1, MPI_INT, peer, 0, LONG_WINDOW - 1, MPI_INT, win));
    CHECK_OK(MPI_Win_fence(0, win));
    expect_ints(device, LONG_WINDOW - 1, 6, 1, "put to a device");
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD)); /* the peer has looked, too */
    CHECK_OK(MPI_Accumulate(host, N, MPI_INT, peer, 0, N, MPI_INT, MPI_SUM, win));
    CHECK_OK(MPI_Win_fence(0, win));
    expect_ints(device, N, 11, 2, "accumulate on a device");
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD)); /* the peer has looked, too */
    CHECK_OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, rank, 0, win)); /* the rank itself */
    CHECK_OK(MPI_Fetch_and_op(&one, &got, MPI_INT, rank, 0, MPI_SUM, win));
    CHECK_OK(MPI_Win_unlock(rank, win));
    CHECK_INT(got, 11);
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD)); /* the peer has looked, too */
    CHECK_OK(MPI_Win_lock_all(0, win));
    for (int i = 0; i < 100; i++)
        CHECK_OK(MPI_Fetch_and_op(&one, &got, MPI_INT, 0, 0, MPI_SUM, win));
    CHECK_OK(MPI_Win_unlock_all(win));
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
    if (rank == 0)
        expect_ints(device, 1, 12 + 200, 0, "fetch_and_op on a device");
    CHECK_OK(MPI_Win_fence(0, win));
    /* the last 8 bytes as a pair */
    CHECK_OK(MPI_Get_accumulate(&pair, 1, MPI_SHORT_INT, &before, 1, MPI_SHORT_INT, peer, LONG_WINDOW - 2, 1, MPI_SHORT_INT,
                                MPI_REPLACE, win));
    CHECK_OK(MPI_Win_fence(0, win));
    CHECK_INT(before.index, 5 + LONG_WINDOW - 1);
    CU(cu_to_host(&before, (uintptr_t)(device + LONG_WINDOW - 2), sizeof before));
    CHECK_INT(before.value, 7);
    CHECK_INT(before.index, 70 + peer);
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD)); /* the peer has looked, too */
    CHECK_OK(MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN));
    CHECK_CLASS(MPI_Put(host, 1, MPI_INT, peer, LONG_WINDOW, 1, MPI_INT, win), MPI_ERR_RMA_RANGE);
    CHECK_OK(MPI_Win_free(&win));
    CHECK_OK(MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win));
    CHECK_OK(MPI_Win_attach(win, device, N * sizeof(int)));
    CHECK_OK(MPI_Get_address(device, &at));
    CHECK_OK(MPI_Sendrecv(&at, 1, MPI_AINT, peer, 0, &there, 1, MPI_AINT, peer, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    set_ints(device, N, 3, 0);
    CHECK_OK(MPI_Win_fence(0, win));
    CHECK_OK(MPI_Accumulate(host, N, MPI_INT, peer, there, N, MPI_INT, MPI_SUM, win));
    CHECK_OK(MPI_Win_fence(0, win));
    expect_ints(device, N, 8, 1, "a dynamic window");
    CHECK_OK(MPI_Win_detach(win, device));
    CHECK_OK(MPI_Win_free(&win));
    CU(cu_free((uintptr_t)device));
    free(host);
}

/* One-sided: buffers of operations are on a device, windows not. */
static void check_windows(void)
{
    void *device = on_device(N * sizeof(int));
    int *base, one = 1, peer = 1 - rank;
    MPI_Win win;
    set_ints(device, N, 5, 1);
    CHECK_OK(MPI_Win_allocate(N * sizeof(int), 4, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win));
    CHECK_OK(MPI_Win_fence(0, win));
    CHECK_OK(MPI_Put(device, N, MPI_INT, peer, 0, N, MPI_INT, win));
    CHECK_OK(MPI_Win_fence(0, win));
    for (int i = 0; i < N; i++)
        CHECK_INT(base[i], 5 + i);
    CHECK_OK(MPI_Win_fence(0, win));
    CHECK_OK(MPI_Accumulate(device, N, MPI_INT, peer, 0, N, MPI_INT, MPI_SUM, win));
    CHECK_OK(MPI_Win_fence(0, win));
    CHECK_OK(MPI_Get(device, N, MPI_INT, peer, 0, N, MPI_INT, win));
    CHECK_OK(MPI_Win_fence(0, win));
    expect_ints(device, N, 10, 2, "get");
    set_ints(device, 2, 10, 90); /* compare with 10, replace by 100 */
    CHECK_OK(MPI_Compare_and_swap((char *)device + 4, device, (char *)device + 8, MPI_INT, peer, 0, win));
    CHECK_OK(MPI_Win_fence(0, win));
    CHECK_INT(base[0], 100);
    CHECK_OK(MPI_Win_fence(0, win));
    CHECK_OK(MPI_Fetch_and_op(&one, device, MPI_INT, peer, 0, MPI_SUM, win));
    CHECK_OK(MPI_Win_fence(0, win));
    CHECK_INT(base[0], 101);
    expect_ints(device, 1, 100, 0, "fetch_and_op");
    CHECK_OK(MPI_Win_free(&win));
    CU(cu_free((uintptr_t)device));
}

/* The same addresses again and again: nothing may be remembered of them. */
static void check_reuse(void)
{
    for (int i = 0; i < 300; i++) {
        void *memory = i % 3 ? on_device(4096) : malloc(4096);
        int value = 100 + i;
        if (i % 3)
            CU(cu_to_device((uintptr_t)memory, &value, sizeof value));
        else
            *(int *)memory = value;
        CHECK_OK(MPI_Sendrecv_replace(memory, 1, MPI_INT, 1 - rank, 1, 1 - rank, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        if (i % 3) {
            CU(cu_to_host(&value, (uintptr_t)memory, sizeof value));
            CU(cu_free((uintptr_t)memory));
        } else {
            value = *(int *)memory;
            free(memory);
        }
        CHECK_INT(value, 100 + i);
    }
}

int main(int argc, char **argv)
{
    context primary;
    bool late = argc > 1 && strcmp(argv[1], "late") == 0;
    if (!late)
        load_driver();
    start(&argc, &argv);
    return_errors(MPI_COMM_WORLD);
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
    if (late) {
        int value = rank;
        CHECK_OK(MPI_Sendrecv_replace(&value, 1, MPI_INT, 1 - rank, 1, 1 - rank, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        load_driver();
    }
    CU(cu_retain(&primary, 0));
    CU(cu_set(primary));
    check_lengths();
    check_origins();
    check_contexts();
    check_mixed();
    check_collectives();
    check_windows();
    check_device_windows();
    check_reuse();
    return end();
}
