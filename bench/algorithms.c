/* SPDX-License-Identifier: BSD-3-Clause */
/* Measures every algorithm of every collective on all ranks. Lines are "operation bytes algorithm
 * least median", in us per call, the slowest rank's time. Algorithms are those that MPI_T lists for
 * coll_OPERATION_algorithm, so only Tern has them; "-" is the library's own choice. Bytes are those
 * of the vector, or of a block (gather, scatter, allgather, alltoall, reduce_scatter): what
 * bench/collsim calls BYTES.
 *
 * The least of many short batches shows what the machine can do; the median also contains its other
 * work. */
#include "calls.h"

#include <math.h>

struct measured {
    const struct operation *operation;
    struct call call;
};

/* Runs the calls so that they do not overlap: then a batch takes as long as its calls. The rank
 * that gets the result of one call last begins the next one. If data goes to the root, the rank
 * that was root sends first next time. Calls that pass from the first rank to the last alternate
 * with the communicator of reversed ranks. */
static double collect(int repetitions, struct measured *m)
{
    int step = m->operation->downward ? size - 1 : 1;
    double begin = MPI_Wtime();
    /* use few roots repeatedly: each root makes rings to all others the first time */
    m->call.root = 0;
    for (int i = 0; i < repetitions; i++) {
        m->call.root = (m->call.root + step) % size;
        m->call.turn = i;
        m->operation->call(&m->call);
    }
    return MPI_Wtime() - begin;
}

/* Returns the slowest rank's seconds, which are the same on every rank. */
static double batch(int repetitions, struct measured *m)
{
    double slowest;
    MPI_Barrier(MPI_COMM_WORLD);
    double mine = collect(repetitions, m);
    MPI_Allreduce(&mine, &slowest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return slowest;
}

/* Returns how many calls take half a batch's time or more. In a batch of few calls, some ranks
 * would find all data there when they begin. */
static int repetitions_of(const struct bench *b, struct measured *m)
{
    int repetitions = 2;
    while (batch(repetitions, m) < b->batch_seconds / 2 && repetitions < 10000)
        repetitions *= 2;
    return repetitions;
}

/* Measures batches until b->batches of them in a row were not faster than the fastest. The first
 * calls grow rings and touch their pages. That takes longer than the later transfers, and takes
 * many calls if each rank has a ring to each other. */
static void measure(const struct bench *b, struct measured *m, const char *algorithm)
{
    enum { MOST_BATCHES = 400 };
    static const double most_seconds = 0.7;
    double seconds[MOST_BATCHES], least = HUGE_VAL, spent = 0;
    int count = 0, repetitions = repetitions_of(b, m);
    for (int idle = 0; count < MOST_BATCHES && idle < b->batches; count++) {
        seconds[count] = batch(repetitions, m) / repetitions;
        spent += seconds[count] * repetitions;
        idle = seconds[count] < 0.98 * least ? 0 : idle + 1;
        least = seconds[count] < least ? seconds[count] : least;
        if (spent > most_seconds && count >= b->batches)
            idle = b->batches;
    }
    qsort(seconds, (size_t) count, sizeof *seconds, bench_compare);
    if (rank == 0) {
        printf("%s %d %s %.4g %.4g\n", m->operation->name, m->call.n, algorithm, least * 1e6,
               seconds[count / 2] * 1e6);
        fflush(stdout);
    }
}

/* Returns the choices of the variable coll_NAME_algorithm, with a handle of it, or MPI_T_ENUM_NULL
 * if there is none. */
static MPI_T_enum find_algorithms(const char *name, MPI_T_cvar_handle *handle)
{
    char variable[64];
    int index, length = 0, verbosity, bind, scope, count;
    MPI_Datatype type;
    MPI_T_enum choices = MPI_T_ENUM_NULL;
    snprintf(variable, sizeof variable, "coll_%s_algorithm", name);
    if (MPI_T_cvar_get_index(variable, &index) != MPI_SUCCESS)
        return MPI_T_ENUM_NULL;
    MPI_T_cvar_get_info(index, NULL, &length, &verbosity, &type, &choices, NULL, &length, &bind, &scope);
    if (choices != MPI_T_ENUM_NULL)
        MPI_T_cvar_handle_alloc(index, NULL, handle, &count);
    return choices;
}

int main(int argc, char **argv)
{
    struct bench b = bench_start(&argc, &argv, 1 << 20);
    static const int sizes[] = { 8, 1 << 10, 16 << 10, 256 << 10, 1 << 20 };
    const char *algorithms = NULL; /* of -a, separated by commas; NULL: all */
    int provided;
    for (int i = 1; i + 1 < argc; i += 2)
        if (strcmp(argv[i], "-a") == 0)
            algorithms = argv[i + 1];
    MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
    struct measured m = { .call = call_begin(b.most_bytes) };
    for (const struct operation *o = operations; o->name; o++) {
        if (!o->priced || !bench_listed(b.operations, o->name))
            continue;
        m.operation = o;
        MPI_T_cvar_handle handle;
        MPI_T_enum choices = find_algorithms(o->name, &handle);
        int count = 1;
        if (choices != MPI_T_ENUM_NULL)
            MPI_T_enum_get_info(choices, &count, NULL, &provided);
        for (int s = 0; s < 5 && sizes[s] <= b.most_bytes && (s == 0 || o->call != barrier); s++) {
            call_set_bytes(&m.call, o->call == barrier ? 0 : sizes[s]);
            for (int i = 0; i < count; i++) {
                char name[64] = "-";
                int length = sizeof name, value = 0;
                if (i)
                    MPI_T_enum_get_item(choices, i, &value, name, &length);
                if (i && !bench_listed(algorithms, name))
                    continue;
                if (choices != MPI_T_ENUM_NULL)
                    MPI_T_cvar_write(handle, &value);
                measure(&b, &m, name);
            }
            if (choices != MPI_T_ENUM_NULL)
                MPI_T_cvar_write(handle, &(int){ 0 });
        }
    }
    call_end(&m.call);
    MPI_T_finalize();
    MPI_Finalize();
    return 0;
}
