/* SPDX-License-Identifier: BSD-3-Clause */
#include "probe_sample.h"

#include "probe_gpu.h"

#include <mpi.h>

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* SLOW_S: if a block of FIRST bytes takes longer, only such blocks are sent. A batch of blocks is
 * acknowledged together. */
enum { SHORT = 8, FIRST = 64 << 10, BLOCK = 1 << 20, BATCH_MOST = 16, WARM = 10, PINGS_MOST = 1000,
       MEET_FACTOR = 4, TAG = 3, WORD = sizeof(uint64_t) };
static const double slow_s = 0.02;

/* BLOCK bytes each. With a GPU, `outgoing` and `incoming` are in its memory, and the other two are
 * where the bytes are made and compared; else they are the same. */
static char *outgoing, *incoming, *made, *compared;
static bool on_gpu;

bool probe_sample_begin(const struct probe_job *job)
{
    on_gpu = job->gpu >= 0;
    made = malloc(BLOCK);
    compared = malloc(BLOCK);
    if (!made || !compared)
        return false;
    memset(made, 1, BLOCK);
    memset(compared, 2, BLOCK);
    outgoing = on_gpu ? (char *)(uintptr_t)probe_gpu_alloc(BLOCK) : made;
    incoming = on_gpu ? (char *)(uintptr_t)probe_gpu_alloc(BLOCK) : compared;
    return outgoing && incoming;
}

static void copy(char *to, const char *from, size_t bytes)
{
    if (on_gpu && !probe_gpu_copy((uintptr_t)to, (uintptr_t)from, bytes)) {
        fprintf(stderr, "mpicheck-probe: the driver refuses a copy of %zu bytes\n", bytes);
        exit(1);
    }
}

void probe_meet(const struct probe_job *job, int peer)
{
    struct probe_job patient = *job;
    char in[SHORT], out[SHORT] = {0};
    patient.limit_s *= MEET_FACTOR;
    probe_watch(&patient, peer, "meet");
    MPI_Sendrecv(out, SHORT, MPI_BYTE, peer, TAG, in, SHORT, MPI_BYTE, peer, TAG, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

void probe_latency(const struct probe_job *job, int peer, const char *phase, int repetitions)
{
    double times[PINGS_MOST];
    char byte[SHORT] = {0};
    bool leads = job->rank < peer;
    if (repetitions > PINGS_MOST)
        repetitions = PINGS_MOST;
    probe_watch(job, peer, "latency");
    for (int i = -WARM; i < repetitions; i++) {
        double begin = probe_now();
        if (leads)
            MPI_Send(byte, SHORT, MPI_BYTE, peer, TAG, MPI_COMM_WORLD);
        MPI_Recv(byte, SHORT, MPI_BYTE, peer, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (!leads)
            MPI_Send(byte, SHORT, MPI_BYTE, peer, TAG, MPI_COMM_WORLD);
        if (i >= 0)
            times[i] = (probe_now() - begin) * 1e6 / 2;
    }
    if (!leads)
        return;
    qsort(times, (size_t)repetitions, sizeof *times, compare);
    probe_say("lat %d %d %s %.2f %.2f %.2f", job->ids[job->rank], job->ids[peer], phase, times[0],
              times[repetitions / 2], times[repetitions * 99 / 100]);
}

/* ---- long messages ---- */

static uint64_t seed_of(const struct probe_job *job, int from, int to)
{
    return (uint64_t)(job->ids[from] + 1) * 0x9E3779B97F4A7C15u +
           (uint64_t)(job->ids[to] + 1) * 0xC2B2AE3D27D4EB4Fu;
}

static void fill(uint64_t seed)
{
    for (size_t i = 0; i < BLOCK / WORD; i++) {
        uint64_t word = seed + i * 0xD6E8FEB86659FD93u;
        memcpy(made + i * WORD, &word, WORD);
    }
    copy(outgoing, made, BLOCK);
}

/* Returns the offset of the first wrong byte among `bytes`, or -1 if all are right. */
static long find_wrong(uint64_t seed, size_t bytes)
{
    copy(compared, incoming, bytes);
    for (size_t i = 0; i < bytes / WORD; i++) {
        uint64_t word = seed + i * 0xD6E8FEB86659FD93u;
        if (memcmp(compared + i * WORD, &word, WORD) == 0)
            continue;
        const char *right = (const char *)&word;
        size_t at = 0;
        while (compared[i * WORD + at] == right[at])
            at++;
        return (long)(i * WORD + at);
    }
    return -1;
}

/* What the sender announces: `count` blocks of `bytes` each follow; 0: the sample is over. */
struct batch {
    int32_t count, bytes;
};

static double send_batch(int peer, int count, int bytes)
{
    struct batch batch = {count, bytes};
    char answer;
    double begin = probe_now();
    MPI_Send(&batch, sizeof batch, MPI_BYTE, peer, TAG, MPI_COMM_WORLD);
    for (int i = 0; i < count; i++)
        MPI_Send(outgoing, bytes, MPI_BYTE, peer, TAG, MPI_COMM_WORLD);
    if (count > 0)
        MPI_Recv(&answer, 1, MPI_BYTE, peer, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return probe_now() - begin;
}

static double send_sample(const struct probe_job *job, int peer)
{
    double wanted = job->sample_ms * 1e-3, took = 0, sent = 0;
    fill(seed_of(job, job->rank, peer));
    send_batch(peer, 1, FIRST); /* what begins, begins slowly */
    double first = send_batch(peer, 1, FIRST);
    int bytes = first > slow_s ? FIRST : BLOCK;
    double block = first * bytes / FIRST;
    int count = block > 0 ? (int)(wanted / 4 / block) : BATCH_MOST;
    count = count < 1 ? 1 : count > BATCH_MOST ? BATCH_MOST : count;
    do {
        took += send_batch(peer, count, bytes);
        sent += (double)count * bytes;
    } while (took < wanted);
    send_batch(peer, 0, 0);
    return sent / took * 1e-6;
}

static void check_block(const struct probe_job *job, int peer, int bytes)
{
    long wrong = find_wrong(seed_of(job, peer, job->rank), (size_t)bytes);
    if (wrong >= 0)
        probe_say("wrong %d %d %ld %d", job->ids[peer], job->ids[job->rank], wrong, bytes);
}

static void receive_sample(const struct probe_job *job, int peer)
{
    struct batch batch = {0};
    int last = 0;
    for (;;) {
        char answer = 0;
        /* without the announcement, an error of the network looks like the end */
        batch.count = 0;
        MPI_Recv(&batch, sizeof batch, MPI_BYTE, peer, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (batch.count <= 0 || batch.bytes <= 0 || batch.bytes > BLOCK)
            break;
        for (int i = 0; i < batch.count; i++) {
            MPI_Recv(incoming, batch.bytes, MPI_BYTE, peer, TAG, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
            if (job->verify)
                check_block(job, peer, batch.bytes);
        }
        last = batch.bytes;
        MPI_Send(&answer, 1, MPI_BYTE, peer, TAG, MPI_COMM_WORLD);
    }
    if (last > 0 && !job->verify)
        check_block(job, peer, last);
}

double probe_one_way(const struct probe_job *job, int peer, bool sends)
{
    if (sends)
        return send_sample(job, peer);
    receive_sample(job, peer);
    return 0;
}

void probe_bandwidth(const struct probe_job *job, int peer, const char *phase)
{
    for (int way = 0; way < 2; way++) {
        bool sends = (job->rank < peer) == (way == 0);
        double waited = probe_waited(), wall = probe_now(), theirs = 1;
        probe_watch(job, peer, "bandwidth");
        double bandwidth = probe_one_way(job, peer, sends);
        wall = probe_now() - wall;
        waited = probe_waited() - waited;
        /* a receiver without a processor makes its sender slow, which only sleeps */
        double share = wall > 0 ? 1 - waited / wall : 1;
        MPI_Sendrecv(&share, 1, MPI_DOUBLE, peer, TAG, &theirs, 1, MPI_DOUBLE, peer, TAG,
                     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (sends)
            probe_say("bw %d %d %s %.2f %.2f", job->ids[job->rank], job->ids[peer], phase,
                      bandwidth, share < theirs ? share : theirs);
    }
}
