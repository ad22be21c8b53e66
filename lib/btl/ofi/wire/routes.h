/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_OFI_ROUTES_H
#define TERN_OFI_ROUTES_H

/*
 * Routes of a link: pairs of our ports and the other end's rails. Frames go by the first route,
 * reads by all. When a rail of either end dies, the routes are made anew, and frames that may be
 * lost are sent again (failover.h). Locks: the lane's lock.
 */

#include "lib/btl/ofi/wire/ofi_link.h"

/* Sets the rails of the other end, and makes the routes. Returns false, with link->why, if none of
 * them can be reached. */
bool tern_ofi_link_set_rails(struct tern_ofi_link *link, const struct tern_ofi_rails *theirs);
/* Sends frames by the next route, in turn. For greetings that are not answered. */
void tern_ofi_link_next_route(struct tern_ofi_link *link);
/* Notes that an operation by the port failed, with libfabric's error: the route is left out. If it
 * was the last one, the link fails. */
void tern_ofi_route_failed(struct tern_ofi_link *link, const struct tern_ofi_port *port, int error);
/* Notes that reads by the port ended, well or not. A route whose reads fail again and again is left
 * out, unless it is the last one. */
void tern_ofi_route_read(struct tern_ofi_link *link, const struct tern_ofi_port *port, int error);
/* Handles that the other end has left out a rail. */
void tern_ofi_their_rail_died(struct tern_ofi_link *link, uint32_t rail);
/* Makes the routes anew, of the rails that live. A peer to which none leads is lost. */
void tern_ofi_remake_routes(struct tern_ofi_link *link);

#endif
