/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/pml/match.h"

#include "lib/util/log.h"

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

/* Drops empty queues; if the table stays more than half full it doubles. Amortised over the
 * insertions since. */
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
            return; /* slower, but right */
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

static bool wild(const struct tern_pml_request *request)
{
    return request->rank == MPI_ANY_SOURCE || request->tag == MPI_ANY_TAG;
}

void tern_match_post(struct tern_pml_request *request)
{
    struct tern_lane *lane = request->context->lane;
    struct tern_queue *queue =
        find_or_make(&lane->posted, request->context, request->rank, request->tag);
    request->stamp = lane->stamps++;
    request->posted = true;
    request->context->posted_wild += wild(request);
    tern_list_append(&queue->items, &request->link);
    tern_count(&request->context->posted_length, 1);
    tern_count(&lane->posted.items, 1);
    raise_mark(&lane->counters.posted_longest, lane->posted.items);
}

static inline void withdraw(struct tern_pml_request *request)
{
    tern_list_remove(&request->link);
    request->posted = false;
    request->context->posted_wild -= wild(request);
    tern_count(&request->context->posted_length, -1);
    tern_count(&request->context->lane->posted.items, -1);
}

void tern_match_withdraw(struct tern_pml_request *request)
{
    withdraw(request);
}

static struct tern_pml_request *oldest(const struct tern_context *context, int source, int tag)
{
    const struct tern_queue *queue = find(&context->lane->posted, context, source, tag);
    if (!queue || tern_list_empty(&queue->items))
        return NULL;
    return TERN_CONTAINER(queue->items.next, struct tern_pml_request, link);
}

struct tern_pml_request *tern_match_posted(struct tern_context *context, int source, int tag)
{
    if (!context->lane->posted.items)
        return NULL;
    struct tern_pml_request *best = oldest(context, source, tag);
    if (TERN_UNLIKELY(context->posted_wild)) {
        struct tern_pml_request *others[] = {
            oldest(context, MPI_ANY_SOURCE, tag),
            tag >= 0 ? oldest(context, source, MPI_ANY_TAG) : NULL,
            tag >= 0 ? oldest(context, MPI_ANY_SOURCE, MPI_ANY_TAG) : NULL,
        };
        for (int i = 0; i < TERN_MATCH_KEYS - 1; i++)
            if (others[i] && (!best || others[i]->stamp < best->stamp))
                best = others[i];
    }
    if (best)
        withdraw(best);
    return best;
}

/* The key's number `i` of a message from source with tag. */
static void key(int i, int *source, int *tag)
{
    if (i & 1)
        *source = MPI_ANY_SOURCE;
    if (i & 2)
        *tag = MPI_ANY_TAG;
}

/* Internal tags stand in two queues: exact and any source. */
static int keys_of(int tag)
{
    return tag >= 0 ? TERN_MATCH_KEYS : 2;
}

void tern_match_add(struct tern_unexpected *message)
{
    struct tern_match_table *table = &message->context->lane->unexpected;
    struct tern_lane_counters *counters = &message->context->lane->counters;
    for (int i = 0; i < keys_of(message->packet.tag); i++) {
        int source = message->packet.source, tag = message->packet.tag;
        key(i, &source, &tag);
        tern_list_append(&find_or_make(table, message->context, source, tag)->items,
                         &message->links[i]);
    }
    tern_count(&counters->unexpected_messages, 1);
    tern_count(&message->context->unexpected_length, 1);
    tern_count(&table->items, 1);
    raise_mark(&counters->unexpected_longest, table->items);
}

void tern_match_remove(struct tern_unexpected *message)
{
    for (int i = 0; i < keys_of(message->packet.tag); i++)
        tern_list_remove(&message->links[i]);
    tern_count(&message->context->unexpected_length, -1);
    tern_count(&message->context->lane->unexpected.items, -1);
}

static struct tern_unexpected *message_at(struct tern_link *link, int i)
{
    return (struct tern_unexpected *)((char *)(link - i) - offsetof(struct tern_unexpected, links));
}

struct tern_unexpected *tern_match_unexpected(struct tern_context *context, int source, int tag)
{
    if (!context->lane->unexpected.items)
        return NULL;
    const struct tern_queue *queue = find(&context->lane->unexpected, context, source, tag);
    if (!queue || tern_list_empty(&queue->items))
        return NULL;
    return message_at(queue->items.next, (source == MPI_ANY_SOURCE) + 2 * (tag == MPI_ANY_TAG));
}

struct tern_unexpected *tern_match_any(struct tern_context *context)
{
    struct tern_match_table *table = &context->lane->unexpected;
    for (uint32_t i = 0; table->items && i <= table->mask; i++)
        for (struct tern_queue *queue = table->buckets[i]; queue; queue = queue->hash_next)
            if (queue->context == context && queue->source != MPI_ANY_SOURCE &&
                queue->tag != MPI_ANY_TAG && !tern_list_empty(&queue->items))
                return message_at(queue->items.next, 0);
    return NULL;
}

uint64_t tern_match_count(struct tern_context *context, struct tern_unexpected **ret_first)
{
    const struct tern_match_table *table = &context->lane->unexpected;
    uint64_t count = 0;
    *ret_first = NULL;
    for (uint32_t i = 0; table->items && i <= table->mask; i++)
        for (struct tern_queue *queue = table->buckets[i]; queue; queue = queue->hash_next) {
            if (queue->context != context || queue->source == MPI_ANY_SOURCE || queue->tag < 0)
                continue;
            for (struct tern_link *link = queue->items.next; link != &queue->items; link = link->next)
                if (count++ == 0)
                    *ret_first = message_at(link, 0);
        }
    return count;
}

struct tern_unexpected *tern_match_announced(struct tern_context *context,
                                             const struct tern_peer *from, uint64_t id)
{
    const struct tern_queue *queue = find(&context->lane->unexpected, context, MPI_ANY_SOURCE, MPI_ANY_TAG);
    if (!queue)
        return NULL;
    for (struct tern_link *link = queue->items.next; link != &queue->items; link = link->next) {
        struct tern_unexpected *message = message_at(link, 3);
        if (message->from == from && message->packet.kind != TERN_PACKET_EAGER &&
            message->packet.id == id)
            return message;
    }
    return NULL;
}

static bool names(const struct tern_queue *queue, const struct tern_peer *peer)
{
    const struct tern_context *context = queue->context;
    if (queue->source != MPI_ANY_SOURCE)
        return tern_peer_is(peer, tern_peers_process(context->peers, queue->source));
    for (int rank = 0; rank < context->size; rank++)
        if (tern_peer_is(peer, tern_peers_process(context->peers, rank)))
            return true;
    return false;
}

struct tern_pml_request *tern_match_waiting_for(struct tern_lane *lane, const struct tern_peer *peer)
{
    const struct tern_match_table *table = &lane->posted;
    for (uint32_t i = 0; table->items && i <= table->mask; i++)
        for (struct tern_queue *queue = table->buckets[i]; queue; queue = queue->hash_next)
            if (!tern_list_empty(&queue->items) && names(queue, peer))
                return TERN_CONTAINER(queue->items.next, struct tern_pml_request, link);
    return NULL;
}

static void free_table(struct tern_match_table *table)
{
    for (uint32_t i = 0; table->buckets && i <= table->mask; i++)
        for (struct tern_queue *queue = table->buckets[i], *next; queue; queue = next) {
            next = queue->hash_next;
            free(queue);
        }
    free(table->buckets);
    *table = (struct tern_match_table){0};
}

void tern_match_finalize(struct tern_lane *lane)
{
    free_table(&lane->posted);
    free_table(&lane->unexpected);
    while (lane->spare_queues) {
        struct tern_queue *queue = lane->spare_queues;
        lane->spare_queues = queue->hash_next;
        free(queue);
    }
}
