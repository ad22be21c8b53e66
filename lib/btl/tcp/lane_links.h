/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_TCP_LANE_H
#define TERN_TCP_LANE_H

/*
 * The links of a lane, and by which of them it sends to a peer: how they come, how they end, and
 * what becomes of those that end before their time.
 *
 * A connection carries both directions. It belongs to the lane that the caller's lane number names,
 * modulo each end's own number of lanes; what is another lane's goes by the mailbox
 * (lib/pml/mailbox.c).
 */

#include "lib/btl/peer.h"
#include "lib/btl/tcp/link.h"
#include "lib/util/atomic.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

/* What a lane knows of a peer. */
struct tern_tcp_endpoint {
    struct tern_tcp_link *links[TERN_TCP_LINKS_MAX]; /* [0] NULL: not connected */
    int link_count;
    struct tern_list_node streams; /* that are not all in pieces yet */
};

/* Guarded by the lane's lock, but for the arrivals. */
struct tern_tcp_lane {
    int epoll; /* of the links */
    struct tern_list_node links;
    /* that have ended before their time: the launcher is given some to end us */
    struct tern_list_node losing;
    int link_count;
    struct tern_tcp_link *latest; /* received last */
    uint32_t rounds;              /* of progress */
    bool unsent;                  /* links may hold something: look */
    int watching_room;            /* links that hold something for which the system has no room */
    bool muted;                   /* the links do not tell the epoll of what comes */
    unsigned received;            /* rounds in which something came since `muted` changed */
    uint64_t door_at;
    uint64_t looked_ms; /* the last look for silent links */
    unsigned idle, skips;
    pthread_mutex_t arrivals_lock;
    struct tern_list_node arrivals;
    struct tern_list_node unreached; /* peers to which there is no way */
    bool has_arrivals; /* atomic; of either kind */
    unsigned char *room;
} __attribute__((aligned(TERN_CACHE_LINE)));
extern struct tern_tcp_lane tern_tcp_lanes[TERN_LANES_MAX];

static inline struct tern_tcp_link *tern_tcp_link_at(struct tern_list_node *in_lane)
{
    return TERN_CONTAINER(in_lane, struct tern_tcp_link, in_lane);
}

/* 0, or TERN_ERR_OTHER with text. */
int tern_tcp_lane_open(struct tern_tcp_lane *lane);
/* Ends all its links. */
void tern_tcp_lane_close(struct tern_tcp_lane *lane);

/* Made when it is not there yet. NULL: no memory. */
struct tern_tcp_endpoint *tern_tcp_endpoint_of(struct tern_peer *peer);

/* Takes over the links that have come about meanwhile (tern_tcp_arrive), and loses the peers that
 * cannot be reached. Returns how many. */
int tern_tcp_lane_take_arrivals(struct tern_tcp_lane *lane);
/* Shall its epoll tell when the system has room for more of what the link holds? */
void tern_tcp_lane_watch_room(struct tern_tcp_lane *lane, struct tern_tcp_link *link, bool wanted);
/* Muted links do not tell the epoll of what comes, for a rank that reads all of them again and
 * again; and the system acknowledges data as it comes, not as it is read (docs/network.md). */
void tern_tcp_lane_mute(struct tern_tcp_lane *lane, bool muted);
/* Its other end has left, and nothing of it is missing: the link is freed. */
void tern_tcp_lane_drop(struct tern_tcp_lane *lane, struct tern_tcp_link *link);
/* It has ended before its time, by errno; 0: its other end has closed it; ESHUTDOWN: after it had
 * left MPI. */
void tern_tcp_lane_begin_losing(struct tern_tcp_lane *lane, struct tern_tcp_link *link, int error);
/* Tells the pml of those that ended so long ago that the launcher would have spoken. Returns how
 * many. */
int tern_tcp_lane_heed_losing(struct tern_tcp_lane *lane);

#endif
