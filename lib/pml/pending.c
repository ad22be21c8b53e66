/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Backpressure and credit.
 *
 * When a byte mover answers TERN_ERR_AGAIN, the packet waits in its peer's queue, and so does
 * everything sent to that peer later. So order is kept and no caller blocks. Transfers wait in a
 * queue of their own. Credit limits what a
 * peer must buffer for us: eager messages use up credit, and the peer gives it back when it has
 * matched them. Without credit, messages are only announced (rendezvous) and stay in our memory.
 */

#include "lib/pml/pml_request.h"

#include "lib/util/base/log.h"
#include "lib/settings/param.h"

#include <stdlib.h>
#include <string.h>

static int64_t credit_bytes, lendable_bytes;
int64_t tern_credit_owed_most;
/* bytes of unexpected messages, in all lanes, whose senders have their credit back already */
static int64_t lent_bytes;

void tern_pending_init(void)
{
    credit_bytes = tern_param_int("pml_eager_credit");
    lendable_bytes = tern_param_int("pml_unexpected_memory");
    tern_peer_eager_limit = (uint32_t)tern_param_int("pml_eager_limit");
    tern_credit_owed_most = credit_bytes / (2 * TERN_LANES_MAX);
}

int tern_peer_ready(struct tern_peer *peer)
{
    if (TERN_UNLIKELY(peer->lost != NULL))
        return tern_error(TERN_ERR_UNREACHABLE, "%s", peer->lost);
    if (peer->btl)
        return 0;
    int rc = tern_peer_connect(peer);
    if (rc)
        return rc;
    peer->credit = credit_bytes * peer->limits.credit_factor;
    tern_peer_update(peer);
    return 0;
}

void tern_peer_update(struct tern_peer *peer)
{
    /* where buffers may be in device memory, each message is looked at (send_host) */
    bool free = tern_peer_is_free(peer) && !tern_accel_watched;
    peer->eager_below = free ? peer->limits.eager_max + 1 : 0;
    peer->blocking_below = free ? peer->limits.eager_max_blocking + 1 : 0;
}

static void note_waiting(struct tern_peer *peer)
{
    if (!peer->waits)
        tern_list_append(&tern_lanes[peer->lane].waiting_peers, &peer->pending_peers);
    peer->waits = true;
}

void tern_pending_append(struct tern_peer *peer, struct tern_pending *pending)
{
    note_waiting(peer);
    tern_list_append(&peer->pending, &pending->link);
    tern_peer_update(peer);
}

void tern_pending_get(struct tern_peer *peer, struct tern_pending *pending)
{
    if (tern_list_empty(&peer->pending_gets) && pending->push(pending) != TERN_ERR_AGAIN)
        return;
    note_waiting(peer);
    tern_list_append(&peer->pending_gets, &pending->link);
}

static int flush_queue(struct tern_list_node *queue)
{
    int count = 0;
    while (!tern_list_empty(queue)) {
        struct tern_pending *first = TERN_CONTAINER(queue->next, struct tern_pending, link);
        struct tern_list_node *next = first->link.next;
        /* `push` may free or complete what holds `first`, so `first` leaves the queue before, and
         * is put back in front if it could not be sent */
        tern_list_remove(&first->link);
        if (first->push(first) == TERN_ERR_AGAIN) {
            /* before `next`, which is the second item again, or the list's end */
            tern_list_append(next, &first->link);
            return count;
        }
        count++;
    }
    return count;
}

static int flush_peer(struct tern_peer *peer)
{
    int count = flush_queue(&peer->pending) + flush_queue(&peer->pending_gets);
    if (tern_list_empty(&peer->pending) && tern_list_empty(&peer->pending_gets)) {
        tern_list_remove(&peer->pending_peers);
        peer->waits = false;
    }
    tern_peer_update(peer);
    return count;
}

int tern_pending_flush(struct tern_lane *lane)
{
    struct tern_list_node *peers = &lane->waiting_peers;
    int count = 0;
    for (struct tern_list_node *link = peers->next, *next; link != peers; link = next) {
        next = link->next;
        count += flush_peer(TERN_CONTAINER(link, struct tern_peer, pending_peers));
    }
    return count;
}

bool tern_pending_empty(void)
{
    bool empty = true;
    for (uint32_t i = 0; i < tern_lane_count; i++) {
        tern_lane_lock(&tern_lanes[i]);
        empty &= tern_list_empty(&tern_lanes[i].waiting_peers);
        tern_lane_unlock(&tern_lanes[i]);
    }
    return empty;
}

/* A control packet that waits: an answer, or the notice of a failure (tern_pml_send_failure). */
struct control {
    struct tern_pending pending;
    struct tern_peer *peer;
    struct tern_packet packet;
    size_t length;
    unsigned char payload[sizeof(struct tern_clear_into)]; /* the longest one */
};

_Static_assert(sizeof(struct tern_rendezvous) <= sizeof(struct tern_clear_into) &&
                   sizeof(struct tern_reply) <= sizeof(struct tern_clear_into),
               "room for all");

static int push_control(struct tern_pending *pending)
{
    struct control *control = TERN_CONTAINER(pending, struct control, pending);
    int rc = control->peer->btl->send(control->peer, &control->packet, control->payload,
                                      control->length);
    if (rc == TERN_ERR_AGAIN)
        return rc;
    if (rc && rc != TERN_ERR_UNREACHABLE)
        tern_log("a control packet to rank %u is lost: %s", control->peer->rank,
                 tern_error_text(rc));
    free(control);
    return 0;
}

void tern_control_send(struct tern_peer *peer, const struct tern_packet *packet,
                       const void *payload, size_t length)
{
    if (TERN_UNLIKELY(peer->lost != NULL))
        return;
    int rc = tern_peer_ready(peer);
    if (rc == 0 && !tern_list_empty(&peer->pending))
        rc = TERN_ERR_AGAIN;
    else if (rc == 0) /* a CREDIT packet can wait for the packet that is sent next */
        rc = (packet->kind == TERN_PACKET_CREDIT ? peer->btl->send_batched
                                                 : peer->btl->send)(peer, packet, payload, length);
    /* the peer is lost, or will be soon: everything that waits for this packet fails */
    if (rc == 0 || rc == TERN_ERR_UNREACHABLE)
        return;
    struct control *control = rc == TERN_ERR_AGAIN ? malloc(sizeof *control) : NULL;
    if (!control) {
        /* without the answer the peer would wait for ever */
        tern_log("cannot answer rank %u: %s", peer->rank,
                 rc == TERN_ERR_AGAIN ? "no memory" : tern_error_text(rc));
        abort();
    }
    *control = (struct control){
        .pending.push = push_control, .peer = peer, .packet = *packet, .length = length};
    memcpy(control->payload, payload, length);
    tern_pending_append(peer, &control->pending);
}

/* Gives back credit. The sender has a separate credit for each of its lanes. We know only that the
 * context names the lane. So owed credit is counted separately for the largest possible number of
 * lanes. Even if all of them are one lane of the sender, half of its credit always comes back. */
static void give_back(struct tern_peer *peer, uint64_t context_id, int64_t bytes)
{
    uint64_t lane = context_id >> 1 & (TERN_LANES_MAX - 1);
    peer->owed[lane] += bytes;
    if (TERN_LIKELY(peer->owed[lane] < tern_credit_owed_most))
        return;
    /* the peer's credit has our factor if it sends by the byte mover by which we send; else return
     * credit as early as any peer may need it */
    if (peer->btl && peer->btl == peer->came_by &&
        peer->owed[lane] < tern_credit_owed_most * peer->limits.credit_factor)
        return;
    struct tern_packet packet = {.kind = TERN_PACKET_CREDIT, .context = lane << 1};
    struct tern_reply reply = {.length = peer->owed[lane]};
    peer->owed[lane] = 0;
    tern_control_send(peer, &packet, &reply, sizeof reply);
}

/* Adds `bytes` to what is lent. Returns the new sum. All lanes share the sum. */
static int64_t change_lent(int64_t bytes)
{
    if (TERN_UNLIKELY(tern_threads))
        return __atomic_add_fetch(&lent_bytes, bytes, __ATOMIC_RELAXED);
    return lent_bytes += bytes;
}

void tern_credit_settle(struct tern_peer *peer, const struct tern_packet *packet, size_t length)
{
    int64_t bytes = (int64_t)length + TERN_MESSAGE_COST;
    if (TERN_UNLIKELY(packet->flags & TERN_CREDIT_LENT))
        change_lent(-bytes);
    else
        give_back(peer, packet->context, bytes);
}

void tern_credit_lend(struct tern_peer *peer, struct tern_packet *packet, size_t length)
{
    int64_t bytes = (int64_t)length + TERN_MESSAGE_COST;
    if (packet->kind == TERN_PACKET_RENDEZVOUS)
        return;
    if (change_lent(bytes) > lendable_bytes) {
        change_lent(-bytes);
        return;
    }
    packet->flags = TERN_CREDIT_LENT;
    give_back(peer, packet->context, bytes);
}
