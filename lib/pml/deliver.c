/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Delivery of packets that have arrived. Messages are put into the order of their sequence numbers
 * per (context, source), and then matched, or kept. Answers go to the request they name. The byte
 * movers call this from inside progress; the self byte mover calls it from inside send. Delivery
 * sends control packets only, and never waits.
 */

#include "lib/pml/match.h"
#include "lib/pml/pml_request.h"

#include "lib/util/base/event.h"
#include "lib/util/base/log.h"

#include <stdlib.h>
#include <string.h>

/* Kind of a kept message that its sender has taken back: only its sequence number is still
 * needed. */
enum { TAKEN_BACK = 0 };

/* Called if there is no memory for the bytes of an unexpected message. Keeps an announcement
 * without a sender in its place: the receive that matches this announcement fails, and no other
 * (begin_announced). Ends the process if there is no memory even for that. */
static __attribute__((cold, noinline)) struct tern_unexpected *
keep_without_bytes(const struct tern_context *context, struct tern_peer *from,
                   const struct tern_packet *packet, size_t length)
{
    struct tern_rendezvous gone = {.length = length};
    struct tern_unexpected *message =
        packet->kind == TERN_PACKET_RENDEZVOUS ? NULL : tern_unexpected_new(context, sizeof gone);
    if (!message) {
        tern_log("no memory for an unexpected message of %zu bytes from rank %u (%lu such messages "
                 "wait): post receives earlier, or lower pml_eager_credit",
                 length, from->rank, (long)tern_lanes[from->lane].unexpected.items);
        abort();
    }
    tern_recv_drop(from, packet, length);
    message->from = from;
    message->packet = *packet;
    message->packet.kind = TERN_PACKET_RENDEZVOUS;
    memcpy(message->payload, &gone, sizeof gone);
    return message;
}

/* Copies a message. Of an announced one the bytes that came with the announcement are dropped: the
 * receive asks for them again. So announced messages take no memory but for the announcement. */
static struct tern_unexpected *copy_message(const struct tern_context *context,
                                            struct tern_peer *from,
                                            const struct tern_packet *packet, const void *payload,
                                            size_t length)
{
    if (packet->kind == TERN_PACKET_RENDEZVOUS) {
        payload = (const char *)payload + length - sizeof(struct tern_rendezvous);
        length = sizeof(struct tern_rendezvous);
    }
    struct tern_unexpected *message = tern_unexpected_new(context, length);
    if (TERN_UNLIKELY(!message))
        return keep_without_bytes(context, from, packet, length);
    message->from = from;
    message->packet = *packet;
    memcpy(message->payload, payload, length);
    return message;
}

static struct tern_unexpected *message_at(struct tern_list_node *link)
{
    return TERN_CONTAINER(link, struct tern_unexpected, arrived);
}

static void add_unexpected(struct tern_context *context, struct tern_unexpected *message)
{
    message->context = context;
    tern_match_add(message);
    if (tern_event_wanted(TERN_EVENT_UNEXPECTED) && context->comm)
        tern_event_raise(TERN_EVENT_UNEXPECTED, context->comm,
                         (int64_t[]){message->packet.source, message->packet.tag,
                                     tern_context_is_internal(context),
                                     (int64_t)tern_unexpected_bytes(message),
                                     (int64_t)context->lane->unexpected.items});
    tern_lane_tell(context->lane); /* another thread may sleep in a probe */
}

static __attribute__((noinline)) void accept_unexpected(struct tern_context *context,
                                                        struct tern_peer *from,
                                                        const struct tern_packet *packet,
                                                        const void *payload, size_t length)
{
    struct tern_unexpected *message = copy_message(context, from, packet, payload, length);
    tern_credit_lend(from, &message->packet, length);
    add_unexpected(context, message);
}

/* Accepts a message in its turn: gives it to the receive that waits for it, or adds it to the
 * unexpected messages. Returns false if no receive is posted in the lane any more. */
static inline bool accept_message(struct tern_context *context, struct tern_peer *from,
                           const struct tern_packet *packet, const void *payload, size_t length)
{
    struct tern_pml_request *request = tern_match_posted(context, packet);
    if (TERN_LIKELY(request != NULL)) {
        tern_recv_begin(request, from, packet, payload, length);
        return context->lane->posted.items > 0;
    }
    accept_unexpected(context, from, packet, payload, length);
    return true;
}

/* Accepts a message that was kept until its turn. */
static void accept_kept(struct tern_context *context, struct tern_unexpected *message)
{
    struct tern_packet *packet = &message->packet;
    context->recv_seq[packet->source]++;
    struct tern_pml_request *request =
        packet->kind == TAKEN_BACK ? NULL : tern_match_posted(context, packet);
    if (packet->kind != TAKEN_BACK && !request) {
        add_unexpected(context, message);
        return;
    }
    if (request)
        tern_recv_begin(request, message->from, packet, message->payload, message->length);
    tern_unexpected_free(message);
}

/* Returns true if the packet's source is a rank of the context. Protects the tables by rank from a
 * damaged packet. */
static bool from_member(const struct tern_context *context, const struct tern_peer *from,
                        const struct tern_packet *packet)
{
    if ((uint32_t)packet->source < (uint32_t)context->size)
        return true;
    tern_log("a packet from rank %u names source %d in a communicator of %d: dropped", from->rank,
             packet->source, context->size);
    return false;
}

static bool in_turn(const struct tern_context *context, const struct tern_packet *packet)
{
    return context->recv_seq[packet->source] == packet->seq;
}

/* Accepts the parked messages of this context whose turn it is now. */
static void unpark(struct tern_context *context)
{
    struct tern_list_node *parked = &context->lane->parked;
    for (struct tern_list_node *link = parked->next; link != parked;) {
        struct tern_unexpected *message = message_at(link);
        link = link->next;
        if (message->packet.context != context->id || !in_turn(context, &message->packet))
            continue;
        tern_list_remove(&message->arrived);
        accept_kept(context, message);
        link = parked->next; /* a message earlier in the list may be the next in turn */
    }
}

/* Keeps a message that cannot be matched yet: its context is not open here yet, or it overtook
 * others. */
static __attribute__((noinline)) void keep(struct tern_list_node *list, struct tern_peer *from,
                                           const struct tern_packet *packet, const void *payload,
                                           size_t length)
{
    tern_list_append(list, &copy_message(NULL, from, packet, payload, length)->arrived);
}

static inline bool deliver_message(struct tern_peer *from, const struct tern_packet *packet,
                                   const void *payload, size_t length)
{
    struct tern_lane *lane = &tern_lanes[from->lane];
    struct tern_context *context = tern_context_find(lane, packet->context);
    if (TERN_UNLIKELY(!context)) {
        keep(&lane->early, from, packet, payload, length);
        return true;
    }
    if (TERN_UNLIKELY(!from_member(context, from, packet)))
        return true;
    if (TERN_UNLIKELY(!in_turn(context, packet))) {
        keep(&context->lane->parked, from, packet, payload, length);
        return true;
    }
    context->recv_seq[packet->source]++;
    if (TERN_UNLIKELY(!tern_list_empty(&lane->parked))) {
        accept_message(context, from, packet, payload, length);
        unpark(context);
        return true;
    }
    return accept_message(context, from, packet, payload, length);
}

void tern_deliver_early(struct tern_context *context)
{
    struct tern_lane *lane = context->lane;
    for (struct tern_list_node *link = lane->early.next, *next; link != &lane->early; link = next) {
        next = link->next;
        struct tern_unexpected *message = message_at(link);
        if (message->packet.context != context->id)
            continue;
        tern_list_remove(link);
        if (!from_member(context, message->from, &message->packet))
            tern_unexpected_free(message);
        else if (in_turn(context, &message->packet))
            accept_kept(context, message);
        else
            tern_list_append(&lane->parked, link);
    }
    unpark(context);
}

/* Drops a message that will never be received. Gives its sender back the credit, or the buffer of
 * an announced message. */
static void drop_message(struct tern_unexpected *message)
{
    if (message->packet.kind == TERN_PACKET_RENDEZVOUS) {
        struct tern_reply reply = {.id = message->packet.id};
        tern_control_send(message->from, &(struct tern_packet){.kind = TERN_PACKET_PULLED}, &reply,
                          sizeof reply);
    } else if (message->packet.kind != TAKEN_BACK) {
        tern_credit_return(message->from, &message->packet, message->length);
    }
    tern_unexpected_free(message);
}

void tern_deliver_forget(struct tern_context *context)
{
    for (struct tern_unexpected *message; (message = tern_match_any(context));) {
        tern_match_remove(message);
        drop_message(message);
    }
    struct tern_list_node *parked = &context->lane->parked;
    for (struct tern_list_node *link = parked->next, *next; link != parked; link = next) {
        next = link->next;
        if (message_at(link)->packet.context != context->id)
            continue;
        tern_list_remove(link);
        drop_message(message_at(link));
    }
}

/* Finds the message `id` of `from` in a list of early or parked messages. Returns NULL if there is
 * none. */
static struct tern_unexpected *find_kept(struct tern_list_node *kept, const struct tern_peer *from,
                                         uint64_t context_id, uint64_t id)
{
    for (struct tern_list_node *link = kept->next; link != kept; link = link->next) {
        struct tern_unexpected *message = message_at(link);
        int kind = message->packet.kind;
        if (message->from == from && message->packet.context == context_id &&
            message->packet.id == id &&
            (kind == TERN_PACKET_EAGER_SYNC || kind == TERN_PACKET_RENDEZVOUS))
            return message;
    }
    return NULL;
}

/* Answers a sender that wants to cancel a message: possible while the message is not matched. */
static void deliver_cancel(struct tern_peer *from, const struct tern_packet *packet,
                           const struct tern_reply *reply)
{
    struct tern_lane *lane = &tern_lanes[from->lane];
    struct tern_context *context = tern_context_find(lane, packet->context);
    struct tern_unexpected *matchable =
        context ? tern_match_announced(context, from, reply->remote_id) : NULL;
    struct tern_unexpected *message = matchable;
    if (!message)
        message = find_kept(context ? &lane->parked : &lane->early, from, packet->context,
                            reply->remote_id);
    if (message && message->packet.kind == TERN_PACKET_EAGER_SYNC)
        tern_credit_return(from, &message->packet, message->length);
    if (matchable) {
        tern_match_remove(matchable);
        tern_unexpected_free(matchable);
    } else if (message) {
        message->packet.kind = TAKEN_BACK;
    }
    struct tern_reply answer = {.id = reply->remote_id, .length = message != NULL};
    tern_control_send(from, &(struct tern_packet){.kind = TERN_PACKET_CANCELLED}, &answer,
                      sizeof answer);
}

/* Delivers an answer, or a question about a message. */
static __attribute__((noinline)) void deliver_control(struct tern_peer *from,
                                                      const struct tern_packet *packet,
                                                      const void *payload, size_t length)
{
    struct tern_reply reply = {0};
    struct tern_clear_into into = {0};
    if (length == sizeof reply)
        memcpy(&reply, payload, sizeof reply);
    else if (length == sizeof into)
        memcpy(&into, payload, sizeof into);
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
    case TERN_PACKET_CLEAR_INTO:
        tern_send_clear_into(&into);
        break;
    case TERN_PACKET_WRITTEN:
        tern_recv_written(&reply);
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

bool tern_pml_deliver(struct tern_peer *from, const struct tern_packet *packet, const void *payload,
                      size_t length)
{
    switch (packet->kind) {
    case TERN_PACKET_EAGER:
    case TERN_PACKET_EAGER_SYNC:
    case TERN_PACKET_RENDEZVOUS:
        return deliver_message(from, packet, payload, length);
    case TERN_PACKET_DATA:
        tern_recv_data(packet, payload, length);
        return true;
    default:
        deliver_control(from, packet, payload, length);
        return true;
    }
}

/* Finds where the bytes of a message go. A message can go straight to its receive if the receive is
 * posted and it is the message's turn. */
static void *place_message(struct tern_peer *from, const struct tern_packet *packet,
                           struct tern_cursor *ret_to)
{
    if (tern_lane_of(packet->context)->index != from->lane) /* belongs to another lane */
        return NULL;
    struct tern_context *context = tern_context_find(&tern_lanes[from->lane], packet->context);
    if (!context || !from_member(context, from, packet) || !in_turn(context, packet))
        return NULL;
    /* the system's calls cannot write to device memory */
    if (tern_accel_watched)
        return NULL;
    struct tern_pml_request *request = tern_match_posted(context, packet);
    if (!request)
        return NULL;
    context->recv_seq[packet->source]++;
    tern_recv_place_message(request, ret_to);
    if (!tern_list_empty(&context->lane->parked))
        unpark(context);
    return request;
}

void *tern_pml_place(struct tern_peer *from, const struct tern_packet *packet, size_t length,
                     struct tern_cursor *ret_to)
{
    switch (packet->kind) {
    case TERN_PACKET_DATA:
        return tern_recv_place_data(from, packet, length, ret_to);
    case TERN_PACKET_EAGER:
    case TERN_PACKET_EAGER_SYNC:
        return place_message(from, packet, ret_to);
    default: /* an announcement does not carry the receive's bytes, and an answer is no message */
        return NULL;
    }
}

void tern_pml_placed(struct tern_peer *from, const struct tern_packet *packet, size_t length,
                     void *owner)
{
    tern_recv_placed(from, packet, length, owner);
}
