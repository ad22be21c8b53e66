/* SPDX-License-Identifier: BSD-3-Clause */

/* Greetings: how two lanes prove to each other that they belong to one job (ofi_frame.h). */

#include "lib/btl/ofi/wire/ofi_greeting.h"

#include "lib/btl/btl.h"
#include "lib/btl/ofi/wire/routes.h"
#include "lib/btl/secret.h"
#include "lib/node/doorbell.h"
#include "lib/util/base/error.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { VISITORS_MOST = 1024 };

extern const struct tern_btl tern_btl_ofi;

struct visitor {
    struct tern_list_node node;
    struct tern_ofi_greeting greeting;
};

/* Sends a HELLO or WELCOME. Returns what tern_ofi_post returns. */
int tern_ofi_greet(struct tern_ofi_lane *lane, struct tern_ofi_link *link,
                         enum tern_ofi_kind kind)
{
    const unsigned char *secret = tern_secret();
    struct tern_ofi_send *send = secret ? tern_ofi_take_send(link->port) : NULL;
    bool hello = kind == TERN_OFI_HELLO;
    if (!send)
        return TERN_ERR_AGAIN;
    struct tern_ofi_greeting_frame frame = {
        .head = {.slot = hello ? 0 : link->their_slot,
                 .cookie = hello ? 0 : link->their_cookie,
                 .kind = (uint16_t)kind,
                 .order = TERN_OFI_ORDER},
        .greeting = {.from = tern_rte.rank,
                     .to = link->peer->rank,
                     .program = tern_rte_program(),
                     .slot = link->slot,
                     .cookie = link->cookie,
                     .from_lane = (uint8_t)lane->index,
                     .to_lane = link->their_lane,
                     .lane_count = (uint8_t)tern_lane_count}};
    tern_ofi_lane_tell(lane, &frame.greeting.rails);
    memcpy(frame.greeting.nonce, hello ? link->nonce : link->their_nonce, TERN_NONCE_BYTES);
    if (tern_ofi_greeting_seal(&frame.greeting, kind, secret)) {
        tern_ofi_give_send(link->port, send);
        return TERN_ERR_AGAIN;
    }
    memcpy(send->bytes, &frame, sizeof frame);
    return tern_ofi_post(link, send, sizeof frame);
}

/* Opens the link: the other end has proven itself, and says how to reach it. */
static void open_link(struct tern_ofi_lane *lane, struct tern_ofi_link *link,
                      const struct tern_ofi_greeting *greeting)
{
    if (link->state == TERN_OFI_OPEN || link->state == TERN_OFI_LOST ||
        link->state == TERN_OFI_REFUSED)
        return;
    if (!tern_ofi_link_set_rails(link, &greeting->rails)) {
        tern_ofi_link_lose(link, link->why);
        return;
    }
    link->their_slot = greeting->slot;
    link->their_cookie = greeting->cookie;
    link->their_lane = greeting->from_lane;
    link->their_lanes = greeting->lane_count;
    link->state = TERN_OFI_OPEN;
    link->failed_ms = 0;
    tern_ofi_link_forget_card(link);
    __atomic_store_n(&link->peer->came_by, &tern_btl_ofi, __ATOMIC_RELAXED);
    tern_ofi_link_note_busy(lane, link); /* packets wait for it */
}

void tern_ofi_note_stranger(struct tern_ofi_lane *lane)
{
    if (lane->strange++)
        return;
    char text[300];
    snprintf(text, sizeof text,
             "a message reached rank %u on host %.80s by libfabric (%s) that is not of this job, "
             "or of a process that has ended; it and others like it are dropped",
             tern_rte.rank, tern_rte.host, tern_ofi_own_card.provider);
    tern_rte_remark(TERN_REMARK_STRANGER, text);
}

/* Handles a HELLO for this lane. */
static void take_hello(struct tern_ofi_lane *lane, const struct tern_ofi_greeting *greeting)
{
    const unsigned char *secret = tern_secret();
    if (!secret) { /* it will be repeated, and may never be heard */
        tern_secret_drops_visitors();
        return;
    }
    if (!tern_ofi_greeting_holds(greeting, TERN_OFI_HELLO, secret, tern_rte.rank, tern_rte.size)) {
        tern_ofi_note_stranger(lane);
        return;
    }
    if (greeting->program != tern_rte_program() || tern_ofi_lane_open(lane))
        return;
    struct tern_peer *peer = tern_peer_get(lane->index, 0, greeting->from);
    if (!peer || peer->lost)
        return;
    bool both = greeting->from_lane == (lane->index & (greeting->lane_count - 1u));
    struct tern_ofi_link *link = tern_ofi_link_find(lane, peer, both ? -1 : greeting->from_lane);
    if (!link && !(link = tern_ofi_link_make(lane, peer)))
        return;
    link->outgoing = both;
    if (link->state == TERN_OFI_OPEN && link->their_slot != greeting->slot)
        return; /* not the process that we know */
    memcpy(link->their_nonce, greeting->nonce, sizeof link->their_nonce);
    open_link(lane, link, greeting);
    link->owes_welcome = link->state == TERN_OFI_OPEN;
    tern_ofi_link_note_busy(lane, link);
}

static void take_welcome(struct tern_ofi_lane *lane, struct tern_ofi_link *link,
                         const struct tern_ofi_greeting *greeting)
{
    const unsigned char *secret = tern_secret();
    if (!secret || greeting->from != link->peer->rank ||
        !tern_ofi_greeting_holds(greeting, TERN_OFI_WELCOME, secret, tern_rte.rank,
                                 tern_rte.size) ||
        memcmp(greeting->nonce, link->nonce, sizeof link->nonce) != 0)
        tern_ofi_note_stranger(lane);
    else
        open_link(lane, link, greeting);
}

/* Gives a HELLO that has arrived at lane 0 to its lane. */
static void pass_on(const struct tern_ofi_greeting *greeting)
{
    struct tern_ofi_lane *lane = &tern_ofi_lanes[greeting->to_lane];
    struct visitor *visitor = malloc(sizeof *visitor);
    if (!visitor)
        return; /* it will be repeated */
    visitor->greeting = *greeting;
    pthread_mutex_lock(&lane->visitors_lock);
    int waiting = 0;
    for (struct tern_list_node *at = lane->visitors.next; at != &lane->visitors; at = at->next)
        waiting++;
    if (waiting < VISITORS_MOST)
        tern_list_append(&lane->visitors, &visitor->node);
    __atomic_store_n(&lane->has_visitors, true, __ATOMIC_RELAXED);
    pthread_mutex_unlock(&lane->visitors_lock);
    if (waiting >= VISITORS_MOST)
        free(visitor);
    tern_doorbell_ring_self(); /* the lane may belong to another thread */
}

int tern_ofi_take_visitors(struct tern_ofi_lane *lane)
{
    struct tern_list_node list;
    int count = 0;
    pthread_mutex_lock(&lane->visitors_lock);
    tern_list_move(&lane->visitors, &list);
    __atomic_store_n(&lane->has_visitors, false, __ATOMIC_RELAXED);
    pthread_mutex_unlock(&lane->visitors_lock);
    while (!tern_list_empty(&list)) {
        struct visitor *visitor = TERN_CONTAINER(list.next, struct visitor, node);
        tern_list_remove(&visitor->node);
        take_hello(lane, &visitor->greeting);
        free(visitor);
        count++;
    }
    return count;
}

void tern_ofi_take_greeting(struct tern_ofi_lane *lane, struct tern_ofi_link *link,
                          const unsigned char *bytes)
{
    struct tern_ofi_greeting greeting;
    memcpy(&greeting, bytes + sizeof(struct tern_ofi_head), sizeof greeting);
    if (link)
        take_welcome(lane, link, &greeting);
    else if (greeting.to_lane >= tern_lane_count)
        tern_ofi_note_stranger(lane);
    else if (greeting.to_lane == lane->index)
        take_hello(lane, &greeting);
    else
        pass_on(&greeting);
}
