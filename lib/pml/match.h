/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_MATCH_H
#define TERN_MATCH_H

/*
 * Matching in constant time, whatever stands in the queues.
 *
 * Both sides are hash tables, a pair per lane, of queues, a queue per key (context, source, tag). A posted receive stands in one queue, its
 * wildcards being part of the key, with a global stamp; an arriving message looks at the heads of at most four queues
 * and takes the oldest. An unexpected message stands in four queues (exact, any source, any tag, both), so a receive or probe
 * looks at one head. Tags below MPI_ANY_TAG are internal: wildcards do not see them.
 */

#include "lib/pml/pml_request.h"

#include <string.h>

enum { TERN_MATCH_KEYS = 4 };

struct tern_queue {
    const struct tern_context *context;
    int source, tag;
    struct tern_queue *hash_next;
    struct tern_link items;
};

/* A message that came before its receive. */
struct tern_unexpected {
    struct tern_link links[TERN_MATCH_KEYS]; /* [0]: exact; the last three are unused by internal tags */
    struct tern_context *context;
    struct tern_peer *from;
    struct tern_packet packet;
    uint32_t length;
    unsigned char payload[];
};

/* Bytes of the whole message, of which an announcement brings none. */
static inline uint64_t tern_unexpected_bytes(const struct tern_unexpected *message)
{
    struct tern_rendezvous rendezvous;
    if (message->packet.kind != TERN_PACKET_RENDEZVOUS)
        return message->length;
    memcpy(&rendezvous, message->payload, sizeof rendezvous);
    return rendezvous.length;
}

void tern_match_post(struct tern_pml_request *request);
void tern_match_withdraw(struct tern_pml_request *request);
/* A posted receive that may never get its message, as the peer is lost. It stays. NULL: none. */
struct tern_pml_request *tern_match_waiting_for(struct tern_lane *lane, const struct tern_peer *peer);
/* The oldest posted receive that takes a message from source with tag; it is removed. NULL: none. */
struct tern_pml_request *tern_match_posted(struct tern_context *context, int source, int tag);

void tern_match_add(struct tern_unexpected *message);
void tern_match_remove(struct tern_unexpected *message);
/* The oldest message for (source, tag), which may be wildcards. It stays. */
struct tern_unexpected *tern_match_unexpected(struct tern_context *context, int source, int tag);
/* Any message of the context, exact or internal; for closing it. */
struct tern_unexpected *tern_match_any(struct tern_context *context);
/* How many messages of a user stand there (not of the library itself), and the first found; NULL: none. */
uint64_t tern_match_count(struct tern_context *context, struct tern_unexpected **ret_first);
/* The announced message `id` of `from`, for cancelling; NULL: not here (any more). */
struct tern_unexpected *tern_match_announced(struct tern_context *context, const struct tern_peer *from, uint64_t id);

void tern_match_finalize(struct tern_lane *lane);

#endif
