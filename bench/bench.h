/* SPDX-License-Identifier: BSD-3-Clause */
/* What the benchmarks share: options, output lines, medians, and calibration.
 *
 * Every program prints lines "operation size value unit" on rank 0 and nothing else on stdout. A
 * value is the median over batches; a batch is repeated so often that it lasts batch_seconds, so
 * that neither the clock nor a single interruption counts. Only MPI-3.1: any mpicc builds it. */
#ifndef BENCH_H
#define BENCH_H

#include <limits.h>
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int rank, size;

struct bench {
    double batch_seconds;   /* how long one batch should last */
    int batches;            /* how many batches the median is taken of */
    long most_bytes;        /* largest message */
    const char *operations; /* NULL: all; where there are several to choose from */
};

/* Options: -b SECONDS per batch, -n batches, -m largest message in bytes, -o operations, separated by commas. */
static inline struct bench bench_start_threads(int *argc, char ***argv, long most_bytes, int level)
{
    struct bench b = { 0.02, 11, most_bytes, NULL };
    int provided;
    MPI_Init_thread(argc, argv, level, &provided);
    if (provided < level) {
        fprintf(stderr, "this benchmark needs thread level %d, there is %d\n", level, provided);
        exit(2);
    }
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int i = 1; i + 1 < *argc; i += 2) {
        const char *option = (*argv)[i], *value = (*argv)[i + 1];
        if (strcmp(option, "-b") == 0)
            b.batch_seconds = atof(value);
        else if (strcmp(option, "-n") == 0)
            b.batches = atoi(value);
        else if (strcmp(option, "-m") == 0)
            b.most_bytes = atol(value);
        else if (strcmp(option, "-o") == 0)
            b.operations = value;
    }
    if (b.batches < 1)
        b.batches = 1;
    return b;
}

static inline struct bench bench_start(int *argc, char ***argv, long most_bytes)
{
    return bench_start_threads(argc, argv, most_bytes, MPI_THREAD_SINGLE);
}

static inline void bench_print(const char *operation, long bytes, double value, const char *unit)
{
    if (rank == 0) {
        printf("%s %ld %.4g %s\n", operation, bytes, value, unit);
        fflush(stdout);
    }
}

/* Whether the word is in a list with commas; in no list at all, NULL, are all. */
static inline int bench_listed(const char *list, const char *word)
{
    size_t length = strlen(word);
    for (const char *at = list; at && (at = strstr(at, word)); at += length)
        if ((at == list || at[-1] == ',') && (at[length] == ',' || !at[length]))
            return 1;
    return !list;
}

static inline void bench_need_ranks(int least)
{
    if (size < least) {
        if (rank == 0)
            fprintf(stderr, "this benchmark needs at least %d ranks, it runs on %d\n", least, size);
        MPI_Finalize();
        exit(2);
    }
}

static inline int bench_compare(const void *a, const void *b)
{
    double x = *(const double *) a, y = *(const double *) b;
    return (x > y) - (x < y);
}

/* Runs `repetitions` of what is measured, returns this rank's seconds for all of them. */
typedef double (*bench_batch)(int repetitions, void *state);

/* Median over batches of the slowest rank's seconds per repetition; the same on every rank. */
static inline double bench_median(const struct bench *b, bench_batch run, void *state)
{
    int repetitions = 1;
    double *seconds = malloc((size_t) b->batches * sizeof(double)), mine, slowest;
    if (seconds == NULL)
        MPI_Abort(MPI_COMM_WORLD, 3);
    run(3, state);
    /* Double until a batch is long enough; all ranks decide by the slowest. */
    for (;;) {
        MPI_Barrier(MPI_COMM_WORLD);
        mine = run(repetitions, state);
        MPI_Allreduce(&mine, &slowest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
        if (slowest >= b->batch_seconds || repetitions >= 1 << 24)
            break;
        double factor = slowest > 0 ? b->batch_seconds / slowest * 1.2 : 16;
        repetitions = (int) (repetitions * (factor > 16 ? 16 : factor < 2 ? 2 : factor));
    }
    for (int i = 0; i < b->batches; i++) {
        MPI_Barrier(MPI_COMM_WORLD);
        mine = run(repetitions, state);
        MPI_Allreduce(&mine, &slowest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
        seconds[i] = slowest / repetitions;
    }
    qsort(seconds, (size_t) b->batches, sizeof(double), bench_compare);
    double median = b->batches % 2 ? seconds[b->batches / 2]
                    : (seconds[b->batches / 2 - 1] + seconds[b->batches / 2]) / 2;
    free(seconds);
    return median;
}

/* Touched, so that no page fault falls into the measurement. */
static inline void *bench_buffer(size_t bytes)
{
    void *p = NULL;
    if (posix_memalign(&p, 4096, bytes ? bytes : 1) != 0) {
        fprintf(stderr, "no memory for %zu bytes\n", bytes);
        MPI_Abort(MPI_COMM_WORLD, 3);
    }
    memset(p, 1, bytes);
    return p;
}

/* What goes to and fro between ranks 0 and 1; a bench_batch. Other ranks wait in a barrier, as they
 * would in a program. */
struct bench_pair { void *buffer; int count; MPI_Datatype type; };

static inline double bench_ping_pong(int repetitions, void *state)
{
    struct bench_pair *p = state;
    if (rank > 1)
        return 0;
    double begin = MPI_Wtime();
    for (int i = 0; i < repetitions; i++) {
        if (rank == 0)
            MPI_Send(p->buffer, p->count, p->type, 1, 1, MPI_COMM_WORLD);
        MPI_Recv(p->buffer, p->count, p->type, 1 - rank, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (rank == 1)
            MPI_Send(p->buffer, p->count, p->type, 0, 1, MPI_COMM_WORLD);
    }
    return MPI_Wtime() - begin;
}

#endif
