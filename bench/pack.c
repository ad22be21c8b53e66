/* SPDX-License-Identifier: BSD-3-Clause */

/* MPI_Pack and MPI_Unpack of vectors and subarrays, in turn with memcpy of as many bytes: GB/s of
 * packed data, and the ratios of the medians. Then blocks and runs at random places, some of which
 * touch, in turn with a plain loop that knows the size of a block: ns per block, and ratios. One
 * process. Arguments: block sizes (none: all), or `places` for the second table only.
 *
 * A layout touches more memory than memcpy does. If the gap is as large as the block, the lines of
 * the gaps are often fetched too, so with buffers beyond the caches packing cannot be as fast as
 * memcpy. With a gap of 16 bytes, the difference is the library's own cost. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Many short rounds: few of them are interrupted, and the median ignores those. */
enum { ROUNDS = 101, ROUND_BYTES = 1 << 19 };

enum action { COPY, PACK, UNPACK, ACTIONS };

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void act(enum action action, MPI_Datatype type, char *memory, char *packed, int bytes)
{
    int position = 0;
    switch (action) {
    case COPY:
        memcpy(packed, memory, (size_t)bytes);
        __asm__ volatile("" ::: "memory");
        break;
    case PACK: MPI_Pack(memory, 1, type, packed, bytes, &position, MPI_COMM_SELF); break;
    default: MPI_Unpack(packed, bytes, &position, memory, 1, type, MPI_COMM_SELF);
    }
}

/* Stores the median seconds of each action. */
static void measure(MPI_Datatype type, char *memory, char *packed, int bytes, double seconds[ACTIONS])
{
    static double times[ACTIONS][ROUNDS];
    int repeats = ROUND_BYTES / bytes + 1;
    int rounds = bytes > 16 << 20 ? ROUNDS / 8 : bytes > ROUND_BYTES ? ROUNDS / 2 : ROUNDS;
    for (int round = 0; round < rounds; round++)
        for (int action = 0; action < ACTIONS; action++) {
            act(action, type, memory, packed, bytes); /* fills the caches, as far as the data fit */
            double begin = MPI_Wtime();
            for (int i = 0; i < repeats; i++)
                act(action, type, memory, packed, bytes);
            times[action][round] = (MPI_Wtime() - begin) / repeats;
        }
    for (int action = 0; action < ACTIONS; action++) {
        qsort(times[action], (size_t)rounds, sizeof(double), by_value);
        seconds[action] = times[action][rounds / 2];
    }
}

static void bench(const char *name, MPI_Datatype type, size_t span, int block, int gap)
{
    int bytes;
    double seconds[ACTIONS];
    MPI_Type_commit(&type);
    MPI_Type_size(type, &bytes);
    char *memory = aligned_alloc(4096, (span + 4095) / 4096 * 4096),
         *packed = aligned_alloc(4096, ((size_t)bytes + 4095) / 4096 * 4096);
    if (!memory || !packed) {
        fprintf(stderr, "pack: no memory for %zu bytes\n", span);
        exit(1);
    }
    memset(memory, 1, span);
    memset(packed, 2, (size_t)bytes);
    measure(type, memory, packed, bytes, seconds);
    printf("%-10s %9d %6d %6d %8.2f %8.2f %8.2f %7.2f %6.2f\n", name, bytes, block, gap,
           bytes / seconds[COPY] * 1e-9, bytes / seconds[PACK] * 1e-9,
           bytes / seconds[UNPACK] * 1e-9, seconds[COPY] / seconds[PACK],
           seconds[COPY] / seconds[UNPACK]);
    fflush(stdout);
    MPI_Type_free(&type);
    free(memory);
    free(packed);
}

/* Measures about `total` bytes in blocks of `block`: as a vector, and as a box of three dimensions
 * whose planes of 16 rows are cut out of planes of 20. */
static void bench_block(int total, int block, int gap)
{
    enum { ROWS = 16, ALL_ROWS = 20 };
    MPI_Datatype type;
    int count = total / block, planes = count / ROWS;
    MPI_Type_vector(count, block, block + gap, MPI_BYTE, &type);
    bench("vector", type, (size_t)count * (size_t)(block + gap), block, gap);
    if (planes < 2)
        return;
    int sizes[] = {planes, ALL_ROWS, block + gap}, part[] = {planes, ROWS, block}, start[] = {0, 2, 0};
    MPI_Type_create_subarray(3, sizes, part, start, MPI_ORDER_C, MPI_BYTE, &type);
    bench("subarray", type, (size_t)planes * ALL_ROWS * (size_t)(block + gap), block, gap);
}

/* --- blocks at places, compared with a plain loop --- */

enum { PLACES = 20000 };
static int places[PLACES], lengths[PLACES];

typedef void plain_loop(char *packed, char *memory, int count, int pack);

/* The size is a constant for the compiler, as in a program that packs by hand. */
#define PLAIN_LOOP(size)                                                                           \
    static void plain_##size(char *packed, char *memory, int count, int pack)                      \
    {                                                                                              \
        if (pack)                                                                                  \
            for (int i = 0; i < count; i++, packed += size)                                        \
                memcpy(packed, memory + places[i], size);                                          \
        else                                                                                       \
            for (int i = 0; i < count; i++, packed += size)                                        \
                memcpy(memory + places[i], packed, size);                                          \
    }
PLAIN_LOOP(4)
PLAIN_LOOP(8)
PLAIN_LOOP(12)
PLAIN_LOOP(16)
PLAIN_LOOP(24)
PLAIN_LOOP(32)
PLAIN_LOOP(40)
PLAIN_LOOP(64)

/* Copies runs of doubles. */
static void plain_runs(char *packed, char *memory, int count, int pack)
{
    double *in_stream = (double *)packed;
    for (int i = 0; i < count; i++) {
        double *at = (double *)(memory + places[i]);
        for (int k = 0; k < lengths[i] / 8; k++, in_stream++)
            *(pack ? in_stream : &at[k]) = *(pack ? &at[k] : in_stream);
    }
}

static const struct {
    int size;
    plain_loop *loop;
} plain[] = {{4, plain_4},   {8, plain_8},   {12, plain_12}, {16, plain_16},
             {24, plain_24}, {32, plain_32}, {40, plain_40}, {64, plain_64}};

/* Stores nanoseconds per block: MPI_Pack, packing loop, MPI_Unpack, unpacking loop. */
static void measure_places(MPI_Datatype type, plain_loop *loop, int count, char *memory, char *packed,
                           int bytes, double ns[4])
{
    static double times[4][ROUNDS];
    int repeats = 40000 / count + 1, position;
    for (int round = 0; round < ROUNDS; round++)
        for (int what = 0; what < 4; what++) {
            double begin = MPI_Wtime();
            for (int i = 0; i < repeats; i++) {
                position = 0;
                if (what == 0)
                    MPI_Pack(memory, 1, type, packed, bytes, &position, MPI_COMM_SELF);
                else if (what == 2)
                    MPI_Unpack(packed, bytes, &position, memory, 1, type, MPI_COMM_SELF);
                else
                    loop(packed, memory, count, what == 1);
                __asm__ volatile("" ::: "memory");
            }
            times[what][round] = (MPI_Wtime() - begin) / repeats;
        }
    for (int what = 0; what < 4; what++) {
        qsort(times[what], ROUNDS, sizeof(double), by_value);
        ns[what] = times[what][ROUNDS / 2] / count * 1e9;
    }
}

/* Every fourth block touches the block before. `size` 0 means runs of 1 to 8 doubles. */
static void bench_places(int size, plain_loop *loop, int count)
{
    MPI_Datatype type;
    double ns[4];
    int at = 0, bytes = 0;
    srand(1);
    for (int i = 0; i < count; i++) {
        lengths[i] = size ? size : 8 * (1 + rand() % 8);
        at += (size ? size : 8) * (rand() % 4);
        places[i] = at;
        at += lengths[i];
        bytes += lengths[i];
    }
    MPI_Aint *displacements = malloc((size_t)count * sizeof *displacements);
    char *memory = aligned_alloc(4096, ((size_t)at + 4095) / 4096 * 4096),
         *packed = aligned_alloc(4096, ((size_t)bytes + 4095) / 4096 * 4096);
    if (!displacements || !memory || !packed) {
        fprintf(stderr, "pack: no memory for %d bytes\n", at);
        exit(1);
    }
    for (int i = 0; i < count; i++)
        displacements[i] = places[i];
    if (size)
        MPI_Type_create_hindexed_block(count, size, displacements, MPI_BYTE, &type);
    else
        MPI_Type_create_hindexed(count, lengths, displacements, MPI_BYTE, &type);
    MPI_Type_commit(&type);
    memset(memory, 1, (size_t)at);
    memset(packed, 2, (size_t)bytes);
    measure_places(type, loop, count, memory, packed, bytes, ns);
    printf("%-10s %9d %6d %8.2f %8.2f %8.2f %8.2f %7.2f %6.2f\n", size ? "blocks" : "runs", count,
           size, ns[0], ns[1], ns[2], ns[3], ns[0] / ns[1], ns[2] / ns[3]);
    fflush(stdout);
    MPI_Type_free(&type);
    free(displacements);
    free(memory);
    free(packed);
}

static void bench_all_places(void)
{
    static const int counts[] = {200, 2000, PLACES};
    printf("at places  count     size     pack     loop   unpack     loop    p/l    u/l\n");
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        for (size_t j = 0; j < sizeof plain / sizeof *plain; j++)
            bench_places(plain[j].size, plain[j].loop, counts[i]);
        bench_places(0, plain_runs, counts[i]);
    }
}

int main(int argc, char **argv)
{
    static const int totals[] = {8 << 10, 64 << 10, 4 << 20, 64 << 20};
    static const int blocks[] = {8, 24, 64, 100, 128, 256, 1024, 4096};
    MPI_Init(&argc, &argv);
    if (argc > 1 && strcmp(argv[1], "places") == 0) {
        bench_all_places();
        MPI_Finalize();
        return 0;
    }
    printf("layout         bytes  block    gap   memcpy     pack   unpack    p/m    u/m\n");
    for (size_t i = 0; i < sizeof totals / sizeof *totals; i++)
        for (size_t j = 0; j < sizeof blocks / sizeof *blocks; j++) {
            int wanted = argc < 2;
            for (int k = 1; k < argc; k++)
                wanted |= atoi(argv[k]) == blocks[j];
            if (!wanted)
                continue;
            bench_block(totals[i], blocks[j], blocks[j]);
            if (blocks[j] >= 64)
                bench_block(totals[i], blocks[j], 16);
        }
    bench_all_places();
    MPI_Finalize();
    return 0;
}
