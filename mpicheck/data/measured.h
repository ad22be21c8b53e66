/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_MPICHECK_MEASURED_H
#define TERN_MPICHECK_MEASURED_H

/* What was measured: hosts, pairs of hosts, and the whole. It is made of records, lines of text
 * that the probe prints and mpicheck keeps in the file records.txt, so that a report can be made
 * again from recorded data (mpicheck --from).
 *
 *     host I NAME                            begin UNIX_TIME TITLE
 *     gone I WHY                             phase NAME SECONDS RESULT
 *     fact I KEY VALUE                       core I CPU WORK_US SHARE
 *     node I GB_S PAUSE_MS THROTTLED_MS      clock I OFFSET_S ERROR_S
 *     reach                                  dead FROM TO STAGE TEXT
 *     first FROM TO LATE_MS                  socket I NIC OWN OTHER SEGMENTS RESENT
 *     lat A B PHASE LEAST MEDIAN P99         bw FROM TO PHASE MB_S SHARE
 *     wrong FROM TO OFFSET BYTES             hang I PEER STAGE
 *     broken I PEER STAGE TEXT               unmeasured I WHY
 *     together NAME VALUE VALUE              last I SHARE
 *     call FROM TO TEXT                      gpu I GPU TO_GB_S FROM_GB_S WITHIN_GB_S SHARE NAME
 *     gpupair I FROM_GPU TO_GPU GB_S SHARE REACHES
 *     lacks I NIC WHY                        net FROM TO NIC MB_S SHARE
 *     end done|interrupted
 *
 * Two more are for mpicheck alone, and are not kept: `here I`, a rank has begun the phase; `slow I
 * PEER`, a stage takes long, and this rank lacks a processor.
 *
 * I, A, B, FROM and TO are numbers of hosts. PHASE is pairs, alone or soak. Units: us, ms, MB/s.
 * `net` is measured by TCP, outside of MPI; 0 MB/s: nobody answers. `host` names the hosts in their
 * order. `end` is the last record: a file without it was cut. */

#include <stdbool.h>
#include <stdint.h>

enum { TERN_MC_HOSTS_MOST = 4096, TERN_MC_SAMPLES_MOST = 32 };

struct tern_mc_fact {
    char *key, *value;
};

struct tern_mc_core {
    int cpu;
    double work_us; /* the least of all tries */
    double share;   /* the largest of all tries: processor time per time */
};

struct tern_mc_socket {
    char *nic, *own, *other;
    double segments, resent;
};

/* A GPU; the rates are the best of all tries, in GB/s; 0: the driver refuses it. */
struct tern_mc_gpu {
    int number;
    char *name;
    double to, from, within; /* copies from the host, to the host, from one place to another */
    double share;            /* as in tern_mc_alone, of the best try */
};

/* Copies between two GPUs of a host. */
struct tern_mc_gpu_pair {
    int from, to;
    double gbs, share;
    bool reaches; /* without a stop in the host's memory */
};

/* A network of a host, by the name of the interface. What it reached with the best of its partners:
 * MB/s, and MB/s had both had a processor all the time. */
struct tern_mc_net {
    char *nic;
    double sends, sends_allowing, receives, receives_allowing;
    int calls, called; /* partners that it has called, and that have called it */
    int unheard;       /* partners whose calls it did not answer */
};

struct tern_mc_host {
    char *name; /* as the user calls it */
    char *gone; /* why it does not take part; NULL: it does */
    char *lacks; /* the interface under check, which does not work here: so it is gone; or NULL */
    char *unmeasured; /* why it could not be measured; NULL: it could */
    struct tern_mc_fact *facts;
    int fact_count;
    struct tern_mc_core *cores;
    int core_count;
    struct tern_mc_socket *sockets; /* of the last phase that printed them */
    int socket_count;
    struct tern_mc_net *nets;
    int net_count;
    struct tern_mc_gpu *gpus;
    int gpu_count;
    struct tern_mc_gpu_pair *gpu_pairs;
    int gpu_pair_count;
    double memory_gbs, pause_ms, throttled_ms; /* best, least, sum of all tries */
    bool has_node, has_clock;
    double clock_s, clock_error_s;
    double last; /* share of reductions to which it came last */
};

/* Bits of a pair's state. */
enum {
    TERN_MC_DEAD_FIRST = 1, /* not even a few bytes arrive */
    TERN_MC_DEAD_LONG = 2,  /* a long message does not arrive */
    TERN_MC_HUNG = 4,       /* a stage took too long */
    TERN_MC_BROKEN = 8,     /* the connection was lost */
    TERN_MC_WRONG = 16,     /* wrong bytes arrived */
    TERN_MC_UNCALLED = 32,  /* calls by TCP are not answered, though messages arrive */
    TERN_MC_BAD = TERN_MC_DEAD_FIRST | TERN_MC_DEAD_LONG | TERN_MC_HUNG | TERN_MC_BROKEN,
};

/* Samples of a pair that was measured alone. */
struct tern_mc_alone {
    int from, to;
    int count, latency_count;
    float bandwidth[TERN_MC_SAMPLES_MOST];
    float latency[TERN_MC_SAMPLES_MOST]; /* least of each sample; same in both directions */
    float share[TERN_MC_SAMPLES_MOST];   /* part of the time in which both had a processor */
};

/* A call by one network that was not answered. */
struct tern_mc_silence {
    int from, to;
    char *nic;
};

struct tern_mc_phase {
    char *name, *result;
    double seconds;
};

struct tern_mc_data {
    int count;
    struct tern_mc_host *hosts;
    /* [from * count + to]; 0: not measured */
    float *bandwidth, *least, *median, *p99, *late_ms;
    uint8_t *state;
    char **texts; /* of dead and broken pairs, or NULL */
    char *stages; /* of pairs that hung: the first letter of the stage */
    struct tern_mc_alone *alone;
    int alone_count;
    struct tern_mc_silence *silences;
    int silence_count;
    struct tern_mc_phase *phases;
    int phase_count;
    double bisection, bisection_worst, allreduce_us, alltoall;
    int alltoall_piece;
    double begin; /* seconds since 1970 */
    char *title;
    long wrong_blocks;
    bool soaked;
    bool ended, interrupted; /* the check has ended, by itself or early */
};

/* Makes data of `count` hosts without names. Returns NULL if there is no memory. */
struct tern_mc_data *tern_mc_data_new(int count);
void tern_mc_data_free(struct tern_mc_data *data);

/* Returns the value of a host's fact, or NULL. */
const char *tern_mc_fact(const struct tern_mc_host *host, const char *key);

/* Returns true if an address, without the length of its prefix, is one of the host's. */
bool tern_mc_has_address(const struct tern_mc_host *host, const char *address);

/* Returns the number of the host that has an address, or -1 if no host or several have it. */
int tern_mc_owner(const struct tern_mc_data *data, const char *address);

/* Returns true if the two hosts can exchange messages in both directions. */
bool tern_mc_linked(const struct tern_mc_data *data, int a, int b);

/* Returns the samples of a pair alone, or NULL. */
const struct tern_mc_alone *tern_mc_alone_of(const struct tern_mc_data *data, int from, int to);

#endif
