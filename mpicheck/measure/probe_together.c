/* SPDX-License-Identifier: BSD-3-Clause */

/* All hosts at once, and their clocks. Only for hosts of which each reaches each other one. */
#include <mpi.h>

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "probe.h"
#include "probe_sample.h"

enum { PAIRINGS = 8, REDUCTIONS = 500, ALLTOALLS = 5, PIECE = 64 << 10, PIECE_OF_MANY = 8 << 10,
       MANY = 256, CLOCK_TAG = 9, TRIPS = 30 };

/* ---- clocks ---- */

static double wall_clock(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static void ask_clock(const struct probe_job *job, int peer)
{
    double best = 1e9, offset = 0;
    probe_watch(job, peer, "clock");
    for (int i = 0; i < TRIPS; i++) {
        double theirs = 0, begin = wall_clock();
        MPI_Send(&begin, 1, MPI_DOUBLE, peer, CLOCK_TAG, MPI_COMM_WORLD);
        MPI_Recv(&theirs, 1, MPI_DOUBLE, peer, CLOCK_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        double end = wall_clock();
        if (end - begin >= 0 && end - begin < best) {
            best = end - begin;
            offset = theirs - (begin + end) / 2;
        }
    }
    probe_say("clock %d %.6f %.6f", job->ids[peer], offset, best / 2);
}

static void answer_clock(void)
{
    for (int i = 0; i < TRIPS; i++) {
        double theirs;
        MPI_Recv(&theirs, 1, MPI_DOUBLE, 0, CLOCK_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        double own = wall_clock();
        MPI_Send(&own, 1, MPI_DOUBLE, 0, CLOCK_TAG, MPI_COMM_WORLD);
    }
}

void probe_clock(const struct probe_job *job)
{
    if (job->rank == 0)
        probe_say("clock %d 0 0", job->ids[0]);
    for (int peer = 1; peer < job->size; peer++) {
        if (job->dead && job->dead[peer])
            continue;
        if (job->rank == 0)
            ask_clock(job, peer);
        else if (job->rank == peer)
            answer_clock();
    }
}

/* ---- all at once ---- */

/* Shuffles 0 .. count-1, on all ranks alike. */
static void shuffle(int *order, int count, unsigned *state)
{
    for (int i = 0; i < count; i++)
        order[i] = i;
    for (int i = count - 1; i > 0; i--) {
        *state = *state * 1103515245u + 12345u;
        int k = (int)(*state >> 16) % (i + 1), kept = order[i];
        order[i] = order[k];
        order[k] = kept;
    }
}

static void bisect(const struct probe_job *job, int *order)
{
    unsigned state = 42;
    double worst = 0, sum = 0;
    for (int i = 0; i < PAIRINGS; i++) {
        int at = 0, half = job->size / 2;
        shuffle(order, job->size, &state);
        while (order[at] != job->rank)
            at++;
        double own = 0, all = 0;
        probe_watch(job, job->rank, "bisection");
        MPI_Barrier(MPI_COMM_WORLD);
        if (at < half)
            own = probe_one_way(job, order[at + half], true);
        else if (at < 2 * half)
            probe_one_way(job, order[at - half], false);
        MPI_Reduce(&own, &all, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
        sum += all;
        worst = i == 0 || all < worst ? all : worst;
    }
    if (job->rank == 0)
        probe_say("together bisection %.1f %.1f", sum / PAIRINGS, worst);
}

/* Who waited least for the others in a reduction came last to it. The next reduction tells all. */
static void reduce_often(const struct probe_job *job, int *last)
{
    struct {
        double waited;
        int rank;
    } own = {1e9, job->rank}, least;
    probe_watch(job, job->rank, "allreduce");
    MPI_Barrier(MPI_COMM_WORLD);
    double begin = probe_now();
    for (int i = 0; i < REDUCTIONS; i++) {
        double before = probe_now();
        MPI_Allreduce(&own, &least, 1, MPI_DOUBLE_INT, MPI_MINLOC, MPI_COMM_WORLD);
        own.waited = probe_now() - before;
        if (i > 0 && least.rank >= 0 && least.rank < job->size)
            last[least.rank]++;
    }
    double each = (probe_now() - begin) * 1e6 / REDUCTIONS;
    if (job->rank != 0)
        return;
    probe_say("together allreduce %.2f 0", each);
    for (int rank = 0; rank < job->size; rank++)
        probe_say("last %d %.4f", job->ids[rank], (double)last[rank] / (REDUCTIONS - 1));
}

static void exchange_all(const struct probe_job *job)
{
    int piece = job->size > MANY ? PIECE_OF_MANY : PIECE;
    size_t bytes = (size_t)piece * (size_t)job->size;
    char *out = calloc(1, bytes), *in = calloc(1, bytes);
    int enough = out && in, all_enough = 0;
    MPI_Allreduce(&enough, &all_enough, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    if (all_enough) {
        probe_watch(job, job->rank, "alltoall");
        MPI_Alltoall(out, piece, MPI_BYTE, in, piece, MPI_BYTE, MPI_COMM_WORLD);
        MPI_Barrier(MPI_COMM_WORLD);
        double begin = probe_now();
        for (int i = 0; i < ALLTOALLS; i++)
            MPI_Alltoall(out, piece, MPI_BYTE, in, piece, MPI_BYTE, MPI_COMM_WORLD);
        double took = probe_now() - begin;
        if (job->rank == 0)
            probe_say("together alltoall %.1f %d", (double)bytes * ALLTOALLS / took * 1e-6, piece);
    }
    free(out);
    free(in);
}

void probe_together(const struct probe_job *job)
{
    int *order = calloc((size_t)job->size, sizeof *order);
    int *last = calloc((size_t)job->size, sizeof *last);
    if (order && last && probe_sample_begin(job)) {
        bisect(job, order);
        reduce_often(job, last);
        exchange_all(job);
    }
    free(order);
    free(last);
}
