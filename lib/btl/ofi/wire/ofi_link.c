/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/btl/ofi/wire/ofi_link.h"

#include "lib/btl/btl.h"
#include "lib/btl/ofi/fabric/libfabric.h"
#include "lib/util/base/error.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { HELLO_MS = 20 }; /* until HELLO is repeated, at first */

struct tern_ofi_card tern_ofi_own_card;

uint64_t tern_ofi_now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

/* ---- the table ---- */

void tern_ofi_link_note_busy(struct tern_ofi_lane *lane, struct tern_ofi_link *link)
{
    if (!link->busy)
        tern_list_append(&lane->busy, &link->in_busy);
    link->busy = true;
}

static bool give_slot(struct tern_ofi_lane *lane, struct tern_ofi_link *link)
{
    if (lane->slot_count == lane->slot_room) {
        uint32_t room = lane->slot_room ? 2 * lane->slot_room : 16;
        struct tern_ofi_link **larger = realloc(lane->by_slot, room * sizeof *larger);
        if (!larger)
            return false;
        lane->by_slot = larger;
        lane->slot_room = room;
    }
    lane->by_slot[lane->slot_count++] = link;
    link->slot = lane->slot_count;
    return true;
}

struct tern_ofi_link *tern_ofi_link_make(struct tern_ofi_lane *lane, struct tern_peer *peer)
{
    struct tern_ofi_link *link = calloc(1, sizeof *link);
    if (!link || tern_random(&link->cookie, sizeof link->cookie) ||
        tern_random(link->nonce, sizeof link->nonce) || !give_slot(lane, link)) {
        free(link);
        return NULL;
    }
    link->peer = peer;
    link->hello_wait_ms = HELLO_MS;
    tern_ofi_frames_init(&link->parked);
    tern_ofi_frames_init(&link->failover.unseen);
    tern_list_init(&link->keys_out);
    tern_list_init(&link->keys_in);
    tern_list_append(&lane->links, &link->in_lane);
    return link;
}

static struct tern_ofi_link *link_at(struct tern_list_node *in_lane)
{
    return TERN_CONTAINER(in_lane, struct tern_ofi_link, in_lane);
}

struct tern_ofi_link *tern_ofi_link_find(struct tern_ofi_lane *lane, const struct tern_peer *peer,
                                       int their_lane)
{
    for (struct tern_list_node *at = lane->links.next; at != &lane->links; at = at->next)
        if (link_at(at)->peer == peer && (their_lane < 0 ? link_at(at)->outgoing
                                                         : link_at(at)->their_lane == their_lane))
            return link_at(at);
    return NULL;
}

struct tern_ofi_link *tern_ofi_link_to(struct tern_peer *peer)
{
    struct tern_ofi_lane *lane = &tern_ofi_lanes[peer->lane];
    if (tern_ofi_lane_open(lane))
        return NULL;
    struct tern_ofi_link *link = tern_ofi_link_find(lane, peer, -1);
    if (link)
        return link;
    link = tern_ofi_link_make(lane, peer);
    if (link)
        link->outgoing = true;
    else
        tern_error(TERN_ERR_NO_MEM, "no memory to connect to rank %u", peer->rank);
    return link;
}

void tern_ofi_link_forget_card(struct tern_ofi_link *link)
{
    if (!link->fetch)
        return;
    if (__atomic_load_n(&link->fetch->done, __ATOMIC_ACQUIRE)) {
        free(link->fetch->value);
        free(link->fetch);
    } else if (tern_rte_forget(link->fetch)) {
        free(link->fetch);
    } /* else PMIx may still write into it */
    link->fetch = NULL;
}

void tern_ofi_links_free(struct tern_ofi_lane *lane)
{
    for (uint32_t i = 0; i < lane->slot_count; i++) {
        tern_ofi_link_forget_card(lane->by_slot[i]);
        tern_ofi_frames_clear(&lane->by_slot[i]->parked);
        tern_ofi_frames_clear(&lane->by_slot[i]->failover.unseen);
        free(lane->by_slot[i]->theirs);
        free(lane->by_slot[i]);
    }
    free(lane->by_slot);
    lane->by_slot = NULL;
    lane->slot_count = lane->slot_room = 0;
}

/* ---- frames ---- */

struct tern_ofi_head tern_ofi_link_head(const struct tern_ofi_link *link, enum tern_ofi_kind kind,
                                        uint32_t number)
{
    return (struct tern_ofi_head){.slot = link->their_slot,
                                  .cookie = link->their_cookie,
                                  .number = number,
                                  .kind = (uint16_t)kind,
                                  .order = TERN_OFI_ORDER};
}

bool tern_ofi_link_send_head(struct tern_ofi_link *link, enum tern_ofi_kind kind, uint32_t number,
                             uint64_t now_ms)
{
    struct tern_ofi_send *send = tern_ofi_take_send(link->port);
    struct tern_ofi_head head = tern_ofi_link_head(link, kind, number);
    int rc = TERN_ERR_AGAIN;
    if (send) {
        memcpy(send->bytes, &head, sizeof head);
        rc = tern_ofi_post(link, send, sizeof head);
    }
    if (send && !rc)
        send->link = NULL; /* if it fails, nothing is missing: the other end has gone */
    if (rc != TERN_ERR_AGAIN)
        link->refused_ms = 0;
    else if (!link->refused_ms)
        link->refused_ms = now_ms;
    return rc != TERN_ERR_AGAIN;
}

/* ---- the end of a link ---- */

static void describe(const struct tern_ofi_link *link, const char *why, char text[400])
{
    char host[256];
    tern_rte_host_of(link->peer->rank, host, sizeof host);
    snprintf(text, 400, "rank %u on host %.80s has lost rank %u on host %.80s (libfabric, %s): %s",
             tern_rte.rank, tern_rte.host, link->peer->rank, host, tern_ofi_own_card.provider, why);
}

void tern_ofi_link_lose(struct tern_ofi_link *link, const char *why)
{
    char text[400];
    describe(link, why, text);
    link->state = TERN_OFI_LOST;
    link->owes_welcome = link->owes_bye = link->owes_bye_seen = false;
    tern_ofi_frames_clear(&link->parked);
    tern_ofi_frames_clear(&link->failover.unseen);
    link->failover.resends = link->failover.owes_seen = false;
    link->failover.owes_dead = 0;
    tern_btl_lost(link->peer, NULL, text);
}

void tern_ofi_link_failed(struct tern_ofi_lane *lane, struct tern_ofi_link *link, int error)
{
    if (link->failed_ms || link->state == TERN_OFI_LOST)
        return;
    link->failed_ms = tern_ofi_now_ms();
    snprintf(link->why, sizeof link->why, "%s", tern_ofi_error(error));
    tern_ofi_link_note_busy(lane, link);
}
