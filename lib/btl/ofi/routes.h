/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_OFI_ROUTES_H
#define TERN_OFI_ROUTES_H

/*
 * Routes of a link: pairs of our ports and the other end's rails. Frames go by the first route,
 * reads by all. When a rail of either end dies, the routes are made anew. Frames that were sent by
 * the old route may be lost, so both ends of a link with several rails keep copies of numbered
 * frames until they have been seen, and send them again by the new route. The receiver drops what
 * it has already. Locks: the lane's lock.
 */

#include "lib/btl/ofi/ofi_link.h"

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
/* Handles that a port of ours is closed: all links of the lane use others, and tell their other
 * ends. */
void tern_ofi_port_left(struct tern_ofi_lane *lane, const struct tern_ofi_port *port);

/* Keeps a copy of a numbered frame that was sent, if link->keeps. */
void tern_ofi_keep_frame(struct tern_ofi_link *link, uint32_t number, const void *frame,
                         size_t length);
/* Sends kept frames again, as many as there is room for. link->resends is false when all are on
 * their way. */
void tern_ofi_resend(struct tern_ofi_link *link);

#endif
