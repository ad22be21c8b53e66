/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_PEER_H
#define TERN_PEER_H

/*
 * A peer: a process known by (job, rank), as one lane of ours sees it, in a table that grows; how
 * to reach it is found on first use. Two lanes share nothing, so each has its own peers, with
 * credit, queue and endpoint of their own.
 */

#include "lib/util/list.h"

#include <stdbool.h>
#include <stdint.h>

enum { TERN_LANES_MAX = 8 };

/* A process, as peers are named. */
struct tern_process {
    uint32_t job, rank;
};

/* `count` processes of one job, whose ranks there are first, first + stride, ... */
struct tern_run {
    uint32_t job, first;
    int32_t stride; /* may be negative; 0 only with count 1 */
    int32_t count;
    int32_t start; /* rank in the group of the first of them */
};

static inline struct tern_process tern_run_process(const struct tern_run *run, int i)
{
    return (struct tern_process){run->job,
                                 (uint32_t)((int64_t)run->first + (int64_t)run->stride * i)};
}
/* The process of a rank of a group of runs, of which there is at least one. */
struct tern_process tern_runs_process(const struct tern_run *runs, int run_count, int rank);

struct tern_btl;

/* Messages exchanged with a peer, announced ones when they are announced; bytes as the sender's
 * buffer has them. */
struct tern_traffic {
    uint64_t sent_messages, sent_bytes;
    uint64_t received_messages, received_bytes; /* matched ones */
};

struct tern_peer {
    uint32_t job;  /* 0: our own job; others are numbered as they are met */
    uint32_t rank; /* in its job */
    uint32_t lane; /* of mine, 0 .. tern_lane_count - 1 */
    const struct tern_btl *btl;     /* NULL until the first message */
    void *endpoint; /* how `btl` reaches the peer: a struct of that byte mover */
    /* messages shorter than this go at once: btl->eager_max + 1, or 0 while something stands in the
     * way: others are pending, not connected, no credit */
    uint32_t eager_below;
    uint32_t lone_below;            /* the same for blocking sends */
    /* bytes that may still be sent eagerly before the peer has matched some (flow control) */
    int64_t credit;
    /* eager bytes of this peer that were matched here and not yet credited to it, by the lane that
     * their context names */
    int64_t owed[TERN_LANES_MAX];
    /* what waits because the byte mover answered `again`, in order (lib/pml/pending.c) */
    struct tern_list_node pending;
    /* in the list of peers with something pending, if `waits` */
    struct tern_list_node pending_peers;
    bool waits;
    struct tern_traffic traffic;
    /* why nothing comes and goes any more; NULL: it does. By tern_peer_lose */
    const char *lost;
    const struct tern_btl *came_by; /* what brought its packets; NULL: whatever carries ours */
    struct tern_peer *hash_next;
    struct tern_peer *all_next; /* tern_peer_newest */
};

/* A lane's peer (made on first use, kept until the end). With the lane's lock. NULL: no memory. */
struct tern_peer *tern_peer_get(uint32_t lane, uint32_t job, uint32_t rank);
/* The same if it has been made; NULL: it has not. */
struct tern_peer *tern_peer_find(uint32_t lane, uint32_t job, uint32_t rank);

static inline bool tern_peer_is(const struct tern_peer *peer, struct tern_process process)
{
    return peer->rank == process.rank && peer->job == process.job;
}

/* Finds the byte mover that reaches the peer and sets btl and endpoint. 0, TERN_ERR_NO_MEM or
 * TERN_ERR_UNREACHABLE with text. */
int tern_peer_connect(struct tern_peer *peer);

/* 0, or TERN_ERR_UNREACHABLE with text: none of our byte movers could. */
int tern_peer_check(uint32_t job, uint32_t rank);

/* The pml's: nothing comes and goes any more, for the reason `text`, of which the peer keeps a
 * copy. False: it was lost before, and keeps the first reason. */
bool tern_peer_lose(struct tern_peer *peer, const char *text);

/* All peers of all lanes, chained by all_next; NULL: none. Any thread may walk them without a lock
 * until they are freed. */
const struct tern_peer *tern_peer_newest(void);

void tern_peer_free_all(void);

#endif
