/* SPDX-License-Identifier: BSD-3-Clause */
/* How many bytes collectives on device buffers pass between two sides of a machine. Arguments: the device of each rank, a digit
 * each, and the side of each device, 0 or 1, likewise; `near`: a vector crosses as often as in a ring that crosses once in each
 * direction; `sums`: only those of allreduce and allgather do; `any`: only results are checked. */
#include "../mpi/check.h"
#include "fake_cuda.h"
#include "ints.h"

enum { N = 280 << 10, DEVICES = 8 }; /* divisible by the number of ranks */

static long (*bytes_between)(int, int);
static const char *devices, *sides;
static bool near, near_rooted;

/* Returns the bytes that all ranks have copied from one side to the other one so far. */
static long crossed(int from)
{
    long mine = 0, all;
    for (int a = 0; a < DEVICES && sides[a]; a++)
        for (int b = 0; b < DEVICES && sides[b]; b++)
            if (sides[a] - '0' == from && sides[b] != sides[a])
                mine += bytes_between(a, b);
    CHECK_OK(MPI_Allreduce(&mine, &all, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD));
    return all;
}

/* Checks that at most `parts` parts of a vector have crossed in each direction since `before`. A vector has a part for each rank. */
static void expect_crossed(const char *what, const long before[2], long parts, bool checked)
{
    for (int from = 0; from < 2; from++) {
        long bytes = crossed(from) - before[from], most = parts * (long)(N * sizeof(int)) / size;
        if (rank == 0)
            printf("%s: %ld bytes from side %d, a vector has %ld\n", what, bytes, from, (long)(N * sizeof(int)));
        if (checked && bytes > most && rank == 0)
            FAIL("%s: %ld bytes from side %d to the other, expected %ld at most", what, bytes, from, most);
    }
}

static void note_crossed(long before[2])
{
    before[0] = crossed(0);
    before[1] = crossed(1);
}

static void check_allreduce(int *in, int *out)
{
    long before[2];
    int sum = 0;
    for (int r = 0; r < size; r++)
        sum += 1000 * r;
    int *host = malloc(N * sizeof *host);
    set_ints(in, N, 1000 * rank);
    note_crossed(before);
    CHECK_OK(MPI_Allreduce(in, out, N, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
    expect_crossed("allreduce", before, 2 * (size - 1), near);
    CU(cu_to_host(host, (uintptr_t)out, N * sizeof *host));
    for (int i = 0; i < N; i++)
        CHECK_INT(host[i], sum + size * i);
    free(host);
}

/* An operation that does not commute: pairs (a, b) are maps from x to a x + b modulo 2^32, done one after the other. */
static void compose(void *in, void *inout, int *count, MPI_Datatype *type)
{
    int *low = in, *high = inout;
    (void)type;
    for (int i = 0; i + 1 < *count; i += 2) {
        unsigned a = (unsigned)low[i] * (unsigned)high[i], b = (unsigned)high[i] * (unsigned)low[i + 1] + (unsigned)high[i + 1];
        high[i] = (int)a;
        high[i + 1] = (int)b;
    }
}

static void check_order(int *in, int *out)
{
    MPI_Op op;
    unsigned a = 1, b = 0;
    int *host = malloc(N * sizeof *host);
    CHECK_OK(MPI_Op_create(compose, 0, &op));
    for (int i = 0; i < N; i += 2) {
        host[i] = 2 * rank + 3;
        host[i + 1] = rank + 1;
    }
    CU(cu_to_device((uintptr_t)in, host, N * sizeof *host));
    CHECK_OK(MPI_Allreduce(in, out, N, MPI_INT, op, MPI_COMM_WORLD));
    for (int r = 0; r < size; r++) {
        a *= 2 * (unsigned)r + 3;
        b = (2 * (unsigned)r + 3) * b + (unsigned)r + 1;
    }
    CU(cu_to_host(host, (uintptr_t)out, N * sizeof *host));
    for (int i = 0; i < N; i += 2) {
        CHECK_INT(host[i], (int)a);
        CHECK_INT(host[i + 1], (int)b);
    }
    CHECK_OK(MPI_Op_free(&op));
    free(host);
}

static void check_allgather(int *in, int *out)
{
    long before[2];
    set_ints(in, N, 1000 * rank);
    note_crossed(before);
    CHECK_OK(MPI_Allgather(in, N, MPI_INT, out, N, MPI_INT, MPI_COMM_WORLD));
    expect_crossed("allgather", before, size * (size - 1), near);
    for (int r = 0; r < size; r++)
        expect_ints(out + (size_t)r * N, N, 1000 * r, "allgather");
}

static void check_rooted(int *in, int *out)
{
    long before[2];
    for (int root = 0; root < size; root++) {
        set_ints(in, N, rank == root ? 1000 * root : -1);
        note_crossed(before);
        CHECK_OK(MPI_Bcast(in, N, MPI_INT, root, MPI_COMM_WORLD));
        expect_crossed("bcast", before, size, near_rooted);
        expect_ints(in, N, 1000 * root, "bcast");
        note_crossed(before);
        CHECK_OK(MPI_Reduce(in, out, N, MPI_INT, MPI_MAX, root, MPI_COMM_WORLD));
        expect_crossed("reduce", before, size, near_rooted);
        if (rank == root)
            expect_ints(out, N, 1000 * root, "reduce");
    }
}

int main(int argc, char **argv)
{
    context primary;
    if (argc < 4)
        return 2;
    devices = argv[1];
    sides = argv[2];
    near_rooted = strcmp(argv[3], "near") == 0;
    near = near_rooted || strcmp(argv[3], "sums") == 0;
    load_driver();
    *(void **)&bytes_between = dlsym(dlopen(getenv("FAKE_CUDA"), RTLD_NOW), "fake_cuda_bytes");
    start(&argc, &argv);
    CU(cu_retain(&primary, devices[rank] - '0'));
    CU(cu_set(primary));
    int *in = take_ints(DEVICE, N), *out = take_ints(DEVICE, N * size);
    check_allreduce(in, out);
    check_allgather(in, out);
    check_rooted(in, out);
    check_order(in, out);
    give_ints(DEVICE, in);
    give_ints(DEVICE, out);
    return end();
}
