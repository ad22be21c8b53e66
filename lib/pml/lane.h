/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_LANE_H
#define TERN_LANE_H

/*
 * A lane: all state of the message path for a part of the communicators, with a lock of its own.
 * Threads that work on communicators of different lanes share nothing that changes. There is one
 * lane until MPI_THREAD_MULTIPLE (docs/threads.md).
 *
 * A context belongs to the lane that its id names, and with it its receives, its unexpected
 * messages, the peers it sends to, and its requests. Whoever uses a lane holds its lock; nobody
 * holds two.
 */

#include "lib/btl/btl.h"
#include "lib/pml/counters.h"
#include "lib/pml/lock.h"
#include "lib/util/atomic.h"
#include "lib/util/list.h"

struct tern_context;
struct tern_pml_request;
struct tern_queue;

/* Hash table of matching queues (lib/pml/match.c). */
struct tern_match_table {
    struct tern_queue **buckets;
    struct tern_queue *latest; /* found last: messages come in series */
    uint32_t mask;
    uint32_t queues; /* with empty ones, which are kept for the next message with their key */
    uint64_t items;
};

enum { TERN_LANE_POLLS = 4 };

struct tern_lane {
    uint32_t index; /* in tern_lanes */
    struct tern_lock lock;

    /* match.c */
    struct tern_match_table posted, unexpected;
    struct tern_queue *spare_queues;
    uint64_t stamps;

    /* context.c */
    struct tern_context **contexts; /* buckets by id */
    struct tern_context *latest;    /* messages come in series */
    uint32_t context_mask, context_count;

    /* pml_request.c: free ones, chained through req.comm */
    struct tern_pml_request *pool;

    /* request_id.c: a free entry holds the next free one as an odd integer */
    struct tern_pml_request **numbers;
    uint32_t number_count, first_free_number;

    /* deliver.c: messages that came too soon, in order of arrival: their context is not open here
     * yet, or they overtook others */
    struct tern_list_node early, parked;

    /* pending.c */
    struct tern_list_node waiting_peers;

    uint32_t lost_peers; /* peer_lost.c */

    /* progress.c */
    /* a round is not to be begun in the middle of another: a send that a collective starts may ask
     * for it */
    bool inside;
    int poll_count;
    int (*polls[TERN_LANE_POLLS])(struct tern_lane *lane);

    struct tern_list_node runs; /* active nonblocking collectives (lib/coll/run/execute.c) */

    /* mailbox.c: packets for this lane that arrived in another; `fed_by`: a bit for each of those,
     * atomic */
    struct {
        pthread_mutex_t mutex;
        struct tern_list_node letters;
        bool filled; /* atomic */
    } mailbox;
    uint32_t fed_by;

    /* progress.c, for other threads to read (atomic): rounds of progress in MPI_THREAD_MULTIPLE;
     * what happened that another thread may wait for */
    uint32_t rounds, events;

    struct tern_lane_counters counters;
} __attribute__((aligned(TERN_CACHE_LINE)));

extern TERN_OURS struct tern_lane tern_lanes[TERN_LANES_MAX];

/* First of all in tern_pml_init: one lane, or with threads as many as the parameter pml_lanes says.
 * TERN_ERR_ARG. */
int tern_lanes_init(void);

/* Something has happened that a thread may wait for other than the one that sees it: wakes those
 * that sleep. */
void tern_lane_tell_threads(struct tern_lane *lane);
static inline void tern_lane_tell(struct tern_lane *lane)
{
    if (TERN_UNLIKELY(tern_threads))
        tern_lane_tell_threads(lane);
}

/* Nanoseconds that so many ticks take. */
uint64_t tern_lane_ns_of(uint64_t ticks);

/* The lane of a context. */
static inline struct tern_lane *tern_lane_of(uint64_t context_id)
{
    return &tern_lanes[context_id >> 1 & (tern_lane_count - 1)];
}

#endif
