/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_TCP_ARRIVALS_H
#define TERN_TCP_ARRIVALS_H

/* What reception (connecting.h) leaves for the next progress of a lane: links that have come about,
 * and peers that cannot be reached. Locks: takes only that of the lanes' arrivals. */

#include "lib/btl/tcp/link.h"
#include "lib/util/base/atomic.h"
#include "lib/util/net/launcher.h"
#include "lib/util/base/list.h"

#include <pthread.h>
#include <stdbool.h>

struct tern_tcp_unreached {
    struct tern_list_node in_lane;
    struct tern_process process;
    uint8_t tag; /* of the contact */
    enum tern_unreached how;
    char text[];
};

/* What is left for a lane. */
struct tern_tcp_arrivals {
    pthread_mutex_t lock;
    struct tern_list_node links, unreached; /* by `in_lane`; guarded by the lock */
    bool any;                               /* atomic: one of the lists is not empty */
} __attribute__((aligned(TERN_CACHE_LINE)));
extern TERN_OURS struct tern_tcp_arrivals tern_tcp_arrivals[TERN_LANES_MAX]; /* by lane */

void tern_tcp_arrivals_open(struct tern_tcp_arrivals *arrivals);
/* Moves all that is left into the two lists. */
void tern_tcp_arrivals_take(struct tern_tcp_arrivals *arrivals, struct tern_list_node *ret_links,
                            struct tern_list_node *ret_unreached);

/* Gives its lane a link whose handshake is complete. */
void tern_tcp_arrive(struct tern_tcp_link *link);
/* Returns the lanes of the job that our lane `index` serves, a bit for each of TERN_LANES_MAX. Two
 * processes may have different numbers of lanes; both understand these bits. */
uint32_t tern_tcp_lanes_of(uint32_t index);
/* Notes that a connection with a rank cannot be made, for the reason `text`: the lanes lose the
 * peer (TERN_UNREACHED_LOST), or this process does what the rank asks for. */
void tern_tcp_unreached(uint32_t rank, enum tern_unreached how, uint32_t lanes, const char *text);
/* Notes that these lanes lose the process, which may be of another job. */
void tern_tcp_lose(struct tern_process process, uint32_t lanes, const char *text);

#endif
