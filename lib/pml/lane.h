/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_LANE_H
#define TERN_LANE_H

/*
 * A lane: all state of the message path for a part of the communicators, with a lock of its own.
 * Threads that work on communicators of different lanes share nothing that changes. There is one
 * lane unless threads are allowed (MPI_THREAD_MULTIPLE, docs/threads.md).
 *
 * A context belongs to the lane that its id names. So do the context's receives, its unexpected
 * messages, the peers it sends to, and its requests. A thread that uses a lane holds the lane's
 * lock. No thread holds the locks of two lanes.
 */

#include "lib/btl/btl.h"
#include "lib/node/doorbell.h"
#include "lib/pml/counters.h"
#include "lib/pml/lock.h"
#include "lib/util/base/atomic.h"
#include "lib/util/base/list.h"

struct tern_context;
struct tern_pml_request;
struct tern_queue;

/* Hash table of matching queues (lib/pml/match.c). */
struct tern_match_table {
    struct tern_queue **buckets;
    /* queue found last, looked at first because messages come in series; NULL: none */
    struct tern_queue *latest;
    /* number of buckets - 1 */
    uint32_t mask;
    /* number of queues, empty ones included; an empty queue is kept for the next message with its
     * key */
    uint32_t queues;
    /* receives or messages in all queues */
    uint64_t items;
};

/* The first bytes of an announced message, which came with its announcement (lib/pml/recv.c). */
struct tern_head {
    struct tern_pml_request *request; /* the receive to which they belong; NULL: there are none */
    const void *bytes;
};

/* Where a lane is: in no round of progress; in one; in one of a call that waits, so that the thread
 * makes further rounds until what it waits for has happened. */
enum tern_inside { TERN_INSIDE_NONE, TERN_INSIDE_ROUND, TERN_INSIDE_WAIT };

/* The most functions that tern_progress_register can add to a lane. */
enum { TERN_LANE_POLLS = 6 };

struct tern_lane {
    uint32_t index; /* index in tern_lanes */
    struct tern_lock lock;

    /* match.c. spare_queues: free queues, chained by hash_next. stamps: the next stamp of a posted
     * receive. */
    struct tern_match_table posted, unexpected;
    struct tern_queue *spare_queues;
    uint64_t stamps;

    /* context.c */
    struct tern_context **contexts; /* hash table: buckets by id; NULL: no context is open */
    /* context found last, looked at first because messages come in series; NULL: none */
    struct tern_context *latest;
    uint32_t context_mask, context_count;

    /* pml_request.c: free requests, chained through req.comm */
    struct tern_pml_request *pool;

    /* request_id.c: table of requests by number. A free entry holds the index of the next free
     * entry as an odd integer. */
    struct tern_pml_request **numbers;
    uint32_t number_count, first_free_number;

    /* deliver.c: messages that cannot be matched yet, in order of arrival. early: their context is
     * not open here yet. parked: they overtook other messages of their sender. */
    struct tern_list_node early, parked;

    /* pending.c: peers with something to be sent */
    struct tern_list_node waiting_peers;

    uint32_t lost_peers; /* peer_lost.c: number of lost peers */
    /* number of lost peers, and of contexts with processes of other jobs: if not 0, each receive
     * looks whether its source is there */
    uint32_t careful;

    /* progress.c */
    /* enum tern_inside: a round of progress is under way, so do not begin another. (A send that a
     * collective starts inside a round may ask for progress.) */
    uint8_t inside;
    /* functions added by tern_progress_register */
    int poll_count;
    int (*polls[TERN_LANE_POLLS])(struct tern_lane *lane);

    struct tern_list_node runs; /* active nonblocking collectives (lib/coll/run/execute.c) */

    /* mailbox.c: packets for this lane that arrived in another lane. `fed_by` has a bit for each
     * lane where such packets arrived (atomic). */
    struct {
        pthread_mutex_t mutex;
        struct tern_list_node letters;
        bool filled; /* atomic */
    } mailbox;
    uint32_t fed_by;

    /* progress.c, atomic because other threads read them. rounds: rounds of progress so far in
     * MPI_THREAD_MULTIPLE. events: events so far that another thread may wait for. */
    uint32_t rounds, events;

    struct tern_head head; /* recv.c: of the announcement that is being delivered */
    struct tern_lane_counters counters;
} __attribute__((aligned(TERN_CACHE_LINE)));

/* The lanes; the first tern_lane_count are in use. */
extern TERN_OURS struct tern_lane tern_lanes[TERN_LANES_MAX];

/* Prepares the lanes: one, or with threads as many as the parameter pml_lanes says. Called first in
 * tern_pml_init. Returns 0 or TERN_ERR_ARG. */
int tern_lanes_init(void);

/* Reports that something happened in the lane that a thread other than the caller may wait for:
 * wakes sleeping threads. tern_lane_tell does nothing without threads. */
void tern_lane_tell_threads(struct tern_lane *lane);
static inline void tern_lane_tell(struct tern_lane *lane)
{
    if (TERN_UNLIKELY(tern_threads))
        tern_lane_tell_threads(lane);
}

/* Notes that this rank waits in MPI, if it makes a round of a waiting call. Call it before and
 * after each long copy within a round. A rank that copies has no idle round in which it would note
 * the time, and would look as if it computed. Locks: the lane's lock. */
static inline void tern_lane_note_busy(const struct tern_lane *lane)
{
    if (lane->inside == TERN_INSIDE_WAIT)
        tern_doorbell_note_busy(tern_ticks());
}

/* Returns how many nanoseconds `ticks` ticks take. */
uint64_t tern_lane_ns_of(uint64_t ticks);

/* Returns the lane of the context `context_id`. */
static inline struct tern_lane *tern_lane_of(uint64_t context_id)
{
    return &tern_lanes[context_id >> 1 & (tern_lane_count - 1)];
}

#endif
