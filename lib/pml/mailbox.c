/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Packets of one lane that arrive in another. This happens if the sender has another number of
 * lanes than this process, so that a ring of the sender does not end in the lane of its
 * communicators. Such a packet is copied into the mailbox of its lane, which that lane's progress
 * empties, in order. Processes with equal numbers of lanes never use mailboxes.
 */

#include "lib/node/doorbell.h"
#include "lib/pml/pml_request.h"

#include "lib/util/base/log.h"

#include <stdlib.h>
#include <string.h>

struct letter {
    struct tern_list_node link;
    uint32_t from_lane; /* lane in which the packet arrived */
    uint32_t job, rank; /* job and rank of the sender */
    struct tern_packet packet;
    size_t length;
    unsigned char payload[];
};

/* Returns the lane that a packet belongs to: messages by their context, other packets by the
 * request of this process that they name. */
static uint32_t lane_of(const struct tern_packet *packet, const void *payload, size_t length)
{
    struct tern_reply reply;
    switch (packet->kind) {
    case TERN_PACKET_DATA:
        return tern_number_lane(packet->id);
    case TERN_PACKET_MATCHED:
    case TERN_PACKET_PULLED:
    case TERN_PACKET_CLEAR:
    case TERN_PACKET_CANCELLED:
    case TERN_PACKET_CLEAR_INTO: /* begins with a reply */
    case TERN_PACKET_WRITTEN:
        if (length < sizeof reply)
            return 0;
        memcpy(&reply, payload, sizeof reply);
        return tern_number_lane(reply.id);
    default:
        return tern_lane_of(packet->context)->index;
    }
}

static _Noreturn void no_memory(size_t length, uint32_t rank)
{
    tern_log("no memory for a packet of %zu bytes from rank %u", length, rank);
    abort();
}

static void put(struct tern_lane *lane, const struct tern_peer *from,
                const struct tern_packet *packet, const void *payload, size_t length)
{
    struct letter *letter = malloc(sizeof *letter + length);
    if (!letter)
        no_memory(length, from->rank);
    *letter = (struct letter){.from_lane = from->lane,
                              .job = from->job,
                              .rank = from->rank,
                              .packet = *packet,
                              .length = length};
    memcpy(letter->payload, payload, length);
    pthread_mutex_lock(&lane->mailbox.mutex);
    tern_list_append(&lane->mailbox.letters, &letter->link);
    __atomic_store_n(&lane->mailbox.filled, true, __ATOMIC_RELAXED);
    pthread_mutex_unlock(&lane->mailbox.mutex);
    tern_doorbell_ring_self();
}

bool (*tern_mailbox_opens)(struct tern_peer *from, const struct tern_packet *packet,
                           const void *payload, size_t length);

bool tern_mailbox_deliver(struct tern_peer *from, const struct tern_packet *packet,
                          const void *payload, size_t length)
{
    uint32_t lane = lane_of(packet, payload, length) & (tern_lane_count - 1);
    if (TERN_LIKELY(lane == from->lane))
        return tern_mailbox_opens(from, packet, payload, length);
    put(&tern_lanes[lane], from, packet, payload, length);
    return true;
}

static void open_letter(struct tern_lane *lane, const struct letter *letter)
{
    struct tern_peer *from = tern_peer_get(lane->index, letter->job, letter->rank);
    if (!from)
        no_memory(letter->length, letter->rank);
    __atomic_fetch_or(&lane->fed_by, 1u << letter->from_lane, __ATOMIC_RELAXED);
    tern_mailbox_opens(from, &letter->packet, letter->payload, letter->length);
}

int tern_mailbox_empty(struct tern_lane *lane)
{
    int count = 0;
    struct tern_list_node letters;
    pthread_mutex_lock(&lane->mailbox.mutex);
    tern_list_move(&lane->mailbox.letters, &letters);
    __atomic_store_n(&lane->mailbox.filled, false, __ATOMIC_RELAXED);
    pthread_mutex_unlock(&lane->mailbox.mutex);
    while (!tern_list_empty(&letters)) {
        struct letter *letter = TERN_CONTAINER(letters.next, struct letter, link);
        open_letter(lane, letter);
        tern_list_remove(&letter->link);
        free(letter);
        count++;
    }
    return count;
}
