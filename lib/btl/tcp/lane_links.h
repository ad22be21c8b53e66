/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_TCP_LANE_LINKS_H
#define TERN_TCP_LANE_LINKS_H

/*
 * The links of a lane, and the choice among them for a send: how links come, how they end, and what
 * happens if one ends unexpectedly.
 *
 * A connection carries both directions. The caller's lane number decides to which lane it belongs:
 * that number modulo each end's own number of lanes. A packet for another lane goes through the
 * mailbox (lib/pml/mailbox.c).
 */

#include "lib/btl/peer.h"
#include "lib/btl/tcp/link.h"
#include "lib/util/base/atomic.h"

#include <stdbool.h>
#include <stdint.h>

/* What a lane knows of a peer. */
struct tern_tcp_endpoint {
    struct tern_tcp_link *links[TERN_TCP_LINKS_MAX]; /* [0] is NULL: not connected */
    int link_count;
    struct tern_list_node streams; /* streams of which not all bytes are in pieces yet */
};

/* A lane's links. Locks: the lane's lock. */
struct tern_tcp_lane {
    int epoll; /* watches the links */
    struct tern_list_node links; /* all links */
    /* Links that have ended unexpectedly. Their loss is reported after a delay, in which the
     * launcher may end this process. */
    struct tern_list_node losing;
    int link_count;
    struct tern_tcp_link *latest; /* the link that received last */
    uint32_t rounds;              /* number of calls of progress */
    bool unsent;                  /* links may hold something that progress must write */
    int watching_room; /* number of links that hold something for which the system has no room */
    bool muted;                   /* the epoll is not told of arriving data (tern_tcp_lane_mute) */
    unsigned received;            /* rounds in which data arrived since `muted` changed */
    uint64_t door_at; /* ticks of the last look at the listener; the flusher reads it, too */
    uint64_t looked_ms; /* time of the last look for silent links */
    /* polls in a row that found nothing, and polls skipped since the last look */
    unsigned idle, skips;
    unsigned char *room; /* buffer of TERN_TCP_ROOM bytes for receiving */
} __attribute__((aligned(TERN_CACHE_LINE)));
extern struct tern_tcp_lane tern_tcp_lanes[TERN_LANES_MAX];

/* Returns the link whose `in_lane` this is. */
static inline struct tern_tcp_link *tern_tcp_link_at(struct tern_list_node *in_lane)
{
    return TERN_CONTAINER(in_lane, struct tern_tcp_link, in_lane);
}

/* Prepares a lane. Returns 0, or TERN_ERR_OTHER with text. */
int tern_tcp_lane_open(struct tern_tcp_lane *lane);
/* Ends all links of a lane and frees what it holds. */
void tern_tcp_lane_close(struct tern_tcp_lane *lane);

/* Returns the peer's endpoint, and makes it on first use. NULL if there is no memory. */
struct tern_tcp_endpoint *tern_tcp_endpoint_of(struct tern_peer *peer);

/* Takes over the links that tern_tcp_arrive has brought, and loses the peers that cannot be
 * reached. Returns how many of both. */
int tern_tcp_lane_take_arrivals(struct tern_tcp_lane *lane);
/* Tells the lane's epoll whether to report that the system has room for more of what the link
 * holds. */
void tern_tcp_lane_watch_room(struct tern_tcp_lane *lane, struct tern_tcp_link *link, bool wanted);
/* Mutes the links: arriving data is not reported to the epoll. For a rank that reads all its links
 * again and again. The system then also acknowledges data when it arrives, not when it is read
 * (docs/network.md). */
void tern_tcp_lane_mute(struct tern_tcp_lane *lane, bool muted);
/* Frees a link whose other end has left MPI; nothing of it is missing. */
void tern_tcp_lane_drop(struct tern_tcp_lane *lane, struct tern_tcp_link *link);
/* Notes that a link has ended unexpectedly, with errno `error`. 0: the other end has closed it;
 * ESHUTDOWN: the other end has closed it after it had left MPI. */
void tern_tcp_lane_begin_losing(struct tern_tcp_lane *lane, struct tern_tcp_link *link, int error);
/* Tells the pml of the links that ended so long ago that the launcher would have ended this process
 * by now. Returns their number. */
int tern_tcp_lane_heed_losing(struct tern_tcp_lane *lane);

#endif
