/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Sending. The frequent case is send_now: a short message in one run of memory, to a peer for which
 * nothing is queued. It needs no request and no allocation. Every other send becomes a request:
 *
 *   eager        one packet with the whole message; complete when the byte mover has taken it
 *   eager sync   like eager, but complete when the receiver answers MATCHED
 *   rendezvous   announced first, where the byte mover can with the first bytes; the receiver
 *                copies the message from our memory and answers PULLED, or asks for DATA packets
 *                (CLEAR), or, if our memory cannot be read, lets us write into its own (CLEAR_INTO,
 *                answered by WRITTEN); send_answers.c does what it answers
 *
 * If a standard send of eager size finds no credit, the message is copied to memory of ours and
 * announced from there: programs rely on short sends that do not wait, and so a flood of messages
 * fills the sender's memory, not the receiver's.
 *
 * The choice is made when the message is really sent (push_first). This may be later than the start
 * of the send, if other messages are in the peer's queue. The sequence number is given at the
 * start, so the order never depends on the choice.
 */

#include "lib/node/doorbell.h"
#include "lib/pml/pml_request.h"

#include "lib/rte/rte.h"
#include "lib/util/base/event.h"
#include "lib/settings/param.h"

#include <stdlib.h>

static int64_t kept_bytes; /* bytes of messages copied for lack of credit; atomic */

static int push_first(struct tern_pending *pending);

static struct tern_packet first_packet(const struct tern_pml_request *request, int kind)
{
    struct tern_packet packet = request->header;
    packet.kind = kind;
    packet.id = request->number;
    return packet;
}

void tern_send_finish(struct tern_pml_request *request, int error)
{
    tern_send_deregister(request);
    tern_number_take_back(request);
    tern_request_complete(&request->req, error);
}

static int push_eager(struct tern_pml_request *request)
{
    struct tern_peer *peer = request->peer;
    bool synchronous = request->mode == TERN_SEND_SYNCHRONOUS;
    if (synchronous && tern_number_give(request))
        return TERN_ERR_NO_MEM;
    struct tern_packet packet =
        first_packet(request, synchronous ? TERN_PACKET_EAGER_SYNC : TERN_PACKET_EAGER);
    int64_t length = request->length;
    void *start;
    int rc;
    /* set before the packet is sent: in a send to oneself everything up to the answer happens
     * inside `send` */
    request->announced = synchronous;
    peer->credit -= length + TERN_MESSAGE_COST;
    request->cursor.error = 0;
    if (tern_pml_request_run(request, &start)) {
        rc = peer->btl->send(peer, &packet, start, length);
    } else {
        tern_pml_request_rewind(request);
        rc = peer->btl->send_cursor(peer, &packet, &request->cursor, length);
    }
    if (rc) {
        request->announced = false;
        peer->credit += length + TERN_MESSAGE_COST;
        return rc;
    }
    if (!synchronous)
        tern_send_finish(request, request->cursor.error);
    return 0;
}

void tern_send_deregister(struct tern_pml_request *request)
{
    if (request->offered)
        request->peer->offered--;
    request->offered = false;
    if (!request->registered)
        return;
    request->registered = false;
    request->registrar->deregister_memory(request->peer, &request->registration);
}

/* Returns the byte mover by which the peer may get our device memory; NULL: it may not. */
static const struct tern_btl *device_mover(const struct tern_peer *peer)
{
    const struct tern_btl *mover = peer->device_bulk;
    return mover && (!mover->offers_devices || mover->offers_devices()) ? mover : NULL;
}

/* Lets a byte mover register a copy of the message, which it makes. Returns 0, or TERN_ERR_AGAIN if
 * it is not known yet whether it can. */
static int register_copy(struct tern_pml_request *request)
{
    const struct tern_btl *mover = device_mover(request->peer);
    if (!mover || !mover->register_copy)
        return 0;
    tern_pml_request_rewind(request);
    int rc = mover->register_copy(request->peer, &request->cursor, &request->registration);
    request->registered = rc == 0;
    request->registrar = mover;
    return rc == TERN_ERR_AGAIN ? rc : 0;
}

/* Lets a byte mover register our memory, which is one run; one that needs no registration only
 * needs the address. Returns 0, or TERN_ERR_AGAIN if it is not known yet whether it can. */
static int register_run(struct tern_pml_request *request, const void *start,
                        struct tern_rendezvous *rendezvous)
{
    struct tern_peer *peer = request->peer;
    const struct tern_btl *mover = request->memory ? device_mover(peer) : peer->bulk;
    request->unreadable = false; /* another mover may have been asked before */
    if (!mover)
        return 0;
    if (!mover->register_memory) {
        rendezvous->address = (uintptr_t)start;
        return 0;
    }
    int rc = mover->register_memory(peer, start, (size_t)request->length, &request->registration);
    request->registered = rc == 0;
    request->unreadable = rc && rc != TERN_ERR_AGAIN && !request->memory;
    request->registrar = mover;
    return rc == TERN_ERR_AGAIN ? rc : 0;
}

/* Lets the receiver get the message itself, if a byte mover can do that. Returns 0, or
 * TERN_ERR_AGAIN if that is not known yet. */
static int offer_memory(struct tern_pml_request *request, struct tern_rendezvous *rendezvous)
{
    void *start;
    int rc = 0;
    if (!request->length || request->memory == TERN_TYPE_MIXED)
        return 0;
    if (!request->registered &&
        tern_type_one_run(request->type, request->buf, request->count, &start))
        rc = register_run(request, start, rendezvous);
    if (!rc && !request->registered && request->memory == TERN_TYPE_DEVICE)
        rc = register_copy(request);
    if (request->registered) {
        rendezvous->address = request->registration.address;
        rendezvous->key = request->registration.key;
    }
    return rc;
}

/* Returns how many bytes of the message go with its announcement. The receiver copies them while
 * its answer is under way, and while we make the next packet. None without credit: then the
 * receiver is late, and would drop them. */
static size_t head_length(const struct tern_pml_request *request)
{
    struct tern_peer *peer = request->peer;
    if (!peer->limits.head_max || request->memory || peer->credit <= 0)
        return 0;
    if (peer->without_head) {
        peer->without_head--;
        return 0;
    }
    return request->length < peer->limits.head_max ? (size_t)request->length
                                                   : peer->limits.head_max;
}

/* Sends the announcement, with the first bytes of the message if the receiver may want them. */
static int send_announcement(struct tern_pml_request *request, const struct tern_packet *packet,
                             const struct tern_rendezvous *rendezvous)
{
    struct tern_peer *peer = request->peer;
    int rc = TERN_ERR_NO_MEM;
    request->head = head_length(request);
    if (request->head) {
        tern_pml_request_rewind(request);
        rc = peer->btl->send_head(peer, packet, &request->cursor, request->head, rendezvous);
    }
    if (rc == TERN_ERR_NO_MEM) {
        request->head = 0;
        rc = peer->btl->send(peer, packet, rendezvous, sizeof *rendezvous);
    }
    return rc;
}

/* Counts this send in peer->offered, once, if the announcement offers its memory. */
static void note_offer(struct tern_pml_request *request, bool offers)
{
    if (offers && !request->offered)
        request->peer->offered++;
    request->offered |= offers;
}

static int push_rendezvous(struct tern_pml_request *request)
{
    if (tern_number_give(request))
        return TERN_ERR_NO_MEM;
    struct tern_packet packet = first_packet(request, TERN_PACKET_RENDEZVOUS);
    struct tern_rendezvous rendezvous = {.length = request->length, .id = request->number};
    if (request->memory == TERN_TYPE_DEVICE)
        packet.flags = TERN_PACKET_OF_DEVICE;
    if (offer_memory(request, &rendezvous))
        return TERN_ERR_AGAIN;
    if (request->unreadable)
        packet.flags = TERN_PACKET_UNREADABLE;
    /* Read before the packet is sent: in a send to oneself the message may be complete when `send`
     * returns. The communicator may have been freed long ago. */
    bool wanted = tern_event_wanted(TERN_EVENT_RENDEZVOUS);
    const struct tern_context *context =
        wanted ? tern_context_find(request->req.lane, packet.context) : NULL;
    const void *comm = context ? context->comm : NULL;
    const int64_t told[] = {request->rank, request->tag, packet.context & 1, request->length};
    struct tern_lane *lane = request->req.lane;
    request->announced = true;
    note_offer(request, rendezvous.address != 0);
    int rc = send_announcement(request, &packet, &rendezvous);
    if (rc)
        request->announced = false;
    else
        tern_count(&lane->counters.rendezvous_messages, 1);
    if (!rc && comm)
        tern_event_raise(TERN_EVENT_RENDEZVOUS, comm, told);
    return rc;
}

/* Returns true if one copy between devices takes less time than two through the host. */
static bool is_worth_copy(const struct tern_pml_request *request)
{
    enum { LEAST = 4096 }; /* programs rely on shorter messages that do not wait */
    return TERN_UNLIKELY(request->memory == TERN_TYPE_DEVICE) && request->length >= LEAST &&
           device_mover(request->peer) && request->peer->rank != tern_rte.rank;
}

/* Sends the first packet of a message. */
static int push_first(struct tern_pending *pending)
{
    struct tern_pml_request *request = TERN_CONTAINER(pending, struct tern_pml_request, pending);
    struct tern_peer *peer = request->peer;
    /* the request may have been released when the packet has been sent */
    int64_t length = request->length;
    int rc = TERN_ERR_NO_MEM;
    if (length <= (int64_t)peer->limits.eager_max && peer->credit > 0 && !is_worth_copy(request))
        rc = push_eager(request);
    /* no credit, too long, or the byte mover has no memory for the message */
    if (rc == TERN_ERR_NO_MEM)
        rc = push_rendezvous(request);
    if (rc == TERN_ERR_AGAIN)
        return rc;
    if (rc) {
        tern_send_finish(request, rc);
        return 0;
    }
    tern_count(&peer->traffic.sent_messages, 1);
    tern_count(&peer->traffic.sent_bytes, length);
    return 0;
}

static void forget_copy(struct tern_request *req)
{
    struct tern_pml_request *request = tern_pml_request_of(req);
    __atomic_fetch_sub(&kept_bytes, request->length + TERN_MESSAGE_COST, __ATOMIC_RELAXED);
    free(request->buf);
    tern_pml_request_release(req);
}

void tern_pml_finish_copies(void)
{
    struct tern_waiter waiter = {.procedure = "MPI_Finalize or MPI_Session_finalize"};
    while (__atomic_load_n(&kept_bytes, __ATOMIC_RELAXED))
        tern_wait(&waiter);
}

/* Sends a copy in place of the message, which is then complete. Returns false if the limit or the
 * memory does not permit a copy. */
static bool send_copy(struct tern_pml_request *request)
{
    static struct tern_param_kept limit;
    int64_t bytes = request->length + TERN_MESSAGE_COST;
    if (__atomic_load_n(&kept_bytes, __ATOMIC_RELAXED) + bytes >
        tern_param_keep(&limit, "pml_send_buffer"))
        return false;
    void *copy = malloc(request->length + 1);
    struct tern_pml_request *carrier =
        copy ? tern_pml_request_new(&tern_pml_send_kind, request->context, copy, request->length,
                                    &tern_type_bytes, request->rank, request->tag)
             : NULL;
    if (!carrier) {
        free(copy);
        return false;
    }
    tern_pml_request_rewind(request);
    tern_cursor_pack(&request->cursor, copy, request->length);
    __atomic_fetch_add(&kept_bytes, bytes, __ATOMIC_RELAXED);
    carrier->mode = TERN_SEND_READY; /* any mode whose messages are not copied again */
    carrier->req.on_complete = forget_copy;
    tern_send_start(carrier); /* cannot fail, because the peer is ready */
    tern_send_finish(request, request->cursor.error);
    return true;
}

int tern_send_start(struct tern_pml_request *request)
{
    struct tern_context *context = request->context;
    struct tern_peer *peer = tern_context_peer(context, request->rank);
    int rc = peer ? tern_peer_ready(peer) : TERN_ERR_NO_MEM;
    if (rc)
        return rc;
    if (TERN_UNLIKELY(peer->credit <= 0) && request->mode == TERN_SEND_STANDARD &&
        request->length <= (int64_t)peer->limits.eager_max) {
        /* a rank that only sends would otherwise never find that credit has arrived, or that copies
         * were received */
        tern_lane_progress(context->lane);
        if (peer->credit <= 0 && send_copy(request))
            return 0;
    }
    request->peer = peer;
    request->header = (struct tern_packet){
        .seq = context->send_seq[request->rank]++,
        .source = context->rank,
        .tag = request->tag,
        .context = context->id,
    };
    request->pending.push = push_first;
    if (!tern_list_empty(&peer->pending) || push_first(&request->pending) == TERN_ERR_AGAIN)
        tern_pending_append(peer, &request->pending);
    else
        tern_peer_update(peer);
    return 0;
}

/* Sends the bytes of an eager message. Returns false if there is no room. */
static inline bool send_run(struct tern_context *context, struct tern_peer *peer, const void *start,
                            uint64_t length, int dest, int tag, bool batched)
{
    struct tern_packet packet;
    tern_packet_set(&packet, context->send_seq[dest]++, context->rank, tag, context->id);
    if (TERN_UNLIKELY(
            (batched ? peer->btl->send_batched : peer->btl->send)(peer, &packet, start, length))) {
        context->send_seq[dest]--;
        return false;
    }
    tern_count(&peer->traffic.sent_messages, 1);
    tern_count(&peer->traffic.sent_bytes, length);
    peer->credit -= length + TERN_MESSAGE_COST;
    if (TERN_UNLIKELY(peer->credit <= 0))
        tern_peer_update(peer);
    return true;
}

/* Sends an eager message at once if possible. Returns false if the send needs a request.
 * `batched`: more messages may follow. Where buffers may be in device memory the limits are 0, so
 * that they are not looked at here. */
static inline bool send_now(struct tern_context *context, const void *buf, int64_t count,
                            const struct tern_type *type, int dest, int tag,
                            enum tern_send_mode mode, bool batched)
{
    struct tern_peer *peer = context->peers->peer[dest];
    uint64_t length = count * type->size;
    void *start;
    if (TERN_UNLIKELY(length >= (batched ? peer->eager_below : peer->blocking_below) ||
                      mode == TERN_SEND_SYNCHRONOUS ||
                      !tern_type_one_run(type, buf, count, &start)))
        return false;
    return send_run(context, peer, start, length, dest, tag, batched);
}

/* Does the same where buffers may be in device memory, if this one is not. */
static bool send_host(const struct tern_pml_request *request, bool batched)
{
    struct tern_context *context = request->context;
    struct tern_peer *peer = context->peers->peer[request->rank];
    void *start;
    if (!tern_accel_watched || request->mode == TERN_SEND_SYNCHRONOUS || !tern_peer_is_free(peer) ||
        request->length > (batched ? peer->limits.eager_max : peer->limits.eager_max_blocking) ||
        !tern_pml_request_run(request, &start))
        return false;
    return send_run(context, peer, start, (uint64_t)request->length, request->rank, request->tag,
                    batched);
}

static __attribute__((noinline)) int send_slowly(struct tern_context *context, const void *buf,
                                                int64_t count, const struct tern_type *type,
                                                int dest, int tag, enum tern_send_mode mode)
{
    struct tern_pml_request request;
    tern_pml_request_set(&request, &tern_pml_send_kind, context, buf, count, type, dest, tag);
    request.mode = mode;
    if (send_host(&request, false))
        return 0;
    /* the receiver may expect us to take part in the transfer */
    tern_doorbell_note_waiting(tern_ticks());
    int rc = tern_send_start(&request);
    if (rc)
        return rc;
    tern_request_wait_in(&request.req, mode == TERN_SEND_SYNCHRONOUS ? "MPI_Ssend"
                                       : mode == TERN_SEND_READY     ? "MPI_Rsend"
                                                                     : "MPI_Send");
    if (TERN_UNLIKELY(request.req.error == TERN_ERR_UNREACHABLE))
        tern_pml_explain(&request.req);
    return request.req.error;
}

int tern_pml_send(struct tern_context *context, const void *buf, int64_t count,
                  const struct tern_type *type, int dest, int tag, enum tern_send_mode mode)
{
    tern_lane_lock(context->lane);
    int rc = TERN_LIKELY(send_now(context, buf, count, type, dest, tag, mode, false))
                 ? 0
                 : send_slowly(context, buf, count, type, dest, tag, mode);
    tern_lane_unlock(context->lane);
    return rc;
}

void tern_pml_send_failure(struct tern_context *context, int dest, int tag)
{
    tern_lane_lock(context->lane);
    struct tern_peer *peer = tern_context_peer(context, dest);
    struct tern_packet packet = {
        .kind = TERN_PACKET_RENDEZVOUS,
        .seq = context->send_seq[dest]++,
        .source = context->rank,
        .tag = tag,
        .context = context->id,
    };
    if (peer)
        tern_control_send(peer, &packet, &(struct tern_rendezvous){0},
                          sizeof(struct tern_rendezvous));
    tern_lane_unlock(context->lane);
}

static struct tern_pml_request *new_send(struct tern_context *context, const void *buf,
                                         int64_t count, const struct tern_type *type, int dest,
                                         int tag, enum tern_send_mode mode)
{
    struct tern_pml_request *request =
        tern_pml_request_new(&tern_pml_send_kind, context, buf, count, type, dest, tag);
    if (request)
        request->mode = mode;
    return request;
}

static __attribute__((noinline)) int isend_slowly(struct tern_context *context, const void *buf,
                                                  int64_t count, const struct tern_type *type,
                                                  int dest, int tag, enum tern_send_mode mode,
                                                  struct tern_request **ret_request)
{
    struct tern_pml_request *request = new_send(context, buf, count, type, dest, tag, mode);
    if (request && send_host(request, true)) {
        tern_pml_request_release(&request->req);
        tern_lane_unlock(context->lane);
        *ret_request = &tern_request_empty;
        return 0;
    }
    int rc = request ? tern_send_start(request) : TERN_ERR_NO_MEM;
    if (rc && request)
        tern_pml_request_release(&request->req);
    tern_lane_unlock(context->lane);
    if (!rc)
        *ret_request = &request->req;
    return rc;
}

int tern_pml_isend(struct tern_context *context, const void *buf, int64_t count,
                   const struct tern_type *type, int dest, int tag, enum tern_send_mode mode,
                   struct tern_request **ret_request)
{
    tern_lane_lock(context->lane);
    if (TERN_UNLIKELY(!send_now(context, buf, count, type, dest, tag, mode, true)))
        return isend_slowly(context, buf, count, type, dest, tag, mode, ret_request);
    tern_lane_unlock(context->lane);
    *ret_request = &tern_request_empty;
    return 0;
}

int tern_pml_send_init(struct tern_context *context, const void *buf, int64_t count,
                       const struct tern_type *type, int dest, int tag, enum tern_send_mode mode,
                       struct tern_request **ret_request)
{
    tern_lane_lock(context->lane);
    struct tern_pml_request *request = new_send(context, buf, count, type, dest, tag, mode);
    tern_lane_unlock(context->lane);
    if (!request)
        return TERN_ERR_NO_MEM;
    tern_request_make_persistent(&request->req);
    *ret_request = &request->req;
    return 0;
}

static int restart(struct tern_request *req)
{
    struct tern_pml_request *request = tern_pml_request_of(req);
    tern_lane_lock(req->lane);
    request->cancelling = request->announced = false;
    request->memory =
        tern_type_memory_of(request->type, request->buf, request->count, &request->place);
    tern_request_restart(req);
    int rc = tern_send_start(request);
    if (rc) {
        req->complete = true;
        req->active = false;
    }
    tern_lane_unlock(req->lane);
    return rc;
}

/* Asks the receiver to give a message up: works for an announced or synchronous message; an eager
 * message can no longer be stopped. A message that waits in the peer's queue has its sequence
 * number already, so it is sent, and the question after it. */
static int ask_back(struct tern_pml_request *request)
{
    if (request->req.complete || request->cancelling || request->writing)
        return 0;
    if (tern_number_give(request))
        return TERN_ERR_NO_MEM;
    request->cancelling = true;
    struct tern_packet packet = first_packet(request, TERN_PACKET_CANCEL);
    struct tern_reply reply = {.remote_id = request->number};
    tern_control_send(request->peer, &packet, &reply, sizeof reply);
    return 0;
}

static int cancel(struct tern_request *req)
{
    struct tern_lane *lane = req->lane;
    tern_lane_lock(lane);
    int rc = ask_back(tern_pml_request_of(req));
    tern_lane_unlock(lane);
    return rc;
}

const struct tern_request_kind tern_pml_send_kind = {
    .name = "send",
    .start = restart,
    .cancel = cancel,
    .release = tern_pml_request_release,
    .explain = tern_pml_explain,
};
