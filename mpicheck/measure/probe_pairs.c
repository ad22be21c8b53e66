/* SPDX-License-Identifier: BSD-3-Clause */

/* Pairs of hosts: all of them in a tournament of disjoint pairs, suspicious ones again with
 * nothing else under way, and both again and again in a soak. */
#include <mpi.h>

#include <time.h>

#include "probe.h"
#include "probe_sample.h"

enum { PINGS = 100, PINGS_ALONE = 60, ORDER_TAG = 7, DONE_TAG = 8, SOCKETS_MOST = 128 };
enum order { END, MEASURE };

/* Returns the partner of a rank in a round of the circle method, where ranks 0 .. even-2 turn
 * around the last one. May return `size` if that is odd: then the rank pauses. */
static int partner(int rank, int round, int size)
{
    int even = size + size % 2, others = even - 1;
    if (rank == others)
        return (int)((long)round * (even / 2) % others);
    int peer = (round - rank % others + 2 * others) % others;
    return peer == rank ? others : peer;
}

static bool may_talk(const struct probe_job *job, int peer)
{
    return peer < job->size && !(job->dead && job->dead[job->rank * job->size + peer]);
}

static void measure(const struct probe_job *job, int peer, const char *phase, int pings)
{
    probe_meet(job, peer);
    probe_latency(job, peer, phase, pings);
    probe_bandwidth(job, peer, phase);
    probe_watch_end();
}

static void play(const struct probe_job *job, const char *phase, bool calls)
{
    int all = job->size + job->size % 2 - 1;
    int rounds = job->rounds > 0 && job->rounds < all ? job->rounds : all;
    for (int i = 0; i < rounds; i++) {
        int round = (int)((long)i * all / rounds); /* some of all, evenly spread */
        int peer = partner(job->rank, round, job->size);
        if (job->rank == 0)
            probe_say("progress %d %d", i + 1, rounds);
        if (!may_talk(job, peer))
            continue;
        measure(job, peer, phase, PINGS);
        if (calls) {
            probe_calls(job, peer);
            probe_watch_end();
        }
    }
}

void probe_pairs(const struct probe_job *job)
{
    if (!probe_sample_begin(job))
        return;
    play(job, "pairs", true);
    probe_print_sockets(job, SOCKETS_MOST);
}

/* ---- one pair at a time ---- */

/* Rank 0 gives the orders, and its own part, too. A rank that waits for an order sleeps. */
static void follow_orders(const struct probe_job *job)
{
    for (;;) {
        int order[2] = {END, 0}, done = 1;
        MPI_Recv(order, 2, MPI_INT, 0, ORDER_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (order[0] != MEASURE)
            return;
        measure(job, order[1], "alone", PINGS_ALONE);
        MPI_Send(&done, 1, MPI_INT, 0, DONE_TAG, MPI_COMM_WORLD);
    }
}

static void give_order(int rank, enum order kind, int peer)
{
    int order[2] = {(int)kind, peer};
    if (rank != 0)
        MPI_Send(order, 2, MPI_INT, rank, ORDER_TAG, MPI_COMM_WORLD);
}

static void await(int rank)
{
    int done;
    if (rank != 0)
        MPI_Recv(&done, 1, MPI_INT, rank, DONE_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void measure_item(const struct probe_job *job, const int item[2])
{
    give_order(item[0], MEASURE, item[1]);
    give_order(item[1], MEASURE, item[0]);
    for (int i = 0; i < 2; i++)
        if (item[i] == 0)
            measure(job, item[!i], "alone", PINGS_ALONE);
    await(item[0]);
    await(item[1]);
}

void probe_alone(const struct probe_job *job)
{
    if (!probe_sample_begin(job))
        return;
    if (job->rank != 0) {
        follow_orders(job);
        return;
    }
    /* samples of all items in turn, so that what else the machines do meets all of them */
    for (int sample = 0; sample < job->samples; sample++) {
        probe_say("progress %d %d", sample + 1, job->samples);
        for (int i = 0; i < job->item_count; i++)
            measure_item(job, job->items[i]);
    }
    for (int rank = 1; rank < job->size; rank++)
        give_order(rank, END, 0);
}

/* ---- for minutes ---- */

void probe_soak(const struct probe_job *job)
{
    struct probe_job verifying = *job;
    int go_on = 1;
    time_t end = time(NULL) + job->minutes * 60;
    verifying.verify = true;
    if (!probe_sample_begin(job))
        return;
    /* rank 0's clock decides; all links of the job are known to work */
    while (go_on) {
        play(&verifying, "soak", false);
        go_on = time(NULL) < end;
        MPI_Bcast(&go_on, 1, MPI_INT, 0, MPI_COMM_WORLD);
    }
    probe_print_sockets(job, SOCKETS_MOST);
}
