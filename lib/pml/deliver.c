/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * What happens to a packet that has arrived. Messages are put into the order of their sequence numbers per (context,
 * source), matched, or kept; answers go to the request they name. Called by the byte movers from inside progress, and by
 * the self byte mover from inside send; sends nothing but control packets and never waits.
 */

#include "lib/pml/match.h"
#include "lib/pml/pml_request.h"

#include "lib/util/log.h"

#include <stdlib.h>
#include <string.h>

/* Messages whose context is not open here yet, or which overtook others; in order of arrival. */
static struct tern_link parked = {&parked, &parked};
static uint32_t parked_count;

static struct tern_unexpected *copy_message(struct tern_peer *from, const struct tern_packet *packet, const void *payload, size_t length)
{
    struct tern_unexpected *message = malloc(sizeof *message + length);
    if (!message) {
        tern_log("no memory for an unexpected message of %zu bytes from rank %u (%lu are waiting): receive them, or lower pml_eager_credit",
                 length, from->rank, (long)tern_match_unexpected_count());
        abort();
    }
    message->from = from;
    message->packet = *packet;
    message->length = length;
    memcpy(message->payload, payload, length);
    return message;
}

static void park(struct tern_peer *from, const struct tern_packet *packet, const void *payload, size_t length)
{
    tern_list_append(&parked, &copy_message(from, packet, payload, length)->links[0]);
    parked_count++;
}

/* In order: to the receive that waits for it, or among the unexpected ones. */
static void accept_message(struct tern_context *context, struct tern_peer *from, const struct tern_packet *packet, const void *payload,
                           size_t length)
{
    struct tern_pml_request *request = tern_match_posted(context, packet->source, packet->tag);
    if (TERN_LIKELY(request != NULL)) {
        tern_recv_begin(request, from, packet, payload, length);
        return;
    }
    struct tern_unexpected *message = copy_message(from, packet, payload, length);
    message->context = context;
    tern_match_add(message);
}

/* Guards the tables by rank against a damaged packet. */
static bool from_member(const struct tern_context *context, const struct tern_peer *from, const struct tern_packet *packet)
{
    if ((uint32_t)packet->source < (uint32_t)context->size)
        return true;
    tern_log("a packet from rank %u names source %d in a communicator of %d: dropped", from->rank, packet->source, context->size);
    return false;
}

static bool in_turn(const struct tern_context *context, const struct tern_packet *packet)
{
    return context->recv_seq[packet->source] == packet->seq;
}

/* Parked messages of this context whose turn it is now. */
static void unpark(struct tern_context *context)
{
    for (bool again = true; again && parked_count;) {
        again = false;
        for (struct tern_link *link = parked.next; link != &parked; link = link->next) {
            struct tern_unexpected *message = TERN_CONTAINER(link, struct tern_unexpected, links[0]);
            if (message->packet.context != context->id || !from_member(context, message->from, &message->packet) ||
                !in_turn(context, &message->packet))
                continue;
            tern_list_remove(link);
            parked_count--;
            context->recv_seq[message->packet.source]++;
            accept_message(context, message->from, &message->packet, message->payload, message->length);
            free(message);
            again = true;
            break;
        }
    }
}

static void deliver_message(struct tern_peer *from, const struct tern_packet *packet, const void *payload, size_t length)
{
    struct tern_context *context = tern_context_find(packet->context);
    if (TERN_UNLIKELY(!context)) {
        park(from, packet, payload, length);
        return;
    }
    if (TERN_UNLIKELY(!from_member(context, from, packet)))
        return;
    if (TERN_UNLIKELY(!in_turn(context, packet))) {
        park(from, packet, payload, length);
        return;
    }
    context->recv_seq[packet->source]++;
    accept_message(context, from, packet, payload, length);
    if (TERN_UNLIKELY(parked_count))
        unpark(context);
}

void tern_deliver_early(struct tern_context *context)
{
    if (parked_count)
        unpark(context);
}

void tern_deliver_forget_early(struct tern_context *context)
{
    for (struct tern_link *link = parked.next, *next; link != &parked; link = next) {
        next = link->next;
        struct tern_unexpected *message = TERN_CONTAINER(link, struct tern_unexpected, links[0]);
        if (message->packet.context != context->id)
            continue;
        tern_list_remove(link);
        parked_count--;
        free(message);
    }
}

/* A sender wants its announced message back: possible while nobody has matched it. */
static void deliver_cancel(struct tern_peer *from, const struct tern_packet *packet, const struct tern_reply *reply)
{
    struct tern_context *context = tern_context_find(packet->context);
    struct tern_unexpected *message = context ? tern_match_announced(context, from, reply->remote_id) : NULL;
    if (message) {
        tern_match_remove(message);
        if (message->packet.kind == TERN_PACKET_EAGER_SYNC)
            tern_credit_owe(from, message->length + TERN_MESSAGE_COST);
        free(message);
    }
    struct tern_reply answer = {.id = reply->remote_id, .length = message != NULL};
    tern_control_send(from, &(struct tern_packet){.kind = TERN_PACKET_CANCELLED}, &answer, sizeof answer);
}

void tern_pml_deliver(struct tern_peer *from, const struct tern_packet *packet, const void *payload, size_t length)
{
    struct tern_reply reply = {0};
    switch (packet->kind) {
    case TERN_PACKET_EAGER:
    case TERN_PACKET_EAGER_SYNC:
    case TERN_PACKET_RENDEZVOUS:
        deliver_message(from, packet, payload, length);
        return;
    case TERN_PACKET_DATA:
        tern_recv_data(packet, payload, length);
        return;
    default:
        break;
    }
    if (length == sizeof reply)
        memcpy(&reply, payload, sizeof reply);
    switch (packet->kind) {
    case TERN_PACKET_MATCHED:
        tern_send_matched(&reply);
        break;
    case TERN_PACKET_PULLED:
        tern_send_pulled(&reply);
        break;
    case TERN_PACKET_CLEAR:
        tern_send_clear(&reply);
        break;
    case TERN_PACKET_CANCEL:
        deliver_cancel(from, packet, &reply);
        break;
    case TERN_PACKET_CANCELLED:
        tern_send_cancelled(&reply);
        break;
    case TERN_PACKET_CREDIT:
        from->credit += reply.length;
        tern_peer_update(from);
        break;
    default:
        tern_log("a packet of unknown kind %u from rank %u: dropped", packet->kind, from->rank);
    }
}
