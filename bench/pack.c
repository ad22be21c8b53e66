/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * MPI_Pack and MPI_Unpack of vectors, and memcpy of as many bytes, in GB/s of packed data. One
 * process.
 *
 * A vector touches more memory than memcpy does: with `gap` as large as the block the lines of the
 * gaps are often fetched too, so that large buffers cannot reach memcpy; with a gap of 16 bytes the
 * difference is the library's own.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Short rounds, and many: the best one was not interrupted. */
enum { ROUNDS = 40, ROUND_BYTES = 1 << 20 };

struct speeds {
    double copy, pack, unpack; /* seconds, the best of ROUNDS */
};

static void keep_best(double *best, double begin, int repeats)
{
    double seconds = (MPI_Wtime() - begin) / repeats;
    if (*best == 0 || seconds < *best)
        *best = seconds;
}

static struct speeds measure(MPI_Datatype vector, char *memory, char *packed, int bytes)
{
    struct speeds speeds = {0, 0, 0};
    int repeats = ROUND_BYTES / bytes + 1, rounds = bytes < ROUND_BYTES ? ROUNDS : ROUNDS / 8;
    for (int round = 0; round < rounds; round++) {
        double begin = MPI_Wtime();
        for (int i = 0; i < repeats; i++) {
            memcpy(packed, memory, (size_t)bytes);
            __asm__ volatile("" ::: "memory");
        }
        keep_best(&speeds.copy, begin, repeats);

        begin = MPI_Wtime();
        for (int i = 0, position = 0; i < repeats; i++, position = 0)
            MPI_Pack(memory, 1, vector, packed, bytes, &position, MPI_COMM_SELF);
        keep_best(&speeds.pack, begin, repeats);

        begin = MPI_Wtime();
        for (int i = 0, position = 0; i < repeats; i++, position = 0)
            MPI_Unpack(packed, bytes, &position, memory, 1, vector, MPI_COMM_SELF);
        keep_best(&speeds.unpack, begin, repeats);
    }
    return speeds;
}

static void bench(int total, int block, int gap)
{
    int count = total / block, bytes = count * block;
    size_t span = (size_t)count * (size_t)(block + gap);
    char *memory = malloc(span), *packed = malloc((size_t)bytes);
    MPI_Datatype vector;
    if (!memory || !packed) {
        fprintf(stderr, "pack: no memory for %zu bytes\n", span);
        exit(1);
    }
    memset(memory, 1, span);
    memset(packed, 2, (size_t)bytes);
    MPI_Type_vector(count, block, block + gap, MPI_BYTE, &vector);
    MPI_Type_commit(&vector);
    struct speeds speeds = measure(vector, memory, packed, bytes);
    printf("%10d %6d %6d %8.2f %8.2f %8.2f %8.2f %8.2f\n", bytes, block, gap,
           bytes / speeds.copy * 1e-9, bytes / speeds.pack * 1e-9, bytes / speeds.unpack * 1e-9,
           speeds.copy / speeds.pack, speeds.copy / speeds.unpack);
    MPI_Type_free(&vector);
    free(memory);
    free(packed);
}

int main(int argc, char **argv)
{
    static const int totals[] = {8 << 10, 256 << 10, 64 << 20};
    static const int blocks[] = {1, 2, 4, 8, 16, 24, 40, 64, 100, 128, 256, 1024, 4096};
    MPI_Init(&argc, &argv);
    printf("     bytes  block    gap   memcpy     pack   unpack    p/m    u/m\n");
    for (size_t i = 0; i < sizeof totals / sizeof *totals; i++)
        for (size_t j = 0; j < sizeof blocks / sizeof *blocks; j++) {
            bench(totals[i], blocks[j], blocks[j]);
            if (blocks[j] >= 64)
                bench(totals[i], blocks[j], 16);
        }
    MPI_Finalize();
    return 0;
}
