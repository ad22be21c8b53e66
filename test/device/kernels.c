/* SPDX-License-Identifier: BSD-3-Clause */
/* What kernels compute, beside what the host computes: every operation on every type, and packing of layouts with loops, at
 * odd lengths and alignments. On 1 rank, or 2. With the argument `none` no kernel may be used. */
#include "../mpi/check.h"
#include "fake_cuda.h"

enum { MOST = 40000, ROOM = MOST * 16 + 64 };
enum { KERNELS_MOST = 64 }; /* the library keeps for a context */

static long (*calls)(const char *); /* NULL: the driver of a machine, which does not count */
static char *in_host, *inout_host, *result, *in_device, *inout_device;
static context primary;
static int peer;
static unsigned long seed = 1;

static unsigned random_number(void)
{
    seed = seed * 6364136223846793005ul + 1442695040888963407ul;
    return (unsigned)(seed >> 33);
}

enum kind { INTEGER, FLOAT, DOUBLE, LOGICAL, FLOAT_PAIR, DOUBLE_PAIR, INT_PAIR, LONG_PAIR, SHORT_PAIR, FLOATS, DOUBLES };

/* Fills elements with small values, so that ties occur and no float overflows. */
static void fill_with(char *at, enum kind kind, size_t bytes)
{
    struct {
        double value;
        int index;
    } double_int;
    memset(at, 0, bytes);
    for (size_t i = 0; i < bytes;) {
        int small = (int)(random_number() % 17) - 8;
        float f = (float)small / 4;
        double d = (double)small / 4;
        long l = small;
        short s = (short)small;
        switch (kind) {
        case INTEGER: at[i++] = (char)random_number(); break;
        case LOGICAL: at[i] = random_number() % 2; i++; break;
        case FLOAT: case FLOATS: memcpy(at + i, &f, 4); i += 4; break;
        case DOUBLE: case DOUBLES: memcpy(at + i, &d, 8); i += 8; break;
        case FLOAT_PAIR: memcpy(at + i, &f, 4); memcpy(at + i + 4, &small, 4); i += 8; break;
        case INT_PAIR: memcpy(at + i, &small, 4); memcpy(at + i + 4, &small, 4); i += 8; break;
        case SHORT_PAIR: memcpy(at + i, &s, 2); memcpy(at + i + 4, &small, 4); i += 8; break;
        case DOUBLE_PAIR: double_int.value = d; double_int.index = (int)(random_number() % 5);
            memcpy(at + i, &double_int.value, 8); memcpy(at + i + 8, &double_int.index, 4); i += 16; break;
        case LONG_PAIR: memcpy(at + i, &l, 8); memcpy(at + i + 8, &small, 4); i += 16; break;
        }
    }
}

static void to_device(char *device, const char *host, size_t bytes)
{
    CU(cu_to_device((uintptr_t)device, host, bytes));
}

static void check_reduction(MPI_Op op, MPI_Datatype type, enum kind kind, size_t size, int count, size_t shift)
{
    char name[MPI_MAX_OBJECT_NAME];
    int length;
    size_t bytes = (size_t)count * size;
    long before = calls ? calls("cuLaunchKernel") : 0;
    fill_with(in_host + shift, kind, bytes);
    fill_with(inout_host + shift, kind, bytes);
    memset(inout_host + shift + bytes, 77, 16); /* what lies behind stays */
    to_device(in_device + shift, in_host + shift, bytes);
    to_device(inout_device + shift, inout_host + shift, bytes + 16);
    if (MPI_Reduce_local(in_host + shift, inout_host + shift, count, type, op) != MPI_SUCCESS)
        return; /* not defined for the type */
    CHECK_OK(MPI_Reduce_local(in_device + shift, inout_device + shift, count, type, op));
    CU(cu_to_host(result, (uintptr_t)(inout_device + shift), bytes + 16));
    MPI_Type_get_name(type, name, &length);
    for (size_t i = 0; i < bytes + 16; i++)
        if (result[i] != inout_host[shift + i])
            FAIL("operation %d on %d elements of %s: byte %zu is %d, expected %d", (int)(op == MPI_SUM), count, name, i,
                 result[i], inout_host[shift + i]);
    if (calls)
        CHECK_INT(calls("cuLaunchKernel") - before, 1);
    before = calls ? calls("cuLaunchKernel") : 0;
    /* `in` may be in host memory */
    CHECK_OK(MPI_Reduce_local(in_host + shift, inout_device + shift, count, type, op));
    CHECK_OK(MPI_Reduce_local(in_host + shift, inout_host + shift, count, type, op));
    CU(cu_to_host(result, (uintptr_t)(inout_device + shift), bytes));
    CHECK_INT(memcmp(result, inout_host + shift, bytes), 0);
}

static void check_reductions(void)
{
    const struct {
        MPI_Datatype type;
        enum kind kind;
        size_t size;
    } types[] = {
        {MPI_INT8_T, INTEGER, 1}, {MPI_UINT8_T, INTEGER, 1}, {MPI_INT16_T, INTEGER, 2}, {MPI_UINT16_T, INTEGER, 2},
        {MPI_INT32_T, INTEGER, 4}, {MPI_UINT32_T, INTEGER, 4}, {MPI_INT64_T, INTEGER, 8}, {MPI_UINT64_T, INTEGER, 8},
        {MPI_LONG, INTEGER, 8}, {MPI_UNSIGNED_LONG, INTEGER, 8}, {MPI_CHAR, INTEGER, 1}, {MPI_BYTE, INTEGER, 1},
        {MPI_C_BOOL, LOGICAL, 1}, {MPI_FLOAT, FLOAT, 4}, {MPI_DOUBLE, DOUBLE, 8}, {MPI_C_FLOAT_COMPLEX, FLOATS, 8},
        {MPI_C_DOUBLE_COMPLEX, DOUBLES, 16}, {MPI_FLOAT_INT, FLOAT_PAIR, 8}, {MPI_DOUBLE_INT, DOUBLE_PAIR, 16},
        {MPI_LONG_INT, LONG_PAIR, 16}, {MPI_2INT, INT_PAIR, 8}, {MPI_SHORT_INT, SHORT_PAIR, 8},
    };
    const MPI_Op ops[] = {MPI_MAX, MPI_MIN, MPI_SUM, MPI_PROD, MPI_LAND, MPI_BAND, MPI_LOR, MPI_BOR, MPI_LXOR, MPI_BXOR,
                          MPI_MAXLOC, MPI_MINLOC};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        for (size_t k = 0; k < sizeof ops / sizeof *ops; k++) {
            if (types[i].type == MPI_SHORT_INT)
                continue; /* has a hole; checked below */
            check_reduction(ops[k], types[i].type, types[i].kind, types[i].size, MOST - 1, 0);
            check_reduction(ops[k], types[i].type, types[i].kind, types[i].size, 32769, types[i].size);
        }
    check_reduction(MPI_SUM, MPI_DOUBLE, DOUBLE, 8, MOST, 8);
}

/* A message from a layout on the device to one run, and one back into the layout. All ranks have the same bytes. */
static void check_layout(MPI_Datatype type, int count, size_t shift, const char *what)
{
    MPI_Aint lb, extent, true_lb, true_extent;
    int size;
    CHECK_OK(MPI_Type_commit(&type));
    MPI_Type_size(type, &size);
    MPI_Type_get_extent(type, &lb, &extent);
    MPI_Type_get_true_extent(type, &true_lb, &true_extent);
    size_t bytes = (size_t)size * (size_t)count, span = (size_t)((count - 1) * extent + true_lb + true_extent) + shift;
    if (span > ROOM || bytes > ROOM)
        FAIL("%s is too long", what);
    fill_with(in_host, INTEGER, span);
    to_device(in_device, in_host, span);
    /* what the host packs */
    int position = 0;
    CHECK_OK(MPI_Pack(in_host + shift, count, type, inout_host, ROOM, &position, MPI_COMM_SELF));
    CHECK_OK(MPI_Sendrecv(in_device + shift, count, type, peer, 0, inout_device, (int)bytes, MPI_BYTE, peer, 0, MPI_COMM_WORLD,
                          MPI_STATUS_IGNORE));
    CU(cu_to_host(result, (uintptr_t)inout_device, bytes));
    if (memcmp(result, inout_host, bytes) != 0)
        FAIL("%s: packed wrongly", what);
    /* unpack other bytes; what lies between stays */
    fill_with(inout_host, INTEGER, bytes);
    to_device(inout_device, inout_host, bytes);
    position = 0;
    CHECK_OK(MPI_Unpack(inout_host, (int)bytes, &position, in_host + shift, count, type, MPI_COMM_SELF));
    CHECK_OK(MPI_Sendrecv(inout_device, (int)bytes, MPI_BYTE, peer, 0, in_device + shift, count, type, peer, 0, MPI_COMM_WORLD,
                          MPI_STATUS_IGNORE));
    CU(cu_to_host(result, (uintptr_t)in_device, span));
    if (memcmp(result, in_host, span) != 0)
        FAIL("%s: unpacked wrongly", what);
    CHECK_OK(MPI_Type_free(&type));
}

static void check_layouts(void)
{
    MPI_Datatype type, inner;
    char what[99];
    static const struct {
        int run, stride;
    } vectors[] = {{1, 2}, {1, 3}, {2, 4}, {3, 7}, {4, 8}, {8, 16}, {16, 32}, {12, 20}, {48, 64}, {100, 104}};
    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++)
        for (size_t shift = 0; shift < 9; shift += 1 + shift * 7) {
            snprintf(what, sizeof what, "runs of %d bytes at %d, from byte %zu", vectors[i].run, vectors[i].stride, shift);
            CHECK_OK(MPI_Type_vector(5000, vectors[i].run, vectors[i].stride, MPI_BYTE, &type));
            check_layout(type, 1, shift, what);
        }
    int sizes[] = {40, 30, 50}, part[] = {20, 11, 24}, starts[] = {7, 9, 13};
    CHECK_OK(MPI_Type_create_subarray(3, sizes, part, starts, MPI_ORDER_C, MPI_DOUBLE, &type));
    check_layout(type, 1, 0, "a box");
    CHECK_OK(MPI_Type_vector(600, 1, 3, MPI_INT, &type)); /* several elements of a vector: two loops */
    check_layout(type, 7, 4, "seven vectors");
    CHECK_OK(MPI_Type_vector(10, 1, 3, MPI_SHORT, &inner));
    CHECK_OK(MPI_Type_create_hvector(9, 1, 70, inner, &type));
    CHECK_OK(MPI_Type_free(&inner));
    inner = type;
    CHECK_OK(MPI_Type_create_hvector(8, 1, 700, inner, &type));
    CHECK_OK(MPI_Type_free(&inner));
    check_layout(type, 6, 2, "four loops");
    CHECK_OK(MPI_Type_create_hvector(1000, 1, -16, MPI_DOUBLE, &inner)); /* downwards */
    int one = 1;
    MPI_Aint up = 16000;
    CHECK_OK(MPI_Type_create_hindexed(1, &one, &up, inner, &type));
    CHECK_OK(MPI_Type_free(&inner));
    check_layout(type, 1, 0, "downwards");
    CHECK_OK(MPI_Type_create_resized(MPI_INT, 0, 12, &type)); /* elements with holes between them */
    check_layout(type, 3000, 0, "elements");
}

/* Runs at distances that no loop describes: `count` runs of `length` bytes and up to `more` bytes longer, with gaps, from
 * byte `shift` on. Two messages may take a few copies, not one for each run. */
static void check_runs(int count, int length, int more, size_t shift)
{
    MPI_Datatype type;
    int *lengths = malloc((size_t)count * sizeof(int)), *places = malloc((size_t)count * sizeof(int)), at = 0;
    char what[99];
    for (int i = 0; i < count; i++) {
        seed = seed * 6364136223846793005 + 1442695040888963407;
        lengths[i] = length + (more ? (int)(seed >> 33) % (more + 1) : 0);
        places[i] = at;
        at += lengths[i] + length * (1 + (int)(seed >> 60) % 2);
    }
    snprintf(what, sizeof what, "%d runs of %d to %d bytes, from byte %zu", count, length, length + more, shift);
    CHECK_OK(MPI_Type_indexed(count, lengths, places, MPI_BYTE, &type));
    long before = calls ? calls("cuMemcpyAsync") + calls("cuMemcpy2DAsync_v2") : 0;
    check_layout(type, 1, shift, what);
    if (calls && calls("cuMemcpyAsync") + calls("cuMemcpy2DAsync_v2") - before > 32)
        FAIL("%s: %ld copies", what, calls("cuMemcpyAsync") + calls("cuMemcpy2DAsync_v2") - before);
    free(lengths);
    free(places);
}

static void check_lists(void)
{
    check_runs(100, 4, 0, 0);
    check_runs(300, 8, 0, 8); /* equal runs */
    check_runs(70000, 3, 0, 1); /* more than a list holds */
    check_runs(20000, 8, 8, 3);
    check_runs(2000, 16, 240, 0);
    check_runs(500, 1, 1000, 5);
    MPI_Datatype type;
    int lengths[101], places[101];
    for (int i = 0; i < 101; i++) {
        lengths[i] = i == 50 ? 100000 : 5; /* a long one among short ones */
        places[i] = i * 9 + (i > 50) * 100000 + (i & 1);
    }
    CHECK_OK(MPI_Type_indexed(101, lengths, places, MPI_BYTE, &type));
    check_layout(type, 1, 0, "a long run among short ones");
    CHECK_OK(MPI_Type_indexed(101, lengths, places, MPI_BYTE, &type));
    check_layout(type, 3, 2, "three times the same");
}

/* Layouts in contexts that are made and destroyed: what was registered or loaded in one is not there in the next. */
static void check_contexts(void)
{
    char *in = in_device, *inout = inout_device;
    for (int i = 0; i < 3; i++) {
        context other;
        MPI_Datatype type;
        CU(cu_create(&other, 0, 0));
        in_device = on_device(ROOM);
        inout_device = on_device(ROOM);
        CHECK_OK(MPI_Type_vector(20000, 4, 8, MPI_BYTE, &type));
        check_layout(type, 1, 0, "another context");
        CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
        CU(cu_free((uintptr_t)in_device));
        CU(cu_free((uintptr_t)inout_device));
        CU(cu_destroy(other));
        CU(cu_set(primary));
    }
    in_device = in;
    inout_device = inout;
}

/* A copy between two layouts, both on the device: by way of memory there. */
static void check_two_layouts(void)
{
    MPI_Datatype odd, even;
    size_t bytes = 20000 * sizeof(int);
    CHECK_OK(MPI_Type_vector(10000, 1, 2, MPI_INT, &odd));
    CHECK_OK(MPI_Type_commit(&odd));
    CHECK_OK(MPI_Type_vector(5000, 2, 4, MPI_INT, &even));
    CHECK_OK(MPI_Type_commit(&even));
    fill_with(in_host, INTEGER, bytes);
    to_device(in_device, in_host, bytes);
    fill_with(inout_host, INTEGER, bytes);
    to_device(inout_device, inout_host, bytes);
    CHECK_OK(MPI_Allgather(in_device, 1, odd, inout_device, 1, even, MPI_COMM_SELF));
    CHECK_OK(MPI_Allgather(in_host, 1, odd, inout_host, 1, even, MPI_COMM_SELF));
    CU(cu_to_host(result, (uintptr_t)inout_device, bytes));
    CHECK_INT(memcmp(result, inout_host, bytes), 0);
    CHECK_OK(MPI_Type_free(&odd));
    CHECK_OK(MPI_Type_free(&even));
}

/* Long collectives of device buffers: what they need on their way is in device memory, too. */
static void check_collectives(void)
{
    enum { N = 200000 };
    double *device = on_device(N * sizeof(double)), *sum = on_device(N * sizeof(double));
    double *back = malloc(N * sizeof *back), *mine = malloc(N * sizeof *mine);
    for (int i = 0; i < N; i++)
        mine[i] = i % 1000 + rank;
    to_device((char *)device, (char *)mine, N * sizeof(double));
    for (int persistent = 0; persistent < 2; persistent++) {
        MPI_Request request;
        if (!persistent) {
            CHECK_OK(MPI_Allreduce(device, sum, N, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD));
        } else {
            CHECK_OK(MPI_Iallreduce(device, sum, N, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &request));
            CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
        }
        CU(cu_to_host(back, (uintptr_t)sum, N * sizeof(double)));
        for (int i = 0; i < N; i++)
            if (back[i] != size * (i % 1000) + size * (size - 1) / 2)
                FAIL("allreduce: element %d is %g", i, back[i]);
    }
    CHECK_OK(MPI_Reduce_scatter_block(device, sum, N / size, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD));
    CU(cu_to_host(back, (uintptr_t)sum, N / size * sizeof(double)));
    for (int i = 0; i < N / size; i++)
        CHECK_INT((int)back[i], (rank * (N / size) + i) % 1000 + size - 1);
    CU(cu_free((uintptr_t)device));
    CU(cu_free((uintptr_t)sum));
    free(back);
    free(mine);
}

int main(int argc, char **argv)
{
    load_driver();
    calls = find_calls();
    start(&argc, &argv);
    return_errors(MPI_COMM_WORLD);
    return_errors(MPI_COMM_SELF);
    peer = size > 1 ? rank ^ 1 : 0;
    bool none = argc > 1 && strcmp(argv[1], "none") == 0;
    CU(cu_retain(&primary, 0));
    CU(cu_set(primary));
    in_host = malloc(ROOM);
    inout_host = malloc(ROOM);
    result = malloc(ROOM);
    in_device = on_device(ROOM);
    inout_device = on_device(ROOM);
    if (none)
        calls = NULL;
    check_reductions();
    if (calls && calls("cuModuleLoadData") - calls("cuModuleUnload") > KERNELS_MOST)
        FAIL("%ld kernels are loaded", calls("cuModuleLoadData") - calls("cuModuleUnload"));
    if (calls && calls("cuModuleLoadData") <= KERNELS_MOST)
        FAIL("only %ld kernels were loaded", calls("cuModuleLoadData"));
    check_layouts();
    check_lists();
    check_contexts();
    check_two_layouts();
    if (argc == 1)
        check_collectives();
    if (find_calls() && none)
        CHECK_INT(find_calls()("cuLaunchKernel"), 0);
    if (find_calls() && !none && find_calls()("cuLaunchKernel") < 40)
        FAIL("only %ld kernels were started", find_calls()("cuLaunchKernel"));
    CU(cu_free((uintptr_t)in_device));
    CU(cu_free((uintptr_t)inout_device));
    free(in_host);
    free(inout_host);
    free(result);
    return end();
}
