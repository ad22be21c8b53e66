/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Receiving. A receive first looks among the unexpected messages. If none matches, it is posted and
 * waits for a delivery. tern_recv_begin then does what a matched message needs: copies the message
 * (eager), pulls it from the sender's memory, or asks for DATA packets.
 */

#include "lib/pml/match.h"
#include "lib/pml/pml_request.h"
#include "lib/util/base/copy.h"
#include "lib/util/machine/copy_pages.h"

#include <stdlib.h>
#include <string.h>

static void reply_to(struct tern_peer *peer, int kind, uint64_t id, uint64_t length)
{
    struct tern_reply reply = {.id = id, .length = length};
    tern_control_send(peer, &(struct tern_packet){.kind = kind}, &reply, sizeof reply);
}

static inline void set_status(MPI_Status *status, const struct tern_packet *packet, uint64_t length)
{
    status->MPI_SOURCE = packet->source;
    status->MPI_TAG = packet->tag;
    status->_cancelled = 0;
    status->_ucount = length;
}

static int truncated(const struct tern_pml_request *request, int64_t length)
{
    return tern_error(
        TERN_ERR_TRUNCATE,
        "the message from rank %d with tag %d has %ld bytes, but the receive buffer only %ld",
        request->req.status.MPI_SOURCE, request->req.status.MPI_TAG, (long)length,
        (long)request->length);
}

static __attribute__((cold, noinline)) int cut_off(struct tern_pml_request *request,
                                                   int64_t message_length)
{
    int error = truncated(request, message_length);
    request->req.status._ucount = request->length;
    return error;
}

/* Completes the receive when its bytes are in place. The status has the bytes that fitted; the
 * error says if the message was longer. */
static inline void finish(struct tern_pml_request *request, int64_t message_length)
{
    int error = 0;
    if (TERN_UNLIKELY(message_length > request->length))
        error = cut_off(request, message_length);
    if (TERN_UNLIKELY(request->number))
        tern_number_take_back(request);
    tern_request_complete(&request->req, error);
}

/* Returns 0, or the error of device memory. */
static __attribute__((noinline)) int unpack_eager(struct tern_pml_request *request,
                                                  const void *payload, size_t length)
{
    tern_pml_request_rewind(request);
    tern_cursor_unpack(&request->cursor, payload, length);
    return request->cursor.error;
}

/* Ends a receive whose bytes arrived in part; the status says how many. */
static void end_failed(struct tern_pml_request *request, int error)
{
    request->req.status._ucount = (uint64_t)request->cursor.offset;
    tern_request_complete(&request->req, error);
}

static inline void take_eager(struct tern_pml_request *request, const void *payload, size_t length)
{
    size_t fits = (int64_t)length <= request->length ? (int64_t)length : request->length;
    void *start;
    if (TERN_LIKELY(tern_pml_request_run(request, &start))) {
        if (fits <= TERN_COPY_FEW)
            tern_copy_few(start, payload, fits);
        else if (fits < TERN_COPY_PAGES_LEAST)
            memcpy(start, payload, fits);
        else
            tern_copy_pages(start, payload, fits);
    } else if (fits) {
        int error = unpack_eager(request, payload, fits);
        if (TERN_UNLIKELY(error)) {
            end_failed(request, error);
            return;
        }
    }
    finish(request, length);
}

/* Copies the bytes that came with the announcement, unless that is done. Called when the answer has
 * been sent, so that the sender goes on meanwhile; and before the receive ends. */
static void take_head(struct tern_pml_request *request)
{
    struct tern_head *head = &request->req.lane->head;
    void *start;
    if (head->request != request)
        return;
    head->request = NULL;
    if (tern_pml_request_run(request, &start)) {
        tern_copy_pages(start, head->bytes, (size_t)request->headed);
        return;
    }
    struct tern_cursor to;
    tern_cursor_init_in(&to, request->type, request->buf, request->count, request->memory);
    tern_cursor_unpack(&to, head->bytes, (size_t)request->headed);
}

/* Ends a receive because its sender is lost. */
static void end_lost(struct tern_pml_request *request)
{
    take_head(request);
    end_failed(request, tern_peer_ready(request->peer));
}

void tern_recv_conceal(struct tern_pml_request *request)
{
    if (!request->exposed)
        return;
    request->exposed = false;
    tern_btl_conceal(&request->exposure);
}

/* Exposes the buffer to the sender of a long message whose own memory cannot be registered.
 * Returns false if that is not possible, or is not worth it. A sender whose packets come by another
 * byte mover cannot write by this one. */
static bool expose(struct tern_pml_request *request)
{
    enum { LEAST = 512 << 10 };
    const struct tern_btl *mover = request->peer->bulk;
    void *start;
    if (request->expected < LEAST || request->cursor.memory || !mover || !mover->put ||
        request->peer->came_by != mover || !tern_pml_request_run(request, &start))
        return false;
    request->exposure = (struct tern_exposure){.lane = request->peer->lane, .mover = mover};
    request->exposed = mover->expose(request->peer->lane, start, (size_t)request->expected,
                                     &request->exposure) == 0;
    return request->exposed;
}

/* Asks the sender of an announced message for the bytes that were not copied, as DATA packets; or,
 * if the buffer is exposed, to write them. */
static void ask_for_data(struct tern_pml_request *request)
{
    struct tern_peer *from = request->peer;
    request->arrived = request->cursor.offset;
    if (tern_number_give(request)) {
        tern_recv_conceal(request);
        /* nothing is received, but the sender must not wait for ever */
        reply_to(from, TERN_PACKET_PULLED, request->sender_id, 0);
        take_head(request);
        end_failed(request, TERN_ERR_NO_MEM);
        return;
    }
    tern_cursor_stage(&request->cursor);
    struct tern_reply reply = {.id = request->sender_id, .remote_id = request->number,
                               .length = (uint64_t)request->expected,
                               .offset = (uint64_t)request->arrived};
    struct tern_clear_into into = {.reply = reply};
    if (!request->exposed) {
        tern_control_send(from, &(struct tern_packet){.kind = TERN_PACKET_CLEAR}, &reply,
                          sizeof reply);
        take_head(request);
        return;
    }
    into.address = request->exposure.address;
    into.key = request->exposure.key;
    into.by_lane = request->exposure.by_lane;
    tern_control_send(from, &(struct tern_packet){.kind = TERN_PACKET_CLEAR_INTO}, &into,
                      sizeof into);
    take_head(request);
}

/* Tells the sender of an announced message that its memory is no longer needed, and completes the
 * receive. */
static void end_announced(struct tern_pml_request *request, int error)
{
    struct tern_reply reply = {.id = request->sender_id,
                               .length = (uint64_t)request->expected,
                               .offset = (uint64_t)request->headed};
    tern_control_send(request->peer, &(struct tern_packet){.kind = TERN_PACKET_PULLED}, &reply,
                      sizeof reply);
    take_head(request);
    if (error)
        end_failed(request, error);
    else
        finish(request, request->message_length);
}

/* Called when the byte mover has ended the transfer of an announced message. */
static void transferred(struct tern_transfer *transfer, int error)
{
    struct tern_pml_request *request = TERN_CONTAINER(transfer, struct tern_pml_request, transfer);
    request->cursor = transfer->cursor;
    tern_lane_note_busy(request->req.lane);
    tern_count(&request->req.lane->counters.pulled_bytes,
               (uint64_t)(transfer->cursor.offset - request->headed));
    if (error != TERN_ERR_UNSUPPORTED)
        end_announced(request, error);
    else if (TERN_UNLIKELY(request->peer->lost != NULL))
        end_lost(request);
    else
        ask_for_data(request);
}

static int push_get(struct tern_pending *pending)
{
    struct tern_pml_request *request = TERN_CONTAINER(pending, struct tern_pml_request, pending);
    struct tern_peer *from = request->peer;
    request->transfer.waits = request->req.lane->inside == TERN_INSIDE_WAIT;
    if (TERN_LIKELY(!from->lost))
        return request->transfer.mover->get(&request->transfer);
    end_lost(request);
    return 0;
}

/* Copies an announced message out of its sender's memory. */
static void start_transfer(struct tern_pml_request *request,
                           const struct tern_rendezvous *rendezvous, const struct tern_btl *mover)
{
    request->transfer = (struct tern_transfer){
        .peer = request->peer,
        .address = rendezvous->address + (uint64_t)request->headed,
        .key = rendezvous->key,
        .cursor = request->cursor,
        .length = (size_t)(request->expected - request->headed),
        .done = transferred,
        .mover = mover,
    };
    request->pending.push = push_get;
    tern_pending_get(request->peer, &request->pending);
}

/* Returns the byte mover that copies from the sender's memory to our buffer; NULL: none can. */
static const struct tern_btl *find_mover(const struct tern_pml_request *request,
                                         const struct tern_peer *from, bool of_device)
{
    if (of_device)
        return from->device_bulk;
    bool reaches = !request->cursor.memory || (from->bulk && from->bulk->devices_too);
    return reaches ? from->bulk : NULL;
}

/* Notes the `length` bytes that came with the announcement. take_head copies them. Those for device
 * memory are asked for again. */
static void keep_head(struct tern_pml_request *request, const void *bytes, size_t length)
{
    if (length > (uint64_t)request->expected)
        length = (size_t)request->expected;
    request->headed = request->cursor.memory ? 0 : (int64_t)length;
    if (!request->headed)
        return;
    request->req.lane->head = (struct tern_head){.request = request, .bytes = bytes};
    tern_cursor_seek(&request->cursor, request->headed);
}

/* Receives an announced message, of which `head` bytes have come: copies from the sender's memory
 * if possible, and asks for DATA packets for the rest. */
static void take_announced(struct tern_pml_request *request, struct tern_peer *from,
                           const struct tern_rendezvous *rendezvous, uint8_t flags,
                           const void *bytes, size_t head)
{
    const struct tern_btl *mover;
    struct tern_lane *lane = request->req.lane;
    int64_t length = (int64_t)rendezvous->length;
    request->peer = from;
    request->sender_id = rendezvous->id;
    request->message_length = length;
    request->expected = length < request->length ? length : request->length;
    tern_pml_request_rewind(request);
    keep_head(request, bytes, head);
    tern_lane_note_busy(lane); /* the peer may be about to look, for a message of ours */
    if (TERN_UNLIKELY(from->lost != NULL))
        end_lost(request);
    else if (request->headed == request->expected)
        end_announced(request, 0);
    else if (rendezvous->address && tern_peer_ready(from) == 0 &&
             (mover = find_mover(request, from, flags & TERN_PACKET_OF_DEVICE)))
        start_transfer(request, rendezvous, mover);
    else {
        if (flags & TERN_PACKET_UNREADABLE && tern_peer_ready(from) == 0)
            expose(request);
        ask_for_data(request);
    }
    /* a transfer that goes on: `bytes` is valid during this call only */
    if (TERN_UNLIKELY(lane->head.request != NULL))
        take_head(lane->head.request);
}

/* Does everything for an eager message except copying its bytes. */
static inline void heed_eager(struct tern_pml_request *request, struct tern_peer *from,
                              const struct tern_packet *packet, size_t length)
{
    set_status(&request->req.status, packet, length);
    tern_count(&from->traffic.received_messages, 1);
    tern_count(&from->traffic.received_bytes, length);
    tern_credit_return(from, packet, length);
    if (packet->kind == TERN_PACKET_EAGER_SYNC)
        reply_to(from, TERN_PACKET_MATCHED, packet->id, length);
}

void tern_recv_drop(struct tern_peer *from, const struct tern_packet *packet, size_t length)
{
    tern_credit_return(from, packet, length);
    if (packet->kind == TERN_PACKET_EAGER_SYNC)
        reply_to(from, TERN_PACKET_MATCHED, packet->id, length);
}

static int say_dropped(const struct tern_packet *packet, uint64_t length)
{
    return tern_error(TERN_ERR_NO_MEM,
                      "a message of %lu bytes from rank %d with tag %d came before its receive, "
                      "and there was no memory to keep it: "
                      "post receives earlier, or lower pml_eager_credit",
                      (unsigned long)length, packet->source, packet->tag);
}

static __attribute__((noinline)) void begin_announced(struct tern_pml_request *request,
                                                      struct tern_peer *from,
                                                      const struct tern_packet *packet,
                                                      const void *payload, size_t length)
{
    struct tern_rendezvous rendezvous;
    size_t head = length - sizeof rendezvous;
    memcpy(&rendezvous, (const char *)payload + head, sizeof rendezvous);
    if (!rendezvous.id) {
        int rc =
            rendezvous.length
                ? say_dropped(packet, rendezvous.length)
                : tern_error(
                      TERN_ERR_UNREACHABLE,
                      "rank %d of the communicator failed in this collective; its own error "
                      "message gives the reason",
                      packet->source);
        tern_request_complete(&request->req, rc);
        return;
    }
    if (rendezvous.length > INT64_MAX) /* damaged packet: treated as longer than any receive */
        rendezvous.length = INT64_MAX;
    set_status(&request->req.status, packet, rendezvous.length);
    tern_count(&from->traffic.received_messages, 1);
    tern_count(&from->traffic.received_bytes, rendezvous.length);
    take_announced(request, from, &rendezvous, packet->flags, payload, head);
}

void tern_recv_begin(struct tern_pml_request *request, struct tern_peer *from,
                     const struct tern_packet *packet, const void *payload, size_t length)
{
    if (packet->kind == TERN_PACKET_RENDEZVOUS) {
        begin_announced(request, from, packet, payload, length);
        return;
    }
    heed_eager(request, from, packet, length);
    take_eager(request, payload, length);
}

/* Returns the receive that waits for these bytes; NULL if there is none. */
static struct tern_pml_request *find_receiver(const struct tern_packet *packet, size_t length)
{
    struct tern_pml_request *request = tern_number_find(packet->id);
    if (!request || request->req.kind != &tern_pml_recv_kind)
        return NULL;
    uint64_t expected = (uint64_t)request->expected, offset = packet->context;
    return length <= expected && offset <= expected - length ? request : NULL;
}

static void have_arrived(struct tern_pml_request *request, size_t length)
{
    request->arrived += (int64_t)length;
    if (request->arrived < request->expected)
        return;
    tern_recv_conceal(request);
    if (TERN_UNLIKELY(request->cursor.stage != NULL))
        tern_cursor_settle(&request->cursor);
    if (TERN_UNLIKELY(request->cursor.error)) {
        tern_number_take_back(request);
        end_failed(request, request->cursor.error);
    } else {
        finish(request, request->message_length);
    }
}

static void take_data(struct tern_pml_request *request, int64_t offset, const void *payload,
                      size_t length)
{
    void *start;
    tern_lane_note_busy(request->req.lane);
    tern_cursor_seek(&request->cursor, offset);
    if (request->expected >= TERN_COPY_PAGES_LEAST && tern_pml_request_run(request, &start)) {
        tern_copy_pages((char *)start + offset, payload, length);
        tern_cursor_seek(&request->cursor, offset + (int64_t)length);
    } else {
        tern_cursor_unpack(&request->cursor, payload, length);
    }
}

void tern_recv_data(const struct tern_packet *packet, const void *payload, size_t length)
{
    struct tern_pml_request *request = find_receiver(packet, length);
    if (!request)
        return;
    take_data(request, (int64_t)packet->context, payload, length);
    have_arrived(request, length);
}

void tern_recv_written(const struct tern_reply *reply)
{
    struct tern_pml_request *request = tern_number_find(reply->id);
    if (!request || request->req.kind != &tern_pml_recv_kind || !request->exposed)
        return;
    tern_count(&request->req.lane->counters.pulled_bytes, (uint64_t)request->expected);
    have_arrived(request, (size_t)(request->expected - request->arrived));
}

void *tern_recv_place_data(struct tern_peer *from, const struct tern_packet *packet, size_t length,
                           struct tern_cursor *ret_to)
{
    if (tern_number_lane(packet->id) != from->lane) /* belongs to another lane */
        return NULL;
    struct tern_pml_request *request = find_receiver(packet, length);
    if (!request || request->cursor.memory)
        return NULL;
    *ret_to = request->cursor;
    tern_cursor_seek(ret_to, (int64_t)packet->context);
    return request;
}

void tern_recv_place_message(struct tern_pml_request *request, struct tern_cursor *ret_to)
{
    tern_cursor_init_in(ret_to, request->type, request->buf, request->count, request->memory);
}

void tern_recv_placed(struct tern_peer *from, const struct tern_packet *packet, size_t length,
                      struct tern_pml_request *request)
{
    if (packet->kind == TERN_PACKET_DATA) {
        have_arrived(request, length);
    } else {
        heed_eager(request, from, packet, length);
        finish(request, (int64_t)length);
    }
}

/* Lets the request receive a message that was taken out of its queue, and frees the message. */
static void receive_message(struct tern_pml_request *request, struct tern_unexpected *message)
{
    tern_recv_begin(request, message->from, &message->packet, message->payload, message->length);
    tern_unexpected_free(message);
}

/* Starts a receive when its message may have arrived already, or may never arrive: some peer is
 * lost, or may be without being known. */
static __attribute__((noinline)) void start_slowly(struct tern_pml_request *request)
{
    struct tern_unexpected *message =
        tern_match_unexpected(request->context, request->rank, request->tag);
    if (message) {
        tern_match_remove(message);
        receive_message(request, message);
        return;
    }
    tern_pml_call_source(request->context, request->rank);
    int rc = tern_pml_check_source(request->context, request->rank);
    if (rc) {
        if (request->rank != MPI_ANY_SOURCE)
            request->peer = tern_context_known_peer(request->context, request->rank);
        tern_request_complete(&request->req, rc);
    } else {
        tern_match_post(request);
    }
}

static inline void start(struct tern_pml_request *request)
{
    const struct tern_lane *lane = request->context->lane;
    if (TERN_UNLIKELY(lane->unexpected.items || lane->careful))
        start_slowly(request);
    else
        tern_match_post(request);
}

int tern_pml_recv(struct tern_context *context, void *buf, int64_t count,
                  const struct tern_type *type, int source, int tag, MPI_Status *status)
{
    struct tern_pml_request request;
    tern_lane_lock(context->lane);
    tern_pml_request_set(&request, &tern_pml_recv_kind, context, buf, count, type, source, tag);
    start(&request);
    tern_request_wait_in(&request.req, "MPI_Recv");
    tern_lane_unlock(context->lane);
    if (TERN_UNLIKELY(request.req.error == TERN_ERR_UNREACHABLE))
        tern_pml_explain(&request.req);
    if (status != MPI_STATUS_IGNORE) {
        /* MPI-4.1 section 3.2.5: only calls that return several statuses set MPI_ERROR */
        int kept =
            status->MPI_ERROR;
        *status = request.req.status;
        status->MPI_ERROR = kept;
    }
    return request.req.error;
}

void tern_request_wait_in_run(struct tern_request *request, void *run)
{
    if (request->complete)
        return;
    struct tern_doubter doubter = {
        .waiter = {.lane = request->lane, .doubts = true, .request = request}, .run = run};
    do
        tern_wait(&doubter.waiter);
    while (!request->complete);
}

int tern_pml_recv_in_run(struct tern_context *context, void *buf, int64_t count,
                         const struct tern_type *type, int source, int tag, void *run,
                         int64_t *ret_bytes)
{
    struct tern_pml_request request;
    tern_lane_lock(context->lane);
    tern_pml_request_set(&request, &tern_pml_recv_kind, context, buf, count, type, source, tag);
    start(&request);
    tern_request_wait_in_run(&request.req, run);
    tern_lane_unlock(context->lane);
    if (TERN_UNLIKELY(request.req.error == TERN_ERR_UNREACHABLE))
        tern_pml_explain(&request.req);
    *ret_bytes = (int64_t)request.req.status._ucount;
    return request.req.error;
}

bool tern_pml_find_alike(struct tern_context *context, int tag, int bits, int *ret_source,
                         int *ret_tag)
{
    const struct tern_unexpected *message = tern_match_alike(context, tag, bits);
    if (!message)
        return false;
    *ret_source = message->packet.source;
    *ret_tag = message->packet.tag;
    return true;
}

int tern_pml_irecv(struct tern_context *context, void *buf, int64_t count,
                   const struct tern_type *type, int source, int tag,
                   struct tern_request **ret_request)
{
    tern_lane_lock(context->lane);
    struct tern_pml_request *request =
        tern_pml_request_new(&tern_pml_recv_kind, context, buf, count, type, source, tag);
    if (request)
        start(request);
    tern_lane_unlock(context->lane);
    if (!request)
        return TERN_ERR_NO_MEM;
    *ret_request = &request->req;
    return 0;
}

int tern_pml_recv_init(struct tern_context *context, void *buf, int64_t count,
                       const struct tern_type *type, int source, int tag,
                       struct tern_request **ret_request)
{
    tern_lane_lock(context->lane);
    struct tern_pml_request *request =
        tern_pml_request_new(&tern_pml_recv_kind, context, buf, count, type, source, tag);
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
    request->memory =
        tern_type_memory_of(request->type, request->buf, request->count, &request->place);
    tern_request_restart(req);
    start(request);
    tern_lane_unlock(req->lane);
    return 0;
}

static int cancel(struct tern_request *req)
{
    struct tern_pml_request *request = tern_pml_request_of(req);
    struct tern_lane *lane = req->lane;
    tern_lane_lock(lane);
    if (!req->complete && request->posted) { /* else a message is being copied into the buffer */
        tern_match_withdraw(request);
        req->status._cancelled = 1;
        tern_request_complete(req, 0);
    }
    tern_lane_unlock(lane);
    return 0;
}

const struct tern_request_kind tern_pml_recv_kind = {
    .name = "recv",
    .start = restart,
    .cancel = cancel,
    .release = tern_pml_request_release,
    .explain = tern_pml_explain,
    .receives = true,
};

static struct tern_unexpected *look(struct tern_context *context, int source, int tag,
                                    MPI_Status *status)
{
    struct tern_unexpected *message = tern_match_unexpected(context, source, tag);
    if (message && status != MPI_STATUS_IGNORE)
        set_status(status, &message->packet, tern_unexpected_bytes(message));
    return message;
}

static struct tern_unexpected *probe(struct tern_context *context, int source, int tag,
                                     MPI_Status *status)
{
    struct tern_unexpected *message = look(context, source, tag, status);
    if (!message) {
        tern_lane_poll(context->lane);
        message = look(context, source, tag, status);
    }
    return message;
}

bool tern_pml_take(struct tern_context *context, int source, int tag,
                   struct tern_unexpected **ret_message, MPI_Status *ret_status)
{
    struct tern_unexpected *message = look(context, source, tag, ret_status);
    if (!message)
        return false;
    tern_match_remove(message);
    *ret_message = message;
    return true;
}

uint64_t tern_pml_unreceived(struct tern_context *context, MPI_Status *ret_status)
{
    struct tern_unexpected *first;
    tern_lane_lock(context->lane);
    uint64_t count = tern_match_count(context, &first);
    if (first)
        set_status(ret_status, &first->packet, tern_unexpected_bytes(first));
    tern_lane_unlock(context->lane);
    return count;
}

/* Returns an error if the message that a probe has not found cannot come. */
static int check_source(struct tern_context *context, int source)
{
    if (context->lane->careful)
        tern_pml_call_source(context, source);
    return tern_pml_check_source(context, source);
}

int tern_pml_iprobe(struct tern_context *context, int source, int tag, bool *ret_found,
                    MPI_Status *ret_status)
{
    tern_lane_lock(context->lane);
    *ret_found = probe(context, source, tag, ret_status);
    int rc = *ret_found ? 0 : check_source(context, source);
    tern_lane_unlock(context->lane);
    return rc;
}

int tern_pml_improbe(struct tern_context *context, int source, int tag,
                     struct tern_unexpected **ret_message, MPI_Status *ret_status)
{
    tern_lane_lock(context->lane);
    struct tern_unexpected *message = probe(context, source, tag, ret_status);
    if (message)
        tern_match_remove(message);
    int rc = message ? 0 : check_source(context, source);
    tern_lane_unlock(context->lane);
    *ret_message = message;
    return rc;
}

int tern_pml_imrecv(struct tern_unexpected *message, void *buf, int64_t count,
                    const struct tern_type *type, struct tern_request **ret_request)
{
    struct tern_lane *lane = message->context->lane;
    tern_lane_lock(lane);
    struct tern_pml_request *request =
        tern_pml_request_new(&tern_pml_recv_kind, message->context, buf, count, type,
                             message->packet.source, message->packet.tag);
    if (request)
        receive_message(request, message);
    tern_lane_unlock(lane);
    if (!request)
        return TERN_ERR_NO_MEM;
    *ret_request = &request->req;
    return 0;
}
