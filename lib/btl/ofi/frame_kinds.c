/* SPDX-License-Identifier: BSD-3-Clause */

/* What frames mean: the table of their kinds, and the kinds that need few lines. */

#include "lib/btl/btl.h"
#include "lib/btl/ofi/transfer/keys.h"
#include "lib/btl/ofi/transfer/read.h"
#include "lib/btl/ofi/wire/arrival.h"
#include "lib/btl/ofi/wire/ofi_greeting.h"
#include "lib/btl/ofi/wire/routes.h"

#include <string.h>

extern const struct tern_btl tern_btl_ofi;

static uint32_t number_of(const unsigned char *bytes)
{
    struct tern_ofi_head head;
    memcpy(&head, bytes, sizeof head);
    return head.number;
}

static void take_packet(struct tern_ofi_lane *lane, struct tern_ofi_link *link,
                        const unsigned char *bytes, size_t length)
{
    struct tern_ofi_packet frame;
    (void)lane;
    memcpy(&frame, bytes, sizeof frame);
    link->peer_bye = false;
    __atomic_store_n(&link->peer->came_by, &tern_btl_ofi, __ATOMIC_RELAXED);
    tern_btl_deliver(link->peer, &frame.packet, bytes + sizeof frame, length - sizeof frame);
}

static void take_bye(struct tern_ofi_lane *lane, struct tern_ofi_link *link,
                     const unsigned char *bytes, size_t length)
{
    (void)bytes, (void)length;
    link->peer_bye = link->owes_bye_seen = true;
    link->out_at_bye = link->next_out;
    tern_ofi_link_note_busy(lane, link);
}

static void take_bye_seen(struct tern_ofi_lane *lane, struct tern_ofi_link *link,
                          const unsigned char *bytes, size_t length)
{
    uint32_t number = number_of(bytes);
    (void)lane, (void)length;
    tern_ofi_frames_drop(&link->failover.unseen, number + 1);
    link->bye_answered |= link->bye_sent && number == link->bye_number;
    link->refused_ms = 0;
}

static void take_seen(struct tern_ofi_lane *lane, struct tern_ofi_link *link,
                      const unsigned char *bytes, size_t length)
{
    (void)lane, (void)length;
    tern_ofi_frames_drop(&link->failover.unseen, number_of(bytes));
}

static void take_rail_dead(struct tern_ofi_lane *lane, struct tern_ofi_link *link,
                           const unsigned char *bytes, size_t length)
{
    struct tern_ofi_rail_frame dead;
    (void)length;
    memcpy(&dead, bytes, sizeof dead);
    tern_ofi_their_rail_died(link, dead.rail);
    tern_ofi_readings_await(lane, link, dead.rail);
}

static void take_key(struct tern_ofi_lane *lane, struct tern_ofi_link *link,
                     const unsigned char *bytes, size_t length)
{
    (void)lane;
    tern_ofi_key_arrived(link, bytes, length);
}

static void take_greeting(struct tern_ofi_lane *lane, struct tern_ofi_link *link,
                          const unsigned char *bytes, size_t length)
{
    (void)length;
    tern_ofi_take_greeting(lane, link, bytes);
}

/* Frames of one length. */
#define BYTES_OF(type) .least = sizeof(struct type), .most = sizeof(struct type)

const struct tern_ofi_frame_kind tern_ofi_frame_kinds[TERN_OFI_KINDS] = {
    [TERN_OFI_HELLO] = {.take = take_greeting, BYTES_OF(tern_ofi_greeting_frame)},
    [TERN_OFI_WELCOME] = {.take = take_greeting, BYTES_OF(tern_ofi_greeting_frame)},
    [TERN_OFI_PACKET] = {.take = take_packet,
                         .numbered = true,
                         .least = sizeof(struct tern_ofi_packet),
                         .most = TERN_OFI_FRAME_MAX},
    [TERN_OFI_BYE] = {.take = take_bye, .numbered = true, BYTES_OF(tern_ofi_head)},
    [TERN_OFI_BYE_SEEN] = {.take = take_bye_seen, BYTES_OF(tern_ofi_head)},
    [TERN_OFI_KEY] = {.take = take_key,
                      .numbered = true,
                      .is_sane = tern_ofi_key_is_sane,
                      .most = SIZE_MAX},
    [TERN_OFI_RAIL_DEAD] = {.take = take_rail_dead,
                            .numbered = true,
                            BYTES_OF(tern_ofi_rail_frame)},
    [TERN_OFI_SEEN] = {.take = take_seen, BYTES_OF(tern_ofi_head)},
};
