/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/btl/ofi/wire/arrival.h"

#include "lib/btl/ofi/wire/failover.h"
#include "lib/btl/ofi/wire/ofi_greeting.h"
#include "lib/util/base/log.h"

#include <stdlib.h>
#include <string.h>

/* Returns the link that a frame names; NULL if there is none, or the cookie is another's. */
static struct tern_ofi_link *link_of(const struct tern_ofi_lane *lane,
                                     const struct tern_ofi_head *head)
{
    if (TERN_UNLIKELY(head->slot - 1 >= lane->slot_count))
        return NULL;
    struct tern_ofi_link *link = lane->by_slot[head->slot - 1];
    return TERN_LIKELY(link->cookie == head->cookie) ? link : NULL;
}

/* Handles a numbered frame whose turn has come. */
static inline void take_in_turn(struct tern_ofi_lane *lane, struct tern_ofi_link *link,
                                const unsigned char *bytes, size_t length)
{
    struct tern_ofi_head head;
    link->next_in++;
    if (TERN_UNLIKELY(link->failover.keeps))
        tern_ofi_failover_count(lane, link, length);
    memcpy(&head, bytes, sizeof head);
    tern_ofi_frame_kinds[head.kind].take(lane, link, bytes, length);
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
        lane->strange += ahead < 0 && !link->failover.keeps; /* else it was sent again */
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

static bool is_sane(const struct tern_ofi_head *head, const unsigned char *bytes, size_t length)
{
    if (head->order != TERN_OFI_ORDER || head->kind >= TERN_OFI_KINDS)
        return false;
    const struct tern_ofi_frame_kind *kind = &tern_ofi_frame_kinds[head->kind];
    return kind->take && length >= kind->least && length <= kind->most &&
           (!kind->is_sane || kind->is_sane(bytes, length));
}

void tern_ofi_frame_arrived(struct tern_ofi_lane *lane, const unsigned char *bytes, size_t length)
{
    struct tern_ofi_head head;
    struct tern_ofi_link *link = NULL;
    if (length >= sizeof head)
        memcpy(&head, bytes, sizeof head);
    if (TERN_UNLIKELY(length < sizeof head || !is_sane(&head, bytes, length) ||
                      (head.kind != TERN_OFI_HELLO && !(link = link_of(lane, &head))))) {
        tern_ofi_note_stranger(lane);
        return;
    }
    if (TERN_LIKELY(tern_ofi_frame_kinds[head.kind].numbered))
        take_numbered(lane, link, &head, bytes, length);
    else
        tern_ofi_frame_kinds[head.kind].take(lane, link, bytes, length);
}
