/* SPDX-License-Identifier: BSD-3-Clause */
/* Measures every blocking collective (calls.h) on all ranks: time per call, the slowest rank's,
 * median over batches. -o chooses operations, separated by commas.
 *
 * The same bytes are sent again and again. So from the second time on, a rank that reads them in
 * the sender's memory finds them in its own cache, which does not happen in real programs. With -w
 * 1, every rank writes its send buffer before each call. */
#include "calls.h"

static const long sizes[] = { 8, 1024, 16384, 262144, 1048576, LONG_MAX };

struct measured {
    const struct operation *operation;
    struct call call;
    size_t written; /* bytes written before each call */
};

static double collect(int repetitions, void *state)
{
    struct measured *m = state;
    double begin = MPI_Wtime();
    for (int i = 0; i < repetitions; i++) {
        /* changes, so that no rank runs ahead of the others over many calls */
        m->call.root = i % size;
        m->call.turn = i;
        memset(m->call.a, 0, m->written);
        m->operation->call(&m->call);
    }
    return MPI_Wtime() - begin;
}

int main(int argc, char **argv)
{
    struct bench b = bench_start(&argc, &argv, 1 << 20);
    int writes = 0;
    for (int i = 1; i + 1 < argc; i += 2)
        if (strcmp(argv[i], "-w") == 0)
            writes = atoi(argv[i + 1]);
    struct measured m = { .call = call_begin(b.most_bytes) };
    for (const struct operation *o = operations; o->name; o++) {
        if (!bench_listed(b.operations, o->name))
            continue;
        m.operation = o;
        for (const long *n = sizes; *n <= b.most_bytes && (n == sizes || o->call != barrier); n++) {
            call_set_bytes(&m.call, o->call == barrier ? 0 : (int)*n);
            m.written = writes ? (size_t)m.call.n * (o->apart ? (size_t)size : 1) : 0;
            bench_print(o->name, m.call.n, bench_median(&b, collect, &m) * 1e6, "us");
        }
    }
    call_end(&m.call);
    MPI_Finalize();
    return 0;
}
