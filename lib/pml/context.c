/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/pml/context.h"

#include "lib/pml/pml_request.h"
#include "lib/rte/rte.h"
#include "lib/util/net/hmac.h"

#include <stdlib.h>
#include <string.h>

/* The bits of an id, highest first: 1 for partitioned communication, 1 for the local group of an
 * intercommunicator, mark of the job (10), rank of the leader (24), number (27), 1 for
 * collectives. The lowest
 * bits of the number are the lane. Numbers begin at 16: the contexts that need no leader (world,
 * self) have lower ones. Numbers are used again after one rank has made 2^27 ids. Numbers of
 * contexts that are still open here (the leader is a member), and of ids that wait to be used, are
 * skipped (lib/pml/ids.h).
 *
 * The mark is 0 until this process meets another job. From then on it is taken from the job's id,
 * and numbers begin at a random place. So two processes with equal ranks of two jobs do not make
 * equal ids. */
enum { NUMBER_BITS = 27, FIRST_NUMBER = 16, RANK_BITS = 24, MARKS = 1023 };

static struct tern_ids ids;
static uint64_t mark; /* of our job, at its place in an id */

static uint32_t hash(uint64_t id)
{
    return id * 0x9e3779b97f4a7c15u >> 32;
}

struct tern_context *tern_context_search(struct tern_lane *lane, uint64_t id)
{
    if (!lane->contexts)
        return NULL;
    struct tern_context *context = lane->contexts[hash(id) & lane->context_mask];
    while (context && context->id != id)
        context = context->hash_next;
    if (context)
        lane->latest = context;
    return context;
}

static uint64_t id_of(uint32_t number)
{
    return mark | (uint64_t)tern_rte.rank << (NUMBER_BITS + 1) | (uint64_t)number << 1;
}

static bool in_use(uint32_t number)
{
    uint64_t id = id_of(number);
    struct tern_lane *lane = tern_lane_of(id);
    tern_lane_lock(lane);
    bool found = tern_context_find(lane, id) || tern_context_find(lane, id | 1);
    tern_lane_unlock(lane);
    return found;
}

static void init_ids(void)
{
    if (!ids.limit)
        tern_ids_init(&ids, FIRST_NUMBER, (uint32_t)1 << NUMBER_BITS, in_use);
}

int tern_context_mark_ids(const unsigned char *job, size_t length)
{
    uint64_t digest = 0xcbf29ce484222325u;
    uint32_t start;
    if (mark)
        return 0;
    int rc = tern_random(&start, sizeof start);
    if (rc)
        return rc;
    for (size_t i = 0; i < length; i++)
        digest = (digest ^ job[i]) * 0x100000001b3u;
    init_ids();
    mark = (digest % MARKS + 1) << (NUMBER_BITS + 1 + RANK_BITS);
    tern_ids_jump(&ids, FIRST_NUMBER + start % (ids.limit - FIRST_NUMBER));
    return 0;
}

uint64_t tern_context_new_ids(uint32_t count, struct tern_id_range *range)
{
    init_ids();
    uint32_t first = tern_ids_take(&ids, count, range);
    return first ? id_of(first) : 0;
}

uint64_t tern_context_new_id(void)
{
    return tern_context_new_ids(1, NULL);
}

static int grow(struct tern_lane *lane)
{
    uint32_t size = lane->contexts ? (lane->context_mask + 1) * 2 : 32;
    struct tern_context **larger = calloc(size, sizeof *larger);
    if (!larger)
        return tern_error(TERN_ERR_NO_MEM, "no memory for a table of %u contexts", size);
    for (uint32_t i = 0; lane->contexts && i <= lane->context_mask; i++)
        for (struct tern_context *context = lane->contexts[i], *next; context; context = next) {
            next = context->hash_next;
            struct tern_context **bucket = &larger[hash(context->id) & (size - 1)];
            context->hash_next = *bucket;
            *bucket = context;
        }
    free(lane->contexts);
    lane->contexts = larger;
    lane->context_mask = size - 1;
    return 0;
}

static struct tern_context **bucket_of(struct tern_lane *lane, uint64_t id)
{
    return &lane->contexts[hash(id) & lane->context_mask];
}

int tern_context_open(struct tern_context *context, uint64_t id, int rank, struct tern_peers *peers,
                      void *comm)
{
    struct tern_lane *lane = tern_lane_of(id);
    uint16_t *sequences = calloc(2 * (size_t)peers->count + 1, sizeof *sequences);
    if (!sequences)
        return tern_error(TERN_ERR_NO_MEM, "no memory for the sequence numbers of %d ranks",
                          peers->count);
    tern_lane_lock(lane);
    if ((!lane->contexts || lane->context_count > lane->context_mask) && grow(lane)) {
        tern_lane_unlock(lane);
        free(sequences);
        return TERN_ERR_NO_MEM;
    }
    tern_ref(&peers->refs);
    *context = (struct tern_context){
        .id = id,
        .lane = lane,
        .rank = rank,
        .size = peers->count,
        .peers = peers,
        .send_seq = sequences,
        .recv_seq = sequences + peers->count,
        .comm = comm,
    };
    tern_list_init(&context->arrived[0]);
    tern_list_init(&context->arrived[1]);
    struct tern_context **bucket = bucket_of(lane, id);
    context->hash_next = *bucket;
    *bucket = context;
    lane->context_count++;
    lane->careful += context->peers->far;
    tern_deliver_early(context);
    tern_lane_unlock(lane);
    return 0;
}

void tern_context_close(struct tern_context *context)
{
    if (!context->peers)
        return;
    struct tern_lane *lane = context->lane;
    tern_lane_lock(lane);
    tern_deliver_forget(context);
    struct tern_context **at = bucket_of(lane, context->id);
    while (*at != context)
        at = &(*at)->hash_next;
    *at = context->hash_next;
    lane->context_count--;
    lane->careful -= context->peers->far;
    if (lane->latest == context)
        lane->latest = NULL;
    if (!lane->context_count) {
        free(lane->contexts);
        lane->contexts = NULL;
    }
    tern_lane_unlock(lane);
    free(context->send_seq);
    tern_peers_release(context->peers);
    context->peers = NULL;
}
