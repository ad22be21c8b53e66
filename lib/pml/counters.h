/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_COUNTERS_H
#define TERN_COUNTERS_H

/*
 * What the message path counts. Each lane counts for itself, under its lock and with plain adds
 * (tern_count), and anybody may read; messages and bytes are counted per peer (struct
 * tern_traffic). The messages of collectives count too.
 */

#include "lib/btl/peer.h"

#include <stdint.h>

enum { TERN_COLLECTIVES_MAX = 24 };

struct tern_lane_counters {
    uint64_t unexpected_messages; /* that came before their receive */
    /* Lengths of the queues, at most so far; a tool may set one to the length now */
    uint64_t unexpected_longest, posted_longest;
    uint64_t rendezvous_messages; /* sent ones that were announced */
    uint64_t pulled_bytes;        /* of received ones, taken straight from the sender's memory */
    uint64_t collectives[TERN_COLLECTIVES_MAX]; /* started ones, by enum tern_collective */
    uint64_t blocked_ticks;       /* that threads spent waiting with nothing to do (tern_ticks) */
    uint64_t sleeps;              /* times one of them went to sleep */
    /* times the lane's lock was taken by another thread, and waited for */
    uint64_t contended_locks;
};

#endif
