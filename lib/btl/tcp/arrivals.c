/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/btl/tcp/arrivals.h"

#include "lib/node/doorbell.h"
#include "lib/rte/rte.h"

#include <stdlib.h>
#include <string.h>

struct tern_tcp_arrivals tern_tcp_arrivals[TERN_LANES_MAX];

void tern_tcp_arrivals_open(struct tern_tcp_arrivals *arrivals)
{
    tern_list_init(&arrivals->links);
    tern_list_init(&arrivals->unreached);
    pthread_mutex_init(&arrivals->lock, NULL);
    arrivals->any = false;
}

void tern_tcp_arrivals_take(struct tern_tcp_arrivals *arrivals, struct tern_list_node *ret_links,
                            struct tern_list_node *ret_unreached)
{
    pthread_mutex_lock(&arrivals->lock);
    tern_list_move(&arrivals->links, ret_links);
    tern_list_move(&arrivals->unreached, ret_unreached);
    __atomic_store_n(&arrivals->any, false, __ATOMIC_RELAXED);
    pthread_mutex_unlock(&arrivals->lock);
}

/* Adds to one of the lists. */
static void add(struct tern_tcp_arrivals *arrivals, struct tern_list_node *list,
                struct tern_list_node *link)
{
    pthread_mutex_lock(&arrivals->lock);
    tern_list_append(list, link);
    __atomic_store_n(&arrivals->any, true, __ATOMIC_RELAXED);
    pthread_mutex_unlock(&arrivals->lock);
}

uint32_t tern_tcp_lanes_of(uint32_t index)
{
    uint32_t lanes = 0;
    for (uint32_t lane = index; lane < TERN_LANES_MAX; lane += tern_lane_count)
        lanes |= 1u << lane;
    return lanes;
}

void tern_tcp_arrive(struct tern_tcp_link *link)
{
    struct tern_tcp_arrivals *arrivals = &tern_tcp_arrivals[link->tag & (tern_lane_count - 1)];
    add(arrivals, &arrivals->links, &link->in_lane);
    tern_doorbell_ring_self(); /* the lane may belong to another thread */
}

static void add_unreached(struct tern_tcp_arrivals *arrivals, struct tern_process process,
                          uint8_t tag, enum tern_unreached how, const char *text)
{
    size_t bytes = strlen(text) + 1;
    struct tern_tcp_unreached *unreached = malloc(sizeof *unreached + bytes);
    if (!unreached)
        tern_rte_abort(1, text);
    unreached->process = process;
    unreached->tag = tag;
    unreached->how = how;
    memcpy(unreached->text, text, bytes);
    add(arrivals, &arrivals->unreached, &unreached->in_lane);
}

void tern_tcp_lose(struct tern_process process, uint32_t lanes, const char *text)
{
    for (uint32_t lane = 0; lane < tern_lane_count; lane++)
        if (lanes & tern_tcp_lanes_of(lane))
            add_unreached(&tern_tcp_arrivals[lane], process, 0, TERN_UNREACHED_LOST, text);
    tern_doorbell_ring_self(); /* the lanes may belong to other threads */
}

void tern_tcp_unreached(uint32_t rank, enum tern_unreached how, uint32_t lanes, const char *text)
{
    struct tern_process process = {0, rank};
    uint8_t tag = lanes ? (uint8_t)__builtin_ctz(lanes) : 0;
    if (how == TERN_UNREACHED_LOST) {
        tern_tcp_lose(process, lanes, text);
        return;
    }
    /* one lane does what the rank asks for */
    add_unreached(&tern_tcp_arrivals[tag & (tern_lane_count - 1)], process, tag, how, text);
    tern_doorbell_ring_self();
}
