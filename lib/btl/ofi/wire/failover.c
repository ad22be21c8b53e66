/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/btl/ofi/wire/failover.h"

#include "lib/btl/ofi/wire/routes.h"
#include "lib/util/base/error.h"
#include "lib/util/base/log.h"

#include <stdlib.h>
#include <string.h>

/* The receiver confirms frames to the sender after FRAMES_MOST frames or BYTES_MOST bytes. */
enum { FRAMES_MOST = 64, BYTES_MOST = 256 << 10 };

/* ---- the sender ---- */

void tern_ofi_keep_frame(struct tern_ofi_link *link, uint32_t number, const void *frame,
                         size_t length)
{
    if (!link->failover.keeps || tern_ofi_frames_add(&link->failover.unseen, number, frame, length))
        return;
    tern_log("no memory for a copy of a packet of %zu bytes to rank %u", length, link->peer->rank);
    abort();
}

/* Sends kept frames again by the new route, as many as there is room for. The receiver drops those
 * that it has already. */
static void resend(struct tern_ofi_link *link)
{
    for (const struct tern_ofi_frame *kept = tern_ofi_frames_first(&link->failover.unseen); kept;
         kept = tern_ofi_frames_next(&link->failover.unseen, kept)) {
        if (link->failover.resend_begun &&
            (int32_t)(kept->number - link->failover.resend_last) <= 0)
            continue;
        struct tern_ofi_send *send = tern_ofi_take_send(link->port);
        if (!send)
            return;
        memcpy(send->bytes, kept->bytes, kept->length);
        int rc = tern_ofi_post(link, send, kept->length);
        if (rc && rc != TERN_ERR_AGAIN)
            tern_ofi_route_failed(link, link->port, rc); /* this begins anew, or ends the link */
        if (rc)
            return;
        link->failover.resend_begun = true;
        link->failover.resend_last = kept->number;
    }
    link->failover.resends = false;
}

/* ---- the receiver ---- */

void tern_ofi_failover_count(struct tern_ofi_lane *lane, struct tern_ofi_link *link, size_t length)
{
    link->failover.new_bytes += length;
    if (++link->failover.new_frames < FRAMES_MOST && link->failover.new_bytes < BYTES_MOST)
        return;
    link->failover.owes_seen = true;
    tern_ofi_link_note_busy(lane, link);
}

/* ---- rails that die ---- */

void tern_ofi_port_left(struct tern_ofi_lane *lane, const struct tern_ofi_port *port)
{
    for (uint32_t i = 0; i < lane->slot_count; i++) {
        struct tern_ofi_link *link = lane->by_slot[i];
        tern_ofi_remake_routes(link);
        if (link->state != TERN_OFI_OPEN)
            continue;
        link->failover.owes_dead |= 1u << port->rail;
        tern_ofi_link_note_busy(lane, link);
    }
}

/* Tells the other end which of our rails are left out. */
static void tell_dead(struct tern_ofi_link *link)
{
    while (link->failover.owes_dead) {
        uint32_t rail = (uint32_t)__builtin_ctz(link->failover.owes_dead);
        struct tern_ofi_rail_frame frame = {
            .head = tern_ofi_link_head(link, TERN_OFI_RAIL_DEAD, link->next_out), .rail = rail};
        struct tern_ofi_send *send = tern_ofi_take_send(link->port);
        if (!send)
            return;
        memcpy(send->bytes, &frame, sizeof frame);
        if (tern_ofi_post(link, send, sizeof frame))
            return; /* it is tried again; if the route has failed, other frames notice that */
        tern_ofi_keep_frame(link, link->next_out++, &frame, sizeof frame);
        link->failover.owes_dead &= ~(1u << rail);
    }
}

static void tell_seen(struct tern_ofi_link *link, uint64_t now)
{
    if (!tern_ofi_link_send_head(link, TERN_OFI_SEEN, link->next_in, now))
        return;
    link->failover.owes_seen = false;
    link->failover.new_frames = 0;
    link->failover.new_bytes = 0;
}

void tern_ofi_failover_go_on(struct tern_ofi_link *link, uint64_t now_ms)
{
    if (link->failover.resends)
        resend(link);
    if (link->failover.owes_dead)
        tell_dead(link);
    if (link->failover.owes_seen)
        tell_seen(link, now_ms);
}
