/* SPDX-License-Identifier: BSD-3-Clause */
/* What memory is this? Buffers whose kind is hard to tell, or changes, and misuse, on 2 ranks: datatypes over memory of several
 * kinds, contexts that come and go, copies of the program that are not done yet, freed memory. The argument names the test;
 * without one all are done that end well. */
#include "../mpi/check.h"
#include "fake_cuda.h"
#include "ints.h"

enum { N = 1000 };

static context primary[2]; /* of two devices; of one, twice */
static int peer, second;   /* number of the second device */

static int (*cu_release)(int), (*cu_push)(context), (*cu_pop)(context *);

static void swap(void *buffer, int count, MPI_Datatype type)
{
    CHECK_OK(MPI_Sendrecv_replace(buffer, count, type, peer, 1, peer, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
}

/* Two arrays, on the host and on a device: what a list, a loop and an extent reach. */
static void check_loops(void)
{
    int lengths[] = {N, N}, *host = malloc(N * sizeof *host), *device = on_device(N * sizeof(int));
    MPI_Datatype types[3], part;
    MPI_Aint at[2], distance = (MPI_Aint)((uintptr_t)device - (uintptr_t)host);
    CHECK_OK(MPI_Get_address(host, &at[0]));
    CHECK_OK(MPI_Get_address(device, &at[1]));
    CHECK_OK(MPI_Type_create_hindexed(2, lengths, at, MPI_INT, &types[0]));
    CHECK_OK(MPI_Type_create_hvector(2, N, distance, MPI_INT, &types[1]));
    CHECK_OK(MPI_Type_contiguous(N, MPI_INT, &part));
    CHECK_OK(MPI_Type_create_resized(part, 0, distance, &types[2]));
    for (int k = 0; k < 3; k++) {
        for (int i = 0; i < N; i++)
            host[i] = 5 + rank + i;
        set_ints(device, N, 7 + rank);
        CHECK_OK(MPI_Type_commit(&types[k]));
        swap(k == 0 ? MPI_BOTTOM : host, k == 2 ? 2 : 1, types[k]);
        for (int i = 0; i < N; i++)
            CHECK_INT(host[i], 5 + peer + i);
        expect_ints(device, N, 7 + peer, "loops");
        CHECK_OK(MPI_Type_free(&types[k]));
    }
    CHECK_OK(MPI_Type_free(&part));
    CU(cu_free((uintptr_t)device));
    free(host);
}

/* A thousand absolute addresses, of which one is on a device. */
static void check_list(void)
{
    static const int alone[] = {0, 5, 300, N - 2, N - 1};
    static int lengths[N], host[2 * N];
    static MPI_Aint at[N];
    void *device = on_device(sizeof(int));
    MPI_Datatype type;
    for (size_t k = 0; k < sizeof alone / sizeof *alone; k++) {
        for (int i = 0; i < N; i++) {
            int *element = &host[2 * i + i * i % 3 % 2]; /* not at equal distances */
            *element = 10 * rank + i;
            lengths[i] = 1;
            CHECK_OK(MPI_Get_address(i == alone[k] ? device : element, &at[i]));
        }
        set_ints(device, 1, 77 + rank);
        CHECK_OK(MPI_Type_create_hindexed(N, lengths, at, MPI_INT, &type));
        CHECK_OK(MPI_Type_commit(&type));
        swap(MPI_BOTTOM, 1, type);
        expect_ints(device, 1, 77 + peer, "list");
        for (int i = 0; i < N; i++)
            CHECK_INT(host[2 * i + i * i % 3 % 2], 10 * (i == alone[k] ? rank : peer) + i);
        CHECK_OK(MPI_Type_free(&type));
    }
    CU(cu_free((uintptr_t)device));
}

/* A struct of vectors on two devices. No kernel reaches both. */
static void check_devices(void)
{
    enum { LONG = 1 << 17 };
    static int host[LONG];
    int blocks[] = {1, 1}, *arrays[2];
    MPI_Datatype vector, type, types[2];
    MPI_Aint at[2];
    CHECK_OK(MPI_Type_vector(LONG / 2, 1, 2, MPI_INT, &vector));
    for (int i = 0; i < 2; i++) {
        CU(cu_set(primary[i]));
        arrays[i] = on_device(sizeof host);
        set_ints(arrays[i], LONG, 10 * i + 7 * rank);
        CHECK_OK(MPI_Get_address(arrays[i], &at[i]));
        types[i] = vector;
    }
    CU(cu_set(primary[0]));
    CHECK_OK(MPI_Type_create_struct(2, blocks, at, types, &type));
    CHECK_OK(MPI_Type_commit(&type));
    if (rank == 0)
        CHECK_OK(MPI_Send(MPI_BOTTOM, 1, type, 1, 1, MPI_COMM_WORLD));
    else
        CHECK_OK(MPI_Recv(MPI_BOTTOM, 1, type, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    for (int i = 0; i < 2; i++) {
        CU(cu_set(primary[i]));
        CU(cu_to_host(host, (uintptr_t)arrays[i], sizeof host));
        for (int k = 0; k < LONG; k++)
            CHECK_INT(host[k], 10 * i + (k % 2 ? 7 * rank : 0) + k);
        CU(cu_free((uintptr_t)arrays[i]));
    }
    CU(cu_set(primary[0]));
    CHECK_OK(MPI_Type_free(&type));
    CHECK_OK(MPI_Type_free(&vector));
}

/* A buffer on the first device, whose address as MPI is given it lies in an allocation before, on the second one: the type has no
 * byte there. */
static void check_far_base(void)
{
    enum { FAR = 1 << 20 };
    static MPI_Aint at[N];
    static int host[2 * N + 2], whole[N];
    char *arrays[2], *packed[2];
    MPI_Datatype type;
    for (int i = 0; i < 2; i++) { /* the second device first */
        CU(cu_set(primary[1 - i]));
        arrays[1 - i] = on_device(FAR);
        packed[1 - i] = on_device(sizeof whole);
    }
    for (int i = 0; i < N; i++) /* not at equal distances */
        at[i] = FAR + (MPI_Aint)sizeof(int) * (2 * i + i * i % 3 % 2);
    CHECK_OK(MPI_Type_create_hindexed_block(N, 1, at, MPI_INT, &type));
    CHECK_OK(MPI_Type_commit(&type));
    for (int k = 0; k < 2; k++) {
        int position = 0;
        CU(cu_set(primary[0]));
        set_ints((int *)arrays[0], FAR / (int)sizeof(int), 3);
        CU(cu_set(primary[k]));
        set_ints((int *)packed[k], N, 50);
        CHECK_OK(MPI_Unpack(packed[k], sizeof whole, &position, arrays[0] - FAR, 1, type, MPI_COMM_SELF));
        CU(cu_set(primary[0]));
        CU(cu_to_host(host, (uintptr_t)arrays[0], sizeof host));
        for (int i = 0; i < N; i++)
            CHECK_INT(host[2 * i + i * i % 3 % 2], 50 + i);
        position = 0;
        CU(cu_set(primary[k]));
        set_ints((int *)packed[k], N, 0);
        CHECK_OK(MPI_Pack(arrays[0] - FAR, 1, type, packed[k], sizeof whole, &position, MPI_COMM_SELF));
        expect_ints((int *)packed[k], N, 50, "packed");
    }
    for (int i = 0; i < 2; i++) {
        CU(cu_set(primary[i]));
        CU(cu_free((uintptr_t)arrays[i]));
        CU(cu_free((uintptr_t)packed[i]));
    }
    CU(cu_set(primary[0]));
    CHECK_OK(MPI_Type_free(&type));
}

/* Returns the most memory, in MiB, that this process has had addresses for. */
static long peak_mib(void)
{
    char line[200];
    long kib = 0;
    FILE *status = fopen("/proc/self/status", "re");
    while (status && fgets(line, sizeof line, status))
        if (sscanf(line, "VmPeak: %ld", &kib) == 1)
            break;
    if (status)
        fclose(status);
    return kib >> 10;
}

/* A collective of a few bytes that are 256 MiB apart takes no memory for what lies between. One at an absolute address. */
static void check_far_apart(void)
{
    enum { GAP = 1 << 28 };
    int *first = on_device(sizeof(int)), *gap = on_device(GAP), *second = on_device(sizeof(int));
    MPI_Aint at[2];
    MPI_Datatype type;
    CU(cu_free((uintptr_t)gap));
    CHECK_OK(MPI_Get_address(first, &at[0]));
    CHECK_OK(MPI_Get_address(second, &at[1]));
    CHECK_OK(MPI_Type_create_hindexed_block(2, 1, at, MPI_INT, &type));
    CHECK_OK(MPI_Type_commit(&type));
    set_ints(first, 1, 5 + rank);
    set_ints(second, 1, 7 + rank);
    long before = peak_mib();
    CHECK_OK(MPI_Bcast(MPI_BOTTOM, 1, type, 0, MPI_COMM_WORLD));
    if (peak_mib() - before > (GAP >> 20) / 2)
        FAIL("a broadcast of two integers took %ld MiB of addresses", peak_mib() - before);
    expect_ints(first, 1, 5, "far apart");
    expect_ints(second, 1, 7, "far apart");
    CHECK_OK(MPI_Type_free(&type));
    CHECK_OK(MPI_Type_create_hindexed_block(1, 1, &at[1], MPI_INT, &type));
    CHECK_OK(MPI_Type_commit(&type));
    set_ints(second, 1, 9 + rank);
    CHECK_OK(MPI_Bcast(MPI_BOTTOM, 1, type, 0, MPI_COMM_WORLD));
    expect_ints(second, 1, 9, "absolute");
    CHECK_OK(MPI_Type_free(&type));
    CU(cu_free((uintptr_t)first));
    CU(cu_free((uintptr_t)second));
}

/* Short copies of the program return before they have ended: to a device that is not the current one, and again and again to
 * memory that cannot be made synchronous. */
static void check_late(int kind)
{
    uint64_t memory;
    CU(cu_set(primary[kind == 0]));
    CU(kind == 0   ? cu_alloc(&memory, N * sizeof(int))
       : kind == 1 ? cu_alloc_pool(&memory, N * sizeof(int), NULL)
                   : cu_alloc_managed(&memory, N * sizeof(int), 1));
    CU(cu_set(primary[0]));
    for (int i = 0; i < 4; i++) {
        int host[N];
        set_ints((void *)(uintptr_t)memory, N, i + 5);
        if (rank == 0)
            CHECK_OK(MPI_Send((void *)(uintptr_t)memory, N, MPI_INT, 1, 2, MPI_COMM_WORLD));
        else
            CHECK_OK(MPI_Recv(host, N, MPI_INT, 0, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        for (int k = 0; rank == 1 && k < N; k++)
            CHECK_INT(host[k], i + 5 + k);
    }
    CU(cu_free(memory));
}

static void check_late_device(void)
{
    check_late(0);
}

static void check_late_pool(void)
{
    check_late(1);
}

static void check_late_managed(void)
{
    check_late(2);
}

/* Many allocations are used in turn: none is met more than once. */
static void check_many(void)
{
    enum { MANY = 300 };
    void *memory[MANY];
    long (*calls)(const char *) = find_calls();
    for (int i = 0; i < MANY; i++)
        memory[i] = on_device(64);
    for (int round = 0; round < 3; round++) {
        long before = calls ? calls("cuPointerSetAttribute") : 0;
        for (int i = 0; i < MANY; i++)
            swap(memory[i], 1, MPI_INT);
        if (round > 0 && calls)
            CHECK_INT(calls("cuPointerSetAttribute") - before, 0);
    }
    for (int i = 0; i < MANY; i++)
        CU(cu_free((uintptr_t)memory[i]));
}

/* The receiver's buffer is on the host, so the copy runs in the context that is current: one after the other, at one address. */
static void check_context_of_receiver(void)
{
    enum { LONG = 1 << 18 };
    static int host[LONG];
    void *memory = on_device(sizeof host);
    for (int i = 0; i < 3; i++) {
        context own;
        if (rank == 0) {
            set_ints(memory, LONG, i);
            CHECK_OK(MPI_Send(memory, LONG, MPI_INT, 1, 3, MPI_COMM_WORLD));
            continue;
        }
        CU(cu_create(&own, 0, 0));
        CHECK_OK(MPI_Recv(host, LONG, MPI_INT, 0, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        for (int k = 0; k < LONG; k++)
            CHECK_INT(host[k], i + k);
        CU(cu_destroy(own));
    }
    CU(cu_free((uintptr_t)memory));
}

/* Memory of a pool belongs to no context; the device has no primary one, but one of the program. Then none is current, either. */
static void check_pool_without_primary(void)
{
    enum { LONG = 1 << 18 };
    context own, popped;
    uint64_t memory;
    CU(cu_set(NULL)); /* a primary context must not end while it is current */
    for (int i = 0; i < 2; i++)
        CU(cu_release(i * second));
    CU(cu_create(&own, 0, 0));
    CU(cu_alloc_pool(&memory, LONG * sizeof(int), NULL));
    for (int n = 1; n <= LONG; n = n == 1 ? N : n == N ? LONG : n + 1)
        /* without flags of contexts nobody knows of copies in one that is not current */
        for (int current = 1; current >= (getenv("FAKE_CUDA_FLAGS") != NULL); current--) {
            set_ints((void *)(uintptr_t)memory, n, rank);
            if (!current)
                CU(cu_pop(&popped));
            swap((void *)(uintptr_t)memory, n, MPI_INT);
            if (!current)
                CU(cu_push(own));
            expect_ints((void *)(uintptr_t)memory, n, peer, "pool");
        }
    CU(cu_free(memory));
    CU(cu_destroy(own));
    for (int i = 0; i < 2; i++)
        CU(cu_retain(&primary[i], i * second));
    CU(cu_set(primary[0]));
}

/* Rank 0 has no result of MPI_Exscan: its memory stays as it is. */
static void check_exscan(void)
{
    void *in = on_device(N * sizeof(int)), *out = on_device(N * sizeof(int));
    set_ints(in, N, 4);
    set_ints(out, N, 9);
    CHECK_OK(MPI_Exscan(in, out, N, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
    expect_ints(out, N, rank == 0 ? 9 : 4, "exscan");
    CU(cu_free((uintptr_t)in));
    CU(cu_free((uintptr_t)out));
}

/* Returns the text of an error. */
static const char *text_of(int code)
{
    static char text[MPI_MAX_ERROR_STRING];
    int length;
    CHECK_CLASS(code, MPI_ERR_BUFFER);
    CHECK_OK(MPI_Error_string(code, text, &length));
    return text;
}

/* Freed memory is an error of the call that is given it, and the peer does not wait for ever. */
static void check_freed(void)
{
    static int host[1 << 18];
    for (int n = 1; n <= 1 << 18; n *= 512)
        for (int sender = 0; sender < 2; sender++) {
            void *memory = on_device((size_t)n * sizeof(int));
            swap(memory, n, MPI_INT);
            CU(cu_free((uintptr_t)memory));
            void *buffer = rank == 0 ? memory : host;
            int code = rank == sender ? MPI_Send(buffer, n, MPI_INT, peer, 5, MPI_COMM_WORLD)
                                      : MPI_Recv(buffer, n, MPI_INT, peer, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            if (rank == 1)
                CHECK_OK(code);
            else if (!strstr(text_of(code), "it was freed or unmapped, or its context was destroyed"))
                FAIL("freed memory: %s", text_of(code));
            CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
        }
}

/* The library does not write into memory of MPI_Buffer_attach that is on a device. */
static void check_attach(void)
{
    enum { BYTES = N * sizeof(int) + MPI_BSEND_OVERHEAD };
    void *memory = on_device(BYTES), *data = on_device(N * sizeof(int)), *detached;
    int bytes;
    CHECK_OK(MPI_Buffer_attach(memory, BYTES));
    for (int i = 0; i < 3; i++) {
        set_ints(data, N, i + rank);
        CHECK_OK(MPI_Bsend(data, N, MPI_INT, peer, 7, MPI_COMM_WORLD));
        CHECK_OK(MPI_Recv(data, N, MPI_INT, peer, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        expect_ints(data, N, i + peer, "buffered");
        CHECK_OK(MPI_Buffer_flush());
    }
    CHECK_OK(MPI_Buffer_detach(&detached, &bytes));
    CHECK_INT(bytes, BYTES);
    CHECK_INT(detached == memory, 1);
    CU(cu_free((uintptr_t)memory));
    CU(cu_free((uintptr_t)data));
}

/* Never given to MPI before, so it is not known that it was device memory. */
static void check_unknown(void)
{
    void *memory = on_device(64);
    CU(cu_free((uintptr_t)memory));
    if (rank == 0)
        MPI_Send(memory, 1, MPI_INT, 1, 6, MPI_COMM_WORLD);
    else
        MPI_Recv(&memory, 1, MPI_INT, 0, 6, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*check)(void);
    } checks[] = {{"loops", check_loops},
                  {"list", check_list},
                  {"devices", check_devices},
                  {"far_base", check_far_base},
                  {"far_apart", check_far_apart},
                  {"late_device", check_late_device},
                  {"late_pool", check_late_pool},
                  {"late_managed", check_late_managed},
                  {"many", check_many},
                  {"receiver", check_context_of_receiver},
                  {"pool", check_pool_without_primary},
                  {"exscan", check_exscan},
                  {"freed", check_freed},
                  {"attach", check_attach}};
    load_driver();
    void *library = dlopen(getenv("FAKE_CUDA"), RTLD_NOW);
    *(void **)&cu_release = dlsym(library, "cuDevicePrimaryCtxRelease_v2");
    *(void **)&cu_push = dlsym(library, "cuCtxPushCurrent_v2");
    *(void **)&cu_pop = dlsym(library, "cuCtxPopCurrent_v2");
    start(&argc, &argv);
    return_errors(MPI_COMM_WORLD);
    peer = 1 - rank;
    CU(cu_count(&second));
    second = second > 1;
    for (int i = 0; i < 2; i++)
        CU(cu_retain(&primary[i], i * second));
    CU(cu_set(primary[0]));
    if (argc > 1 && strcmp(argv[1], "unknown") == 0)
        check_unknown();
    for (size_t i = 0; i < sizeof checks / sizeof *checks; i++)
        if (argc < 2 || strcmp(argv[1], checks[i].name) == 0)
            checks[i].check();
    return end();
}
