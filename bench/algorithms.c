/* SPDX-License-Identifier: BSD-3-Clause */
/* Every algorithm of every collective on all ranks: "operation bytes algorithm least median" lines, in us per
 * call, the slowest rank's time. Algorithms are those that MPI_T lists for coll_OPERATION_algorithm, so only Tern has
 * them; "-" is the library's own choice. Bytes are those of the vector, or of a block (gather, scatter, allgather,
 * alltoall, reduce_scatter): what bench/collsim calls BYTES.
 *
 * The least of many short batches is what the machine can do; what else it is doing stands in the median. */
#include "bench.h"

enum { BARRIER, BCAST, GATHER, SCATTER, ALLGATHER, ALLGATHERV, ALLTOALL, REDUCE, ALLREDUCE, REDUCE_SCATTER,
       REDUCE_SCATTER_BLOCK, SCAN, EXSCAN, KINDS };

static const char *const names[KINDS] = {
    "barrier", "bcast", "gather", "scatter", "allgather", "allgatherv", "alltoall", "reduce", "allreduce",
    "reduce_scatter", "reduce_scatter_block", "scan", "exscan",
};

struct call { int kind, n; int *counts, *displs; char *a, *b; MPI_Comm reversed; };

/* Calls shall not overlap, so that a batch takes as long as its calls do: who gets the result of one last begins the
 * next. Data goes out from the root upwards, so the root goes down; towards the root it comes from below, so it goes
 * up; what goes from the first rank to the last goes back in the communicator with the ranks reversed. */
static int root_of(const struct call *c, int i)
{
    return c->kind == BCAST || c->kind == SCATTER ? size - 1 - i % size : i % size;
}

static double collect(int repetitions, void *state)
{
    struct call *c = state;
    double begin = MPI_Wtime();
    for (int i = 0; i < repetitions; i++) {
        int root = root_of(c, i);
        MPI_Comm comm = i % 2 && (c->kind == SCAN || c->kind == EXSCAN) ? c->reversed : MPI_COMM_WORLD;
        switch (c->kind) {
        case BARRIER: MPI_Barrier(comm); break;
        case BCAST: MPI_Bcast(c->a, c->n, MPI_BYTE, root, comm); break;
        case GATHER: MPI_Gather(c->a, c->n, MPI_BYTE, c->b, c->n, MPI_BYTE, root, comm); break;
        case SCATTER: MPI_Scatter(c->a, c->n, MPI_BYTE, c->b, c->n, MPI_BYTE, root, comm); break;
        case ALLGATHER: MPI_Allgather(c->a, c->n, MPI_BYTE, c->b, c->n, MPI_BYTE, comm); break;
        case ALLGATHERV:
            MPI_Allgatherv(c->a, c->n, MPI_BYTE, c->b, c->counts, c->displs, MPI_BYTE, comm);
            break;
        case ALLTOALL: MPI_Alltoall(c->a, c->n, MPI_BYTE, c->b, c->n, MPI_BYTE, comm); break;
        case REDUCE: MPI_Reduce(c->a, c->b, c->n / 8, MPI_DOUBLE, MPI_SUM, root, comm); break;
        case ALLREDUCE: MPI_Allreduce(c->a, c->b, c->n / 8, MPI_DOUBLE, MPI_SUM, comm); break;
        case REDUCE_SCATTER:
            MPI_Reduce_scatter(c->a, c->b, c->counts, MPI_DOUBLE, MPI_SUM, comm);
            break;
        case REDUCE_SCATTER_BLOCK:
            MPI_Reduce_scatter_block(c->a, c->b, c->n / 8, MPI_DOUBLE, MPI_SUM, comm);
            break;
        case SCAN: MPI_Scan(c->a, c->b, c->n / 8, MPI_DOUBLE, MPI_SUM, comm); break;
        default: MPI_Exscan(c->a, c->b, c->n / 8, MPI_DOUBLE, MPI_SUM, comm);
        }
    }
    return MPI_Wtime() - begin;
}

/* The slowest rank's seconds, the same on every rank. */
static double batch(int repetitions, struct call *c)
{
    double slowest;
    MPI_Barrier(MPI_COMM_WORLD);
    double mine = collect(repetitions, c);
    MPI_Allreduce(&mine, &slowest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return slowest;
}

static int repetitions_of(const struct bench *b, double seconds)
{
    int repetitions = seconds > 0 ? (int) (b->batch_seconds / seconds) : 1000;
    return repetitions < 2 ? 2 : repetitions > 10000 ? 10000 : repetitions;
}

/* Batches until so many of them have not been faster than those before. The first calls grow rings and touch their pages, which
 * takes longer than what passes through them later, and many calls where each rank has a ring to each. */
static void measure(const struct bench *b, struct call *c, const char *algorithm)
{
    enum { MOST_BATCHES = 400 };
    static const double most_seconds = 0.7;
    double seconds[MOST_BATCHES], least = batch(2, c) / 2, spent = 0;
    int count = 0;
    for (int idle = 0; count < MOST_BATCHES && idle < b->batches; count++) {
        int repetitions = repetitions_of(b, least);
        seconds[count] = batch(repetitions, c) / repetitions;
        spent += seconds[count] * repetitions;
        idle = seconds[count] < 0.98 * least ? 0 : idle + 1;
        least = seconds[count] < least ? seconds[count] : least;
        if (spent > most_seconds && count >= b->batches)
            idle = b->batches;
    }
    qsort(seconds, (size_t) count, sizeof *seconds, bench_compare);
    if (rank == 0) {
        printf("%s %d %s %.4g %.4g\n", names[c->kind], c->n, algorithm, least * 1e6, seconds[count / 2] * 1e6);
        fflush(stdout);
    }
}

static void set_blocks(struct call *c)
{
    for (int r = 0; r < size; r++) {
        c->counts[r] = c->kind == REDUCE_SCATTER ? c->n / 8 : c->n;
        c->displs[r] = r * c->n;
    }
}

/* The variable coll_NAME_algorithm and its choices; MPI_T_ENUM_NULL: there is none. */
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
    const char *algorithms = NULL; /* -a, separated by commas; all without it */
    int provided;
    for (int i = 1; i + 1 < argc; i += 2)
        if (strcmp(argv[i], "-a") == 0)
            algorithms = argv[i + 1];
    MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
    struct call c;
    MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &c.reversed);
    c.counts = bench_buffer((size_t) size * sizeof(int));
    c.displs = bench_buffer((size_t) size * sizeof(int));
    c.a = bench_buffer((size_t) b.most_bytes * (size_t) size);
    c.b = bench_buffer((size_t) b.most_bytes * (size_t) size);
    memset(c.a, 0, (size_t) b.most_bytes * (size_t) size); /* sums of zero stay zero */
    for (c.kind = 0; c.kind < KINDS; c.kind++) {
        if (!bench_listed(b.operations, names[c.kind]))
            continue;
        MPI_T_cvar_handle handle;
        MPI_T_enum choices = find_algorithms(names[c.kind], &handle);
        int count = 1;
        if (choices != MPI_T_ENUM_NULL)
            MPI_T_enum_get_info(choices, &count, NULL, &provided);
        for (int s = 0; s < 5 && sizes[s] <= b.most_bytes && (s == 0 || c.kind != BARRIER); s++) {
            c.n = c.kind == BARRIER ? 0 : sizes[s];
            set_blocks(&c);
            for (int i = 0; i < count; i++) {
                char name[64] = "-";
                int length = sizeof name, value = 0;
                if (i)
                    MPI_T_enum_get_item(choices, i, &value, name, &length);
                if (i && !bench_listed(algorithms, name))
                    continue;
                if (choices != MPI_T_ENUM_NULL)
                    MPI_T_cvar_write(handle, &value);
                measure(&b, &c, name);
            }
            if (choices != MPI_T_ENUM_NULL)
                MPI_T_cvar_write(handle, &(int){ 0 });
        }
    }
    MPI_Comm_free(&c.reversed);
    MPI_T_finalize();
    MPI_Finalize();
    return 0;
}
