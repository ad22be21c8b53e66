/* SPDX-License-Identifier: BSD-3-Clause */

/* Frames that arrive: to which link they belong, and whose turn it is. */

#include "lib/btl/btl.h"
#include "lib/btl/ofi/keys.h"
#include "lib/btl/ofi/ofi_greeting.h"
#include "lib/btl/ofi/read.h"
#include "lib/btl/ofi/routes.h"
#include "lib/util/base/log.h"

#include <stdlib.h>
#include <string.h>

/* The receiver confirms frames to the sender after FRAMES_MOST frames or BYTES_MOST bytes. */
enum { FRAMES_MOST = 64, BYTES_MOST = 256 << 10 };

extern const struct tern_btl tern_btl_ofi;

/* Returns the link that a frame names; NULL if there is none, or the cookie is another's. */
static struct tern_ofi_link *link_of(const struct tern_ofi_lane *lane,
                                     const struct tern_ofi_head *head)
{
    if (TERN_UNLIKELY(head->slot - 1 >= lane->slot_count))
        return NULL;
    struct tern_ofi_link *link = lane->by_slot[head->slot - 1];
    return TERN_LIKELY(link->cookie == head->cookie) ? link : NULL;
}

/* Counts a frame, of which the other end keeps a copy until it learns that it has arrived. */
static void count_frame(struct tern_ofi_lane *lane, struct tern_ofi_link *link, size_t length)
{
    link->new_bytes += length;
    if (++link->new_frames < FRAMES_MOST && link->new_bytes < BYTES_MOST)
        return;
    link->owes_seen = true;
    tern_ofi_link_note_busy(lane, link);
}

/* Handles a numbered frame whose turn has come. */
static inline void take_in_turn(struct tern_ofi_lane *lane, struct tern_ofi_link *link,
                                const unsigned char *bytes, size_t length)
{
    struct tern_ofi_packet frame;
    link->next_in++;
    if (TERN_UNLIKELY(link->keeps))
        count_frame(lane, link, length);
    memcpy(&frame, bytes, sizeof frame.head);
    if (TERN_UNLIKELY(frame.head.kind == TERN_OFI_BYE)) {
        link->peer_bye = link->owes_bye_seen = true;
        link->out_at_bye = link->next_out;
        tern_ofi_link_note_busy(lane, link);
        return;
    }
    if (TERN_UNLIKELY(frame.head.kind == TERN_OFI_KEY)) {
        tern_ofi_key_arrived(link, bytes, length);
        return;
    }
    if (TERN_UNLIKELY(frame.head.kind == TERN_OFI_RAIL_DEAD)) {
        struct tern_ofi_rail_frame dead;
        memcpy(&dead, bytes, sizeof dead);
        tern_ofi_their_rail_died(link, dead.rail);
        tern_ofi_readings_await(lane, link, dead.rail);
        return;
    }
    memcpy(&frame, bytes, sizeof frame);
    link->peer_bye = false;
    __atomic_store_n(&link->peer->came_by, &tern_btl_ofi, __ATOMIC_RELAXED);
    tern_btl_deliver(link->peer, &frame.packet, bytes + sizeof frame, length - sizeof frame);
}

/* Keeps a frame until its turn. */
static void park(struct tern_ofi_link *link, uint32_t number, const unsigned char *bytes,
                 size_t length)
{
    if (tern_ofi_frames_add(&link->parked, number, bytes, length))
        return;
    tern_log("no memory for a packet of %zu bytes from rank %u that came before its turn", length,
             link->peer->rank);
    abort();
}

static void take_parked(struct tern_ofi_lane *lane, struct tern_ofi_link *link)
{
    const struct tern_ofi_frame *first;
    while ((first = tern_ofi_frames_first(&link->parked)) && first->number == link->next_in) {
        struct tern_ofi_frame *frame = tern_ofi_frames_take(&link->parked);
        take_in_turn(lane, link, frame->bytes, frame->length);
        free(frame);
    }
}

static inline void take_numbered(struct tern_ofi_lane *lane, struct tern_ofi_link *link,
                                 const struct tern_ofi_head *head, const unsigned char *bytes,
                                 size_t length)
{
    int32_t ahead = (int32_t)(head->number - link->next_in);
    if (TERN_UNLIKELY(link->state == TERN_OFI_LOST || ahead < 0)) {
        lane->strange += ahead < 0 && !link->keeps; /* else it was sent again */
        /* a BYE that is repeated: the answer was lost */
        if (ahead < 0 && head->kind == TERN_OFI_BYE && link->peer_bye) {
            link->owes_bye_seen = true;
            tern_ofi_link_note_busy(lane, link);
        }
        return;
    }
    if (TERN_UNLIKELY(ahead > 0)) {
        park(link, head->number, bytes, length);
        return;
    }
    take_in_turn(lane, link, bytes, length);
    if (TERN_UNLIKELY(link->parked.count))
        take_parked(lane, link);
}

/* Returns true if a frame of this kind may have so many bytes. */
static bool is_sane(uint16_t kind, const unsigned char *bytes, size_t length)
{
    switch (kind) {
    case TERN_OFI_KEY:
        return tern_ofi_key_is_sane(bytes, length);
    case TERN_OFI_HELLO:
    case TERN_OFI_WELCOME:
        return length == sizeof(struct tern_ofi_greeting_frame);
    case TERN_OFI_PACKET:
        return length >= sizeof(struct tern_ofi_packet) && length <= TERN_OFI_FRAME_MAX;
    case TERN_OFI_RAIL_DEAD:
        return length == sizeof(struct tern_ofi_rail_frame);
    case TERN_OFI_BYE:
    case TERN_OFI_BYE_SEEN:
    case TERN_OFI_SEEN:
        return length == sizeof(struct tern_ofi_head);
    default:
        return false;
    }
}

void tern_ofi_frame_arrived(struct tern_ofi_lane *lane, const unsigned char *bytes, size_t length)
{
    struct tern_ofi_head head;
    struct tern_ofi_link *link = NULL;
    if (length >= sizeof head)
        memcpy(&head, bytes, sizeof head);
    if (TERN_UNLIKELY(length < sizeof head || head.order != TERN_OFI_ORDER ||
                      !is_sane(head.kind, bytes, length) ||
                      (head.kind != TERN_OFI_HELLO && !(link = link_of(lane, &head))))) {
        tern_ofi_note_stranger(lane);
        return;
    }
    switch (head.kind) {
    case TERN_OFI_PACKET:
    case TERN_OFI_BYE:
    case TERN_OFI_KEY:
    case TERN_OFI_RAIL_DEAD:
        take_numbered(lane, link, &head, bytes, length);
        break;
    case TERN_OFI_SEEN:
        tern_ofi_frames_drop(&link->unseen, head.number);
        break;
    case TERN_OFI_BYE_SEEN:
        tern_ofi_frames_drop(&link->unseen, head.number + 1);
        link->bye_answered |= link->bye_sent && head.number == link->bye_number;
        link->refused_ms = 0;
        break;
    default:
        tern_ofi_take_greeting(lane, link, bytes);
    }
}
