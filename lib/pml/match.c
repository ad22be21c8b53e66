/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/pml/match.h"

#include "lib/util/base/log.h"

#include <stdlib.h>

static uint32_t hash(const struct tern_context *context, int source, int tag)
{
    uint64_t h = (uintptr_t)context >> 4;
    h = (h ^ (uint32_t)source) * 0x9e3779b97f4a7c15u;
    h = (h ^ (h >> 29) ^ (uint32_t)tag) * 0xbf58476d1ce4e5b9u;
    return h >> 32;
}

static inline bool has_key(const struct tern_queue *queue, const struct tern_context *context,
                           int source, int tag)
{
    return queue->tag == tag && queue->source == source && queue->context == context;
}

static __attribute__((noinline)) struct tern_queue *search(struct tern_match_table *table,
                                                           const struct tern_context *context,
                                                           int source, int tag)
{
    if (!table->buckets)
        return NULL;
    struct tern_queue *queue = table->buckets[hash(context, source, tag) & table->mask];
    while (queue && !has_key(queue, context, source, tag))
        queue = queue->hash_next;
    if (queue)
        table->latest = queue;
    return queue;
}

static inline struct tern_queue *find(struct tern_match_table *table,
                                      const struct tern_context *context, int source, int tag)
{
    struct tern_queue *latest = table->latest;
    return latest && has_key(latest, context, source, tag) ? latest
                                                           : search(table, context, source, tag);
}

static void free_queue(struct tern_lane *lane, struct tern_queue *queue)
{
    queue->hash_next = lane->spare_queues;
    lane->spare_queues = queue;
}

static _Noreturn void out_of_memory(const struct tern_lane *lane)
{
    tern_log("no memory left for message queues (%lu receives posted, %lu unexpected messages)",
             (long)lane->posted.items, (long)lane->unexpected.items);
    abort();
}

/* Drops empty queues. If the table is more than half full even then, doubles the table. The cost is
 * spread over the insertions since the last time. */
static void tidy(struct tern_lane *lane, struct tern_match_table *table)
{
    uint32_t size = table->buckets ? table->mask + 1 : 0;
    table->latest = NULL;
    for (uint32_t i = 0; i < size; i++)
        for (struct tern_queue **at = &table->buckets[i]; *at;) {
            struct tern_queue *queue = *at;
            if (!tern_list_empty(&queue->items)) {
                at = &queue->hash_next;
                continue;
            }
            *at = queue->hash_next;
            free_queue(lane, queue);
            table->queues--;
        }
    if (size && table->queues <= size / 2)
        return;
    uint32_t larger = size ? size * 2 : 64;
    struct tern_queue **buckets = calloc(larger, sizeof *buckets);
    if (!buckets) {
        if (size)
            return; /* the table stays: slower, but correct */
        out_of_memory(lane);
    }
    for (uint32_t i = 0; i < size; i++)
        for (struct tern_queue *queue = table->buckets[i], *next; queue; queue = next) {
            next = queue->hash_next;
            struct tern_queue **bucket =
                &buckets[hash(queue->context, queue->source, queue->tag) & (larger - 1)];
            queue->hash_next = *bucket;
            *bucket = queue;
        }
    free(table->buckets);
    table->buckets = buckets;
    table->mask = larger - 1;
}

static __attribute__((noinline)) struct tern_queue *make(struct tern_match_table *table,
                                                         const struct tern_context *context,
                                                         int source, int tag)
{
    struct tern_lane *lane = context->lane;
    if (!table->buckets || table->queues > table->mask)
        tidy(lane, table);
    struct tern_queue *queue = lane->spare_queues;
    if (queue)
        lane->spare_queues = queue->hash_next;
    else if (!(queue = malloc(sizeof *queue)))
        out_of_memory(lane);
    *queue = (struct tern_queue){.context = context, .source = source, .tag = tag};
    tern_list_init(&queue->items);
    struct tern_queue **bucket = &table->buckets[hash(context, source, tag) & table->mask];
    queue->hash_next = *bucket;
    *bucket = queue;
    table->queues++;
    return queue;
}

static inline struct tern_queue *find_or_make(struct tern_match_table *table,
                                              const struct tern_context *context, int source,
                                              int tag)
{
    struct tern_queue *queue = find(table, context, source, tag);
    return TERN_LIKELY(queue != NULL) ? queue : make(table, context, source, tag);
}

static void raise_mark(uint64_t *mark, uint64_t length)
{
    if (length > __atomic_load_n(mark, __ATOMIC_RELAXED))
        __atomic_store_n(mark, length, __ATOMIC_RELAXED);
}

/* Returns true if the receive has a wildcard. Internal tags are negative, too. */
static inline bool wild(const struct tern_pml_request *request)
{
    return TERN_UNLIKELY((request->rank | request->tag) < 0) &&
           (request->rank == MPI_ANY_SOURCE || request->tag == MPI_ANY_TAG);
}

static inline void post_in_queue(struct tern_lane *lane, struct tern_pml_request *request)
{
    struct tern_queue *queue =
        find_or_make(&lane->posted, request->context, request->rank, request->tag);
    request->stamp = lane->stamps++;
    if (wild(request))
        request->context->posted_wild++;
    tern_list_append(&queue->items, &request->link);
}

void tern_match_post(struct tern_pml_request *request)
{
    struct tern_context *context = request->context;
    struct tern_lane *lane = context->lane;
    if (context->posted_length == 0)
        context->first = request;
    else
        post_in_queue(lane, request);
    request->posted = true;
    tern_count(&context->posted_length, 1);
    tern_count(&lane->posted.items, 1);
    raise_mark(&lane->counters.posted_longest, lane->posted.items);
}

static inline void withdraw(struct tern_pml_request *request)
{
    struct tern_context *context = request->context;
    if (context->first == request) {
        context->first = NULL;
    } else {
        tern_list_remove(&request->link);
        if (wild(request))
            context->posted_wild--;
    }
    request->posted = false;
    tern_count(&context->posted_length, -1);
    tern_count(&context->lane->posted.items, -1);
}

void tern_match_withdraw(struct tern_pml_request *request)
{
    withdraw(request);
}

static inline struct tern_pml_request *oldest(const struct tern_context *context, int source,
                                              int tag)
{
    const struct tern_queue *queue = find(&context->lane->posted, context, source, tag);
    if (!queue || tern_list_empty(&queue->items))
        return NULL;
    return TERN_CONTAINER(queue->items.next, struct tern_pml_request, link);
}

static __attribute__((noinline)) struct tern_pml_request *
older_by_wildcards(const struct tern_context *context, int source, int tag,
                   struct tern_pml_request *best)
{
    struct tern_pml_request *others[] = {
        oldest(context, MPI_ANY_SOURCE, tag),
        tag >= 0 ? oldest(context, source, MPI_ANY_TAG) : NULL,
        tag >= 0 ? oldest(context, MPI_ANY_SOURCE, MPI_ANY_TAG) : NULL,
    };
    for (int i = 0; i < 3; i++)
        if (others[i] && (!best || others[i]->stamp < best->stamp))
            best = others[i];
    return best;
}

static inline struct tern_pml_request *oldest_in_queues(const struct tern_context *context,
                                                        int source, int tag)
{
    struct tern_pml_request *best = oldest(context, source, tag);
    return TERN_LIKELY(!context->posted_wild) ? best
                                              : older_by_wildcards(context, source, tag, best);
}

/* Returns true if a receive for (source, tag) matches the packet. MPI_ANY_TAG does not match
 * internal tags; MPI_ANY_SOURCE does. */
static inline bool takes(int source, int tag, const struct tern_packet *packet)
{
    return (source == packet->source || source == MPI_ANY_SOURCE) &&
           (tag == packet->tag || (tag == MPI_ANY_TAG && packet->tag >= 0));
}

struct tern_pml_request *tern_match_posted(struct tern_context *context,
                                           const struct tern_packet *packet)
{
    if (!context->posted_length)
        return NULL;
    struct tern_pml_request *request = context->first; /* older than all other receives */
    if (!request || !takes(request->rank, request->tag, packet))
        request = oldest_in_queues(context, packet->source, packet->tag);
    if (request)
        withdraw(request);
    return request;
}

/* Links of a message, counted from its first. The links for queues by wildcards lie before it. */
enum { BY_TAG = -2, BY_SOURCE, EXACT, ARRIVED, WIDE = 2 };

static struct tern_list_node *link_of(struct tern_unexpected *message, int which)
{
    return (struct tern_list_node *)message + which;
}

static struct tern_unexpected *message_at(struct tern_list_node *link, int which)
{
    return (struct tern_unexpected *)(link - which);
}

struct tern_unexpected *tern_unexpected_new(const struct tern_context *context, size_t length)
{
    bool wide = !context || context->by_wildcards;
    struct tern_list_node *memory =
        malloc((wide ? WIDE * sizeof *memory : 0) + sizeof(struct tern_unexpected) + length);
    if (!memory)
        return NULL;
    struct tern_unexpected *message = (struct tern_unexpected *)(wide ? memory + WIDE : memory);
    message->length = (uint32_t)length;
    message->wide = wide;
    return message;
}

void tern_unexpected_free(struct tern_unexpected *message)
{
    free(link_of(message, message->wide ? -WIDE : 0));
}

static struct tern_list_node *arrived_with(struct tern_context *context, int tag)
{
    return &context->arrived[tag < 0 && tag != MPI_ANY_TAG];
}

static void append(struct tern_unexpected *message, int source, int tag, int which)
{
    struct tern_match_table *table = &message->context->lane->unexpected;
    struct tern_queue *queue = find_or_make(table, message->context, source, tag);
    tern_list_append(&queue->items, link_of(message, which));
}

/* Puts the message into the queues by wildcards. No receive with MPI_ANY_TAG matches an internal
 * tag. */
static void append_by_wildcards(struct tern_unexpected *message)
{
    int source = message->packet.source, tag = message->packet.tag;
    append(message, MPI_ANY_SOURCE, tag, BY_TAG);
    if (tag >= 0)
        append(message, source, MPI_ANY_TAG, BY_SOURCE);
}

void tern_match_add(struct tern_unexpected *message)
{
    struct tern_context *context = message->context;
    struct tern_lane *lane = context->lane;
    append(message, message->packet.source, message->packet.tag, EXACT);
    if (context->by_wildcards)
        append_by_wildcards(message);
    tern_list_append(arrived_with(context, message->packet.tag), &message->arrived);
    tern_count(&lane->counters.unexpected_messages, 1);
    tern_count(&context->unexpected_length, 1);
    tern_count(&lane->unexpected.items, 1);
    raise_mark(&lane->counters.unexpected_longest, lane->unexpected.items);
}

void tern_match_remove(struct tern_unexpected *message)
{
    struct tern_context *context = message->context;
    tern_list_remove(&message->exact);
    tern_list_remove(&message->arrived);
    if (context->by_wildcards) {
        tern_list_remove(link_of(message, BY_TAG));
        if (message->packet.tag >= 0)
            tern_list_remove(link_of(message, BY_SOURCE));
    }
    tern_count(&context->unexpected_length, -1);
    tern_count(&context->lane->unexpected.items, -1);
}

/* Moves the message to memory with room for the links by wildcards. */
static struct tern_unexpected *widen(struct tern_unexpected *message)
{
    struct tern_unexpected *wide = tern_unexpected_new(NULL, message->length);
    if (!wide)
        out_of_memory(message->context->lane);
    memcpy(wide, message, sizeof *message + message->length);
    wide->wide = true;
    tern_list_replace(&message->exact, &wide->exact);
    tern_list_replace(&message->arrived, &wide->arrived);
    tern_unexpected_free(message);
    return wide;
}

/* Puts all messages of the context into queues by wildcards too, from now on. */
static __attribute__((noinline)) void begin_by_wildcards(struct tern_context *context)
{
    for (int internal = 0; internal < 2; internal++) {
        struct tern_list_node *all = &context->arrived[internal];
        for (struct tern_list_node *link = all->next; link != all; link = link->next) {
            struct tern_unexpected *message = message_at(link, ARRIVED);
            if (!message->wide)
                message = widen(message);
            append_by_wildcards(message);
            link = &message->arrived;
        }
    }
    context->by_wildcards = true;
}

static struct tern_unexpected *first_of(struct tern_context *context, int source, int tag,
                                        int which)
{
    const struct tern_queue *queue = find(&context->lane->unexpected, context, source, tag);
    return queue && !tern_list_empty(&queue->items) ? message_at(queue->items.next, which) : NULL;
}

/* Finds the first message for (source, tag), at least one of which is a wildcard. */
static struct tern_unexpected *first_by_wildcards(struct tern_context *context, int source, int tag)
{
    enum { FEW = 8 };
    struct tern_list_node *all = arrived_with(context, tag), *link = all->next;
    for (int i = 0; i < FEW; i++, link = link->next) {
        if (link == all)
            return NULL;
        if (takes(source, tag, &message_at(link, ARRIVED)->packet))
            return message_at(link, ARRIVED);
    }
    if (!context->by_wildcards)
        begin_by_wildcards(context);
    return first_of(context, source, tag, tag == MPI_ANY_TAG ? BY_SOURCE : BY_TAG);
}

struct tern_unexpected *tern_match_among_unexpected(struct tern_context *context, int source,
                                                    int tag)
{
    return source == MPI_ANY_SOURCE || tag == MPI_ANY_TAG
               ? first_by_wildcards(context, source, tag)
               : first_of(context, source, tag, EXACT);
}

struct tern_unexpected *tern_match_any(struct tern_context *context)
{
    for (int internal = 0; internal < 2; internal++)
        if (!tern_list_empty(&context->arrived[internal]))
            return message_at(context->arrived[internal].next, ARRIVED);
    return NULL;
}

uint64_t tern_match_count(struct tern_context *context, struct tern_unexpected **ret_first)
{
    struct tern_list_node *all = &context->arrived[0];
    uint64_t count = 0;
    for (struct tern_list_node *link = all->next; link != all; link = link->next)
        count++;
    *ret_first = count ? message_at(all->next, ARRIVED) : NULL;
    return count;
}

static void walk_context(const struct tern_context *context,
                         void (*tell)(const struct tern_context *context, int source, int tag,
                                      uint64_t bytes, void *to),
                         void *to)
{
    const struct tern_list_node *all = &context->arrived[0];
    if (tern_context_is_internal(context))
        return;
    for (struct tern_list_node *link = all->next; link != all; link = link->next) {
        const struct tern_unexpected *message = message_at(link, ARRIVED);
        tell(context, message->packet.source, message->packet.tag, tern_unexpected_bytes(message),
             to);
    }
}

void tern_pml_walk_unasked(struct tern_lane *lane, const struct tern_context *first,
                           void (*tell)(const struct tern_context *context, int source, int tag,
                                        uint64_t bytes, void *to),
                           void *to)
{
    if (!lane->unexpected.items)
        return;
    if (first)
        walk_context(first, tell, to);
    for (uint32_t i = 0; lane->contexts && i <= lane->context_mask; i++)
        for (const struct tern_context *context = lane->contexts[i]; context;
             context = context->hash_next)
            if (context != first)
                walk_context(context, tell, to);
}

struct tern_unexpected *tern_match_alike(struct tern_context *context, int tag, int bits)
{
    struct tern_list_node *all = &context->arrived[0];
    for (struct tern_list_node *link = all->next; link != all; link = link->next) {
        struct tern_unexpected *message = message_at(link, ARRIVED);
        int difference = message->packet.tag ^ tag;
        if (difference && !(difference & ~bits))
            return message;
    }
    return NULL;
}

struct tern_unexpected *tern_match_announced(struct tern_context *context,
                                             const struct tern_peer *from, uint64_t id)
{
    struct tern_list_node *all = &context->arrived[0];
    for (struct tern_list_node *link = all->next; link != all; link = link->next) {
        struct tern_unexpected *message = message_at(link, ARRIVED);
        if (message->from == from && message->packet.kind != TERN_PACKET_EAGER &&
            message->packet.id == id)
            return message;
    }
    return NULL;
}

/* Returns true if `peer` is rank `source` of the context, or any rank of it if `source` is
 * MPI_ANY_SOURCE. */
static bool names(const struct tern_context *context, int source, const struct tern_peer *peer)
{
    if (source != MPI_ANY_SOURCE)
        return tern_peer_is(peer, tern_peers_process(context->peers, source));
    for (int rank = 0; rank < context->size; rank++)
        if (tern_peer_is(peer, tern_peers_process(context->peers, rank)))
            return true;
    return false;
}

struct tern_pml_request *tern_match_waiting_for(struct tern_lane *lane,
                                                const struct tern_peer *peer)
{
    const struct tern_match_table *table = &lane->posted;
    for (uint32_t i = 0; table->buckets && i <= table->mask; i++)
        for (struct tern_queue *queue = table->buckets[i]; queue; queue = queue->hash_next)
            if (!tern_list_empty(&queue->items) && names(queue->context, queue->source, peer))
                return TERN_CONTAINER(queue->items.next, struct tern_pml_request, link);
    for (uint32_t i = 0; lane->contexts && i <= lane->context_mask; i++)
        for (struct tern_context *context = lane->contexts[i]; context;
             context = context->hash_next)
            if (context->first && names(context, context->first->rank, peer))
                return context->first;
    return NULL;
}
