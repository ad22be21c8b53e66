/* SPDX-License-Identifier: BSD-3-Clause */
/* How much of a 4 MiB transfer is hidden behind the ranks' work between MPI_Isend or MPI_Irecv and
 * MPI_Wait, in percent of the transfer's own time. "overlap": both ranks compute for a millisecond;
 * hiding then needs more cores than theirs. "overlap-idle": both sleep, as if a device computed. */
#include "bench.h"

#include <time.h>

struct exchange { char *buffer; int bytes; long work; int idle; };

static volatile double sink;

/* Does a fixed amount of work, not work for a fixed time: so time that a progress thread takes away
 * shows. */
static void compute(long work)
{
    double x = (double) work;
    for (long i = 0; i < work; i++)
        x = x * 0.999999 + 1e-6;
    sink = x;
}

static double exchange(int repetitions, void *state)
{
    struct exchange *e = state;
    double total = 0;
    for (int i = 0; i < repetitions; i++) {
        MPI_Request request = MPI_REQUEST_NULL;
        MPI_Barrier(MPI_COMM_WORLD);
        double begin = MPI_Wtime();
        if (e->bytes && rank == 0)
            MPI_Isend(e->buffer, e->bytes, MPI_BYTE, 1, 1, MPI_COMM_WORLD, &request);
        else if (e->bytes && rank == 1)
            MPI_Irecv(e->buffer, e->bytes, MPI_BYTE, 0, 1, MPI_COMM_WORLD, &request);
        if (e->idle)
            nanosleep(&(struct timespec) { 0, 1000000 }, NULL);
        else if (e->work)
            compute(e->work);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        total += MPI_Wtime() - begin;
    }
    return total;
}

int main(int argc, char **argv)
{
    struct bench b = bench_start(&argc, &argv, 4 << 20);
    bench_need_ranks(2);
    struct exchange e = { bench_buffer((size_t) b.most_bytes), (int) b.most_bytes, 0, 0 };
    double begin = MPI_Wtime();
    compute(1000000);
    long millisecond = (long) (1e-3 / (MPI_Wtime() - begin) * 1000000);
    MPI_Bcast(&millisecond, 1, MPI_LONG, 0, MPI_COMM_WORLD);

    double transfer = bench_median(&b, exchange, &e);
    for (e.idle = 0; e.idle < 2; e.idle++) {
        e.work = millisecond;
        e.bytes = 0;
        double alone = bench_median(&b, exchange, &e);
        e.bytes = (int) b.most_bytes;
        double both = bench_median(&b, exchange, &e);
        bench_print(e.idle ? "overlap-idle" : "overlap", b.most_bytes,
                    100 * (1 - (both - alone) / transfer), "%hidden");
    }
    free(e.buffer);
    MPI_Finalize();
    return 0;
}
