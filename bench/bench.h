/* SPDX-License-Identifier: BSD-3-Clause */
/* What the benchmarks share: options, output lines, medians and calibration.
 *
 * Every program prints lines "operation size value unit" on rank 0, and nothing else on standard
 * output. A value is the median over several batches, or the least of them (-v least: what the
 * machine does when nothing else disturbs it). A batch repeats the operation until the batch
 * lasts batch_seconds, so that neither the clock's resolution nor a single interruption matters.
 * Only MPI-3.1 is used: any mpicc builds these programs. */
#ifndef BENCH_H
#define BENCH_H

#include <limits.h>
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* of MPI_COMM_WORLD; set by bench_start */
static int rank, size;

/* The options of a benchmark. */
struct bench {
    double batch_seconds;   /* how long one batch should last */
    int batches;            /* number of batches; the result is their median ... */
    int least;              /* ... or, if true, their least value */
    long most_bytes;        /* bytes of the largest message */
    /* names separated by commas, if the program has several operations; NULL: all */
    const char *operations;
};

/* Initializes MPI at thread level `level` and reads the options: -b SECONDS per batch, -n batches,
 * -m bytes of the largest message, -o operations separated by commas, -v least or median. Exits with 2 if MPI does not
 * provide the level. */
static inline struct bench bench_start_threads(int *argc, char ***argv, long most_bytes, int level)
{
    struct bench b = { 0.02, 11, 0, most_bytes, NULL };
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
        else if (strcmp(option, "-v") == 0)
            b.least = strcmp(value, "least") == 0;
    }
    if (b.batches < 1)
        b.batches = 1;
    return b;
}

/* Initializes MPI at MPI_THREAD_SINGLE and reads the options. */
static inline struct bench bench_start(int *argc, char ***argv, long most_bytes)
{
    return bench_start_threads(argc, argv, most_bytes, MPI_THREAD_SINGLE);
}

/* Prints an output line on rank 0. */
static inline void bench_print(const char *operation, long bytes, double value, const char *unit)
{
    if (rank == 0) {
        printf("%s %ld %.4g %s\n", operation, bytes, value, unit);
        fflush(stdout);
    }
}

/* Returns true if `list`, words separated by commas, contains `word`, or if `list` is NULL. */
static inline int bench_listed(const char *list, const char *word)
{
    size_t length = strlen(word);
    for (const char *at = list; at && (at = strstr(at, word)); at += length)
        if ((at == list || at[-1] == ',') && (at[length] == ',' || !at[length]))
            return 1;
    return !list;
}

/* Exits with 2 if the program runs on fewer than `least` ranks. */
static inline void bench_need_ranks(int least)
{
    if (size < least) {
        if (rank == 0)
            fprintf(stderr, "this benchmark needs at least %d ranks, it runs on %d\n", least, size);
        MPI_Finalize();
        exit(2);
    }
}

/* Compares two doubles, for qsort. */
static inline int bench_compare(const void *a, const void *b)
{
    double x = *(const double *) a, y = *(const double *) b;
    return (x > y) - (x < y);
}

/* Repeats the measured operation `repetitions` times. Returns this rank's seconds for all of
 * them. */
typedef double (*bench_batch)(int repetitions, void *state);

/* Returns the seconds of one repetition: the slowest rank's, as the median over all batches, or
 * the least of them if b->least. All ranks get the same result. Collective. */
static inline double bench_median(const struct bench *b, bench_batch run, void *state)
{
    int repetitions = 1;
    double *seconds = malloc((size_t) b->batches * sizeof(double)), mine, slowest;
    if (seconds == NULL)
        MPI_Abort(MPI_COMM_WORLD, 3);
    run(3, state);
    /* Repeat more until a batch is long enough. All ranks decide by the slowest rank's time. */
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
    double result = b->least ? seconds[0] : median;
    free(seconds);
    return result;
}

/* Returns page-aligned memory that has been written to, so that no page fault falls into the
 * measurement. The caller frees it. */
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

/* A message that goes to and fro between ranks 0 and 1: the state of the bench_batch below. Other
 * ranks wait in a barrier, as they would in a program. */
struct bench_pair { void *buffer; int count; MPI_Datatype type; };

/* A bench_batch: `state` is a struct bench_pair. One repetition is there and back. */
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
