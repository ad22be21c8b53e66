/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_MATCH_H
#define TERN_MATCH_H

/*
 * Matching in constant time, whatever stands in the queues.
 *
 * Both sides are hash tables, a pair per lane, of queues, a queue per key (context, source, tag). A
 * posted receive stands in one queue, its wildcards being part of the key, with a global stamp; an
 * arriving message looks at the heads of at most four queues and takes the oldest. A receive that
 * is posted when its context has no other needs no queue: it is older than all that follow, so
 * messages are held against it first. An unexpected message stands in the queue of its key and in
 * its context's list of all that came. Who asks for any source or any tag looks at the first few of
 * that list. If they do not tell, all messages of the context are put into queues by those keys
 * too, now and from then on, so that everybody looks at one head; until then they do without the
 * links. Tags below MPI_ANY_TAG are internal: wildcards do not see them, and they have a list of
 * their own.
 */

#include "lib/pml/pml_request.h"

#include <string.h>

struct tern_queue {
    const struct tern_context *context;
    int source, tag;
    struct tern_queue *hash_next;
    struct tern_list_node items;
};

/* A message that came before its receive. */
struct tern_unexpected {
    struct tern_list_node exact;   /* in the queue of its source and tag */
    /* in its context's list; or in one of messages that came too soon (lib/pml/deliver.c) */
    struct tern_list_node arrived;
    struct tern_context *context;
    struct tern_peer *from;
    struct tern_packet packet;
    uint32_t length;
    bool wide; /* the links by any source and by any tag lie before all this */
    unsigned char payload[] __attribute__((aligned(8)));
};

/* Memory for a message of that context (NULL: whichever asks for it later) with `length` bytes,
 * which is all that is set. NULL: none. */
struct tern_unexpected *tern_unexpected_new(const struct tern_context *context, size_t length);
void tern_unexpected_free(struct tern_unexpected *message);

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
struct tern_pml_request *tern_match_waiting_for(struct tern_lane *lane,
                                                const struct tern_peer *peer);
/* The oldest posted receive that takes the message; it is removed. NULL: none. */
struct tern_pml_request *tern_match_posted(struct tern_context *context,
                                           const struct tern_packet *packet);

void tern_match_add(struct tern_unexpected *message);
void tern_match_remove(struct tern_unexpected *message);
/* The oldest message for (source, tag), which may be wildcards. It stays, but others may move in
 * memory. */
struct tern_unexpected *tern_match_among_unexpected(struct tern_context *context, int source,
                                                    int tag);
static inline struct tern_unexpected *tern_match_unexpected(struct tern_context *context,
                                                            int source, int tag)
{
    return TERN_LIKELY(!context->lane->unexpected.items)
               ? NULL
               : tern_match_among_unexpected(context, source, tag);
}
/* The first unexpected message whose tag differs from `tag` in some of these bits and in no other.
 * NULL: none. */
struct tern_unexpected *tern_match_alike(struct tern_context *context, int tag, int bits);
/* Any message of the context, exact or internal; for closing it. */
struct tern_unexpected *tern_match_any(struct tern_context *context);
/* How many messages of a user stand there (not of the library itself), and the first found; NULL:
 * none. */
uint64_t tern_match_count(struct tern_context *context, struct tern_unexpected **ret_first);
/* The announced message `id` of `from`, for cancelling; NULL: not here (any more). */
struct tern_unexpected *tern_match_announced(struct tern_context *context,
                                             const struct tern_peer *from, uint64_t id);

#endif
