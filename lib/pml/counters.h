/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_COUNTERS_H
#define TERN_COUNTERS_H

/*
 * What the message path counts. Each lane counts for itself, under its lock and without atomics; messages and bytes are
 * counted per peer (struct tern_traffic), where that costs one instruction each. The messages of collectives count too.
 */

#include "lib/btl/peer.h"

#include <stdint.h>

enum { TERN_COLLECTIVES_MAX = 24 };

struct tern_lane_counters {
    uint64_t unexpected_messages; /* that came before their receive */
    /* Lengths of the queues, at most so far; a tool may set one to the length now */
    uint64_t unexpected_longest, posted_longest;
    uint64_t rendezvous_messages; /* sent ones that were announced */
    uint64_t collectives[TERN_COLLECTIVES_MAX]; /* started ones, by enum tern_collective */
    uint64_t blocked_ticks;       /* that threads spent waiting with nothing to do (tern_ticks) */
    uint64_t sleeps;              /* times one of them went to sleep */
    uint64_t contended_locks;     /* times the lane's lock was taken by another thread, and waited for */
};

/* All of this process at one moment, or since MPI was started. */
struct tern_counters {
    struct tern_traffic traffic;
    uint64_t unexpected_messages;
    uint64_t unexpected_length, unexpected_longest; /* messages now in the queue; at most so far, in one lane */
    uint64_t posted_length;                         /* receives now posted */
    uint64_t blocked_ns; /* in all threads */
    uint64_t sleeps;
    uint64_t contended_locks;
};

/* Sums over all lanes, taking the lock of each in turn. May be called at any time between tern_pml_init and
 * tern_pml_finalize; the caller holds no lane. */
void tern_counters_read(struct tern_counters *ret_counters);
/* The traffic over one byte mover alone (tern_btls). */
void tern_counters_read_btl(const struct tern_btl *btl, struct tern_traffic *ret_traffic);

#endif
