/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_MATCH_H
#define TERN_MATCH_H

/*
 * Matching in constant time, however many receives and messages are queued.
 *
 * Each lane has a pair of hash tables: one of posted receives, one of unexpected messages. A table
 * holds queues, one per key (context, source, tag).
 *
 * A posted receive is in one queue; wildcards are part of the key. The receive gets a stamp that
 * counts up in the lane. An arriving message looks at the heads of at most four queues and takes
 * the receive with the lowest stamp. A receive that is posted while its context has no other
 * receive needs no queue: it is older than all that follow, so a message is compared with this
 * receive first.
 *
 * An unexpected message is in the queue of its key and in its context's list of all unexpected
 * messages. A receive or probe with a wildcard looks at the first few messages of that list. If
 * none of these matches, and there are more, all messages of the context are put into queues by
 * wildcard keys too, now and from then on, so that any search looks at one head only. Until then
 * messages have no links for these queues.
 *
 * Tags below MPI_ANY_TAG are internal. MPI_ANY_TAG does not match them, and they have a list of
 * their own.
 */

#include "lib/pml/pml_request.h"

#include <string.h>

/* A queue of posted receives or unexpected messages that have one key, the oldest first. */
struct tern_queue {
    const struct tern_context *context;
    int source, tag;
    struct tern_queue *hash_next;
    struct tern_list_node items;
};

/* A message that arrived before its receive was posted. */
struct tern_unexpected {
    struct tern_list_node exact;   /* link in the queue of its source and tag */
    /* link in the context's list; or in the list of early or parked messages (lib/pml/deliver.c) */
    struct tern_list_node arrived;
    struct tern_context *context;
    struct tern_peer *from;
    struct tern_packet packet;
    /* bytes of the payload */
    uint32_t length;
    bool wide; /* the links for queues by wildcards lie in memory before this struct */
    unsigned char payload[] __attribute__((aligned(8)));
};

/* Allocates a message for `context` with room for `length` payload bytes. If `context` is NULL any
 * context may take the message later. Sets only `length` and `wide`. Returns NULL if there is no
 * memory. Free with tern_unexpected_free. */
struct tern_unexpected *tern_unexpected_new(const struct tern_context *context, size_t length);
/* Frees the message, which must be in no queue. */
void tern_unexpected_free(struct tern_unexpected *message);

/* Returns the length of the whole message in bytes: the announced length if the message was only
 * announced. */
static inline uint64_t tern_unexpected_bytes(const struct tern_unexpected *message)
{
    struct tern_rendezvous rendezvous;
    if (message->packet.kind != TERN_PACKET_RENDEZVOUS)
        return message->length;
    memcpy(&rendezvous, message->payload, sizeof rendezvous);
    return rendezvous.length;
}

/* Post a receive, and take a posted receive back out of its queue. */
void tern_match_post(struct tern_pml_request *request);
void tern_match_withdraw(struct tern_pml_request *request);
/* Finds a posted receive that may never get its message because `peer` is lost: its source is the
 * peer, or any source in a context that has the peer. Does not remove the receive. Returns NULL if
 * there is none. */
struct tern_pml_request *tern_match_waiting_for(struct tern_lane *lane,
                                                const struct tern_peer *peer);
/* Finds the oldest posted receive that matches the message, and removes it from its queue. Returns
 * NULL if there is none. */
struct tern_pml_request *tern_match_posted(struct tern_context *context,
                                           const struct tern_packet *packet);

/* Add an unexpected message to its context's queues and list, and remove it. */
void tern_match_add(struct tern_unexpected *message);
void tern_match_remove(struct tern_unexpected *message);
/* Finds the oldest unexpected message that matches (source, tag), either of which may be a
 * wildcard. The message stays in its queues. Other messages of the context may move in memory.
 * Returns NULL if there is none. Call tern_match_unexpected, which is quick if the lane has no
 * unexpected message. */
struct tern_unexpected *tern_match_among_unexpected(struct tern_context *context, int source,
                                                    int tag);
static inline struct tern_unexpected *tern_match_unexpected(struct tern_context *context,
                                                            int source, int tag)
{
    return TERN_LIKELY(!context->lane->unexpected.items)
               ? NULL
               : tern_match_among_unexpected(context, source, tag);
}
/* Finds the first unexpected message whose tag differs from `tag` in at least one of the bits
 * `bits` and in no other bit. Returns NULL if there is none. */
struct tern_unexpected *tern_match_alike(struct tern_context *context, int tag, int bits);
/* Returns any unexpected message of the context, with user or internal tag; NULL if there is none.
 * For closing the context. */
struct tern_unexpected *tern_match_any(struct tern_context *context);
/* Returns the number of unexpected messages that have user tags. *ret_first: the first of them;
 * NULL if there is none. */
uint64_t tern_match_count(struct tern_context *context, struct tern_unexpected **ret_first);
/* Finds the announced message `id` of `from`, for cancelling. Returns NULL if the message is not
 * among the unexpected ones, or no longer. */
struct tern_unexpected *tern_match_announced(struct tern_context *context,
                                             const struct tern_peer *from, uint64_t id);

#endif
