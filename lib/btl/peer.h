/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_PEER_H
#define TERN_PEER_H

/*
 * A peer: a process known by (job, rank), as one of our lanes sees it. Peers are in a table that
 * grows. The byte mover for a peer is found on first use. Lanes share nothing, so each has its own
 * peers, with their own credit, queue and endpoint.
 */

#include "lib/util/base/list.h"

#include <stdbool.h>
#include <stdint.h>

/* Most lanes of a process. */
enum { TERN_LANES_MAX = 8 };

/* The name of a process. */
struct tern_process {
    uint32_t job, rank;
};

/* `count` processes of one job, whose ranks in the job are first, first + stride, ... */
struct tern_run {
    uint32_t job, first;
    int32_t stride; /* may be negative; 0 only if `count` is 1 */
    int32_t count;
    int32_t start; /* rank in the group of the first process */
};

/* Returns process number `i` of a run, 0 to count - 1. */
static inline struct tern_process tern_run_process(const struct tern_run *run, int i)
{
    return (struct tern_process){run->job,
                                 (uint32_t)((int64_t)run->first + (int64_t)run->stride * i)};
}
/* Returns the process of a rank of a group that consists of `run_count` runs, at least 1. */
struct tern_process tern_runs_process(const struct tern_run *runs, int run_count, int rank);

struct tern_btl;
struct tern_path;

/* What the link to one peer can carry, set by btl->connect. Other peers of the same byte mover may
 * have other limits. */
struct tern_limits {
    uint32_t packet_max; /* payload bytes of a packet */
    uint32_t eager_max;  /* bytes of a message that goes in one packet, at most packet_max */
    /* likewise of a blocking send: it may be longer, because no other send follows meanwhile. At
     * least eager_max */
    uint32_t eager_max_blocking;
    /* bytes of a longer message that may go with its announcement (btl->send_head); 0: none */
    uint32_t head_max;
    /* factor of pml_eager_credit, the bytes in flight; larger if asking for a message takes
     * longer */
    int32_t credit_factor;
};

/* Messages exchanged with a peer. An announced message counts when it is announced. Bytes as in the
 * sender's buffer. */
struct tern_traffic {
    uint64_t sent_messages, sent_bytes;
    uint64_t received_messages, received_bytes; /* matched messages only */
};

/* A peer of one lane. */
struct tern_peer {
    uint32_t job;  /* 0: our own job; other jobs are numbered as they are met */
    uint32_t rank; /* in its job */
    uint32_t lane; /* of this process, 0 .. tern_lane_count - 1 */
    /* the byte mover that sends to the peer; NULL until the first message */
    const struct tern_btl *btl;
    void *endpoint; /* data of `btl` about the peer */
    /* tcp's data about the peer, which may connect before this rank sends to it, or sends to it by
     * another byte mover; NULL: it has none yet */
    struct tern_tcp_endpoint *tcp;
    /* the byte mover of transfers with the peer, mostly `btl`; NULL: there are none. Valid if `btl`
     * is not NULL */
    const struct tern_btl *bulk;
    void *bulk_endpoint; /* data of `bulk` about the peer */
    /* the byte mover of transfers from the peer's device memory; NULL: there are none. Valid if
     * `btl` is not NULL */
    const struct tern_btl *device_bulk;
    /* Messages shorter than this go at once: limits.eager_max + 1. 0 while something prevents that:
     * other messages are pending, the peer is not connected, or there is no credit. */
    uint32_t eager_below;
    uint32_t blocking_below; /* likewise for blocking sends: limits.eager_max_blocking + 1 or 0 */
    /* Flow control: bytes that may be sent eagerly before the peer has matched some. */
    int64_t credit;
    /* Eager bytes of the peer that were matched here and not yet credited to it, by the lane that
     * their context names. */
    int64_t owed[TERN_LANES_MAX];
    struct tern_limits limits; /* valid if `btl` is not NULL */
    uint32_t offered;      /* announced sends whose memory the peer may read now */
    uint32_t without_head; /* number of next announcements that carry no bytes of their message */
    /* Packets that wait because the byte mover returned TERN_ERR_AGAIN, in order, and transfers
     * that wait for the same reason (lib/pml/pending.c). */
    struct tern_list_node pending, pending_gets;
    /* Links peers for which something waits; valid if `waits`. */
    struct tern_list_node pending_peers;
    bool waits;
    struct tern_traffic traffic;
    /* Why the peer is lost, so that nothing arrives and nothing can be sent; NULL: not lost. Set by
     * tern_peer_lose. */
    const char *lost;
    /* the byte mover that brought packets of the peer; NULL: none has arrived, assume `btl` */
    const struct tern_btl *came_by;
    /* Next peer in the bucket of the table. */
    struct tern_peer *hash_next;
    struct tern_peer *all_next; /* next older peer, see tern_peer_newest */
    struct tern_path *path;     /* as text (path.h); NULL: nothing has connected it yet */
};

/* Returns a peer of a lane. Makes it on first use, and keeps it until the end. NULL if there is no
 * memory. Locks: the caller holds the lane's lock. */
struct tern_peer *tern_peer_get(uint32_t lane, uint32_t job, uint32_t rank);
/* Returns the peer if it exists, else NULL. Locks: the lane's lock. */
struct tern_peer *tern_peer_find(uint32_t lane, uint32_t job, uint32_t rank);

/* Returns true if the peer is that process. */
static inline bool tern_peer_is(const struct tern_peer *peer, struct tern_process process)
{
    return peer->rank == process.rank && peer->job == process.job;
}

/* Most bytes of an eager message, if the byte mover permits more: pml_eager_limit. The pml sets it
 * before the first peer is connected. */
extern uint32_t tern_peer_eager_limit;

/* Finds the byte mover that reaches the peer and the one for transfers, and sets the members that
 * they need. Lowers the limits to tern_peer_eager_limit. Returns 0, TERN_ERR_NO_MEM, or
 * TERN_ERR_UNREACHABLE with text. */
int tern_peer_connect(struct tern_peer *peer);

/* Hands the peer over to the next byte mover that reaches it, because the present one cannot after
 * all. The present one has sent nothing to the peer and has registered no memory for it. Its
 * credit_factor must be that of the next. Returns 0, TERN_ERR_NO_MEM, or TERN_ERR_UNREACHABLE with
 * text: then the peer is as before. */
int tern_peer_hand_over(struct tern_peer *peer);

/* Checks that some byte mover of ours can reach the process. Returns 0, or TERN_ERR_UNREACHABLE
 * with text. */
int tern_peer_check(uint32_t job, uint32_t rank);

/* For the pml: marks the peer as lost, with a copy of the reason `text`. Returns false if the peer
 * was lost before; it keeps the first reason. */
bool tern_peer_lose(struct tern_peer *peer, const char *text);

/* Returns the newest peer of all lanes, or NULL. all_next leads to all others. Any thread may walk
 * the chain without a lock, until tern_peer_free_all. */
const struct tern_peer *tern_peer_newest(void);

/* Frees all peers of all lanes. No thread may use them any more. */
void tern_peer_free_all(void);

#endif
