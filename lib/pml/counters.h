/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_COUNTERS_H
#define TERN_COUNTERS_H

/*
 * Counters of the message path. Each lane has its own, changes them under its lock with plain adds
 * (tern_count), and any thread may read them. Messages and bytes are counted per peer (struct
 * tern_traffic). The messages of collectives count too.
 */

#include "lib/btl/peer.h"

#include <stdint.h>

/* At least the number of collectives (enum tern_collective). */
enum { TERN_COLLECTIVES_MAX = 24 };

struct tern_lane_counters {
    uint64_t unexpected_messages; /* messages that arrived before their receive was posted */
    /* Greatest lengths of the queues so far. A tool may reset one to the present length. */
    uint64_t unexpected_longest, posted_longest;
    uint64_t rendezvous_messages; /* sent messages that were announced first */
    /* bytes of received messages that were copied straight from the sender's memory */
    uint64_t pulled_bytes;
    /* puts and gets that a network did with remote memory access (lib/rma/direct.c) */
    uint64_t direct_copies;
    uint64_t system_copies; /* of windows: process_vm_readv and process_vm_writev */
    uint64_t collectives[TERN_COLLECTIVES_MAX]; /* collectives started, by enum tern_collective */
    uint64_t blocked_ticks;       /* ticks (tern_ticks) that threads waited with nothing to do */
    uint64_t sleeps;              /* number of times a waiting thread went to sleep */
    /* number of times a thread found the lane's lock taken and waited for the lock */
    uint64_t contended_locks;
};

#endif
