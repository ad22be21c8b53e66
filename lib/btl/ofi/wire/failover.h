/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_OFI_FAILOVER_H
#define TERN_OFI_FAILOVER_H

/*
 * What keeps frames from getting lost with a network card. If one end of a link has several rails,
 * both keep copies of numbered frames until the other end has seen them (SEEN). When the route by
 * which frames go dies, the kept ones are sent again by the next one. An end that leaves out a rail
 * tells the other (RAIL_DEAD). Which routes there are stands in routes.h, which cards live in
 * rails.h. Locks: the lane's lock.
 */

#include "lib/btl/ofi/wire/ofi_link.h"

/* Keeps a copy of a numbered frame that was sent, if link->failover.keeps. */
void tern_ofi_keep_frame(struct tern_ofi_link *link, uint32_t number, const void *frame,
                         size_t length);
/* Counts a frame that has arrived, of which the other end keeps a copy. Now and then the other end
 * must be told. */
void tern_ofi_failover_count(struct tern_ofi_lane *lane, struct tern_ofi_link *link, size_t length);
/* Handles that a port of ours is closed: all links of the lane use others, and tell their other
 * ends. */
void tern_ofi_port_left(struct tern_ofi_lane *lane, const struct tern_ofi_port *port);

/* Returns true if something is left for tern_ofi_failover_go_on, which does what it has room for.
 */
static inline bool tern_ofi_failover_owes(const struct tern_ofi_link *link)
{
    return link->failover.resends || link->failover.owes_dead || link->failover.owes_seen;
}
void tern_ofi_failover_go_on(struct tern_ofi_link *link, uint64_t now_ms);

#endif
