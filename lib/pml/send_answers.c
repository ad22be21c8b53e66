/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * What a sender does when the receiver of an announced message answers: the send ends (MATCHED,
 * PULLED, a cancelled send), the bytes go in DATA packets (CLEAR), or the byte mover writes them
 * into the receiver's memory (CLEAR_INTO, answered by WRITTEN). send.c has the way up to there.
 */

#include "lib/pml/pml_request.h"

enum {
    PIECE_MIN = 8192,
    WITHOUT_HEAD = 16, /* announcements without a head after one whose head was of no use */
};

/* Returns the send that an answer names. Returns NULL if no send waits for an answer with that
 * number (any more), or the answer is wrong. */
static struct tern_pml_request *answered(const struct tern_reply *reply)
{
    struct tern_pml_request *request = tern_number_find(reply->id);
    bool waits = request && request->req.kind == &tern_pml_send_kind && request->announced;
    return waits ? request : NULL;
}

void tern_send_matched(const struct tern_reply *reply)
{
    struct tern_pml_request *request = answered(reply);
    if (request)
        tern_send_finish(request, 0);
}

/* Learns from an answer whether the receiver has used the bytes that went with the announcement. It
 * drops those of a message that came before its receive. */
static void note_head(const struct tern_pml_request *request, const struct tern_reply *reply)
{
    if (TERN_UNLIKELY(reply->offset < request->head))
        request->peer->without_head = WITHOUT_HEAD;
}

void tern_send_pulled(const struct tern_reply *reply)
{
    struct tern_pml_request *request = answered(reply);
    if (!request)
        return;
    note_head(request, reply);
    tern_send_finish(request, 0);
}

/* Returns the send whose receiver wants bytes, with its cursor before them; NULL if there is none.
 */
static struct tern_pml_request *begin_clear(const struct tern_reply *reply)
{
    struct tern_pml_request *request = answered(reply);
    if (!request)
        return NULL;
    tern_pml_request_rewind(request);
    if (reply->length < (uint64_t)request->cursor.length)
        request->cursor.length = (int64_t)reply->length; /* the receiver takes no more bytes */
    if (reply->offset >= (uint64_t)request->cursor.length)
        return NULL; /* damaged packet: no bytes would be left to send */
    note_head(request, reply);
    request->announced = false;
    tern_send_deregister(request); /* the receiver gets nothing any more */
    request->remote_number = reply->remote_id;
    tern_cursor_seek(&request->cursor, (int64_t)reply->offset);
    return request;
}

/* Returns the bytes of a DATA packet. The receiver copies one packet while we make the next, so a
 * short message is sent in several. */
static size_t data_piece(const struct tern_pml_request *request)
{
    size_t most = request->peer->limits.packet_max, quarter = (size_t)request->cursor.length / 4;
    return quarter >= most ? most : quarter < PIECE_MIN ? PIECE_MIN : quarter & -PIECE_MIN;
}

/* Sends DATA packets until the message has been sent or there is no room. */
static int push_data(struct tern_pending *pending)
{
    struct tern_pml_request *request = TERN_CONTAINER(pending, struct tern_pml_request, pending);
    struct tern_peer *peer = request->peer;
    struct tern_packet packet = {.kind = TERN_PACKET_DATA, .id = request->remote_number};
    size_t piece = data_piece(request);
    while (request->cursor.offset < request->cursor.length) {
        size_t left = request->cursor.length - request->cursor.offset;
        packet.context = (uint64_t)request->cursor.offset;
        tern_lane_note_busy(request->req.lane);
        int rc =
            peer->btl->send_cursor(peer, &packet, &request->cursor, left < piece ? left : piece);
        if (rc == TERN_ERR_NO_MEM && piece > 256)
            piece /= 2; /* a node that is short of memory: the ring stays small */
        else if (rc == TERN_ERR_AGAIN)
            return rc;
        else if (rc) {
            tern_send_finish(request, rc);
            return 0;
        }
    }
    tern_send_finish(request, request->cursor.error);
    return 0;
}

static void streamed(struct tern_stream *stream)
{
    tern_send_finish(TERN_CONTAINER(stream, struct tern_pml_request, stream), stream->cursor.error);
}

static void start_stream(struct tern_pml_request *request)
{
    request->stream = (struct tern_stream){
        .packet = {.kind = TERN_PACKET_DATA, .id = request->remote_number},
        .cursor = request->cursor,
        .done = streamed,
    };
    request->peer->btl->stream(request->peer, &request->stream);
}

/* Sends the bytes from the cursor on. */
static void send_data(struct tern_pml_request *request)
{
    tern_cursor_stage(&request->cursor);
    if (request->peer->btl->stream) {
        start_stream(request);
        return;
    }
    request->pending.push = push_data;
    if (!tern_list_empty(&request->peer->pending) || push_data(&request->pending) == TERN_ERR_AGAIN)
        tern_pending_append(request->peer, &request->pending);
}

void tern_send_clear(const struct tern_reply *reply)
{
    struct tern_pml_request *request = begin_clear(reply);
    if (request)
        send_data(request);
}

/* Called when the byte mover does not write into the receiver's memory any more. */
static void written(struct tern_transfer *transfer, int error)
{
    struct tern_pml_request *request = TERN_CONTAINER(transfer, struct tern_pml_request, transfer);
    struct tern_peer *peer = request->peer;
    struct tern_reply reply = {.id = request->remote_number};
    request->writing = false;
    if (TERN_UNLIKELY(peer->lost != NULL)) {
        tern_send_finish(request, tern_peer_ready(peer));
    } else if (error != TERN_ERR_UNSUPPORTED) {
        tern_control_send(peer, &(struct tern_packet){.kind = TERN_PACKET_WRITTEN}, &reply,
                          sizeof reply);
        tern_send_finish(request, error);
    } else if (tern_number_give(request)) {
        tern_send_finish(request, TERN_ERR_NO_MEM);
    } else {
        send_data(request);
    }
}

static int push_put(struct tern_pending *pending)
{
    struct tern_pml_request *request = TERN_CONTAINER(pending, struct tern_pml_request, pending);
    if (TERN_LIKELY(!request->peer->lost))
        return request->peer->bulk->put(&request->transfer);
    written(&request->transfer, TERN_ERR_UNREACHABLE);
    return 0;
}

void tern_send_clear_into(const struct tern_clear_into *into)
{
    struct tern_pml_request *request = begin_clear(&into->reply);
    if (!request)
        return;
    struct tern_peer *peer = request->peer;
    if (request->memory || !peer->bulk || !peer->bulk->put) {
        send_data(request);
        return;
    }
    /* if the peer is lost, the request ends when nothing reads its buffer any more */
    tern_number_take_back(request);
    request->writing = true;
    request->transfer = (struct tern_transfer){
        .peer = peer,
        .address = into->address,
        .key = into->key,
        .by_lane = into->by_lane,
        .cursor = request->cursor,
        .length = (size_t)request->cursor.length,
        .done = written,
    };
    request->pending.push = push_put;
    tern_pending_get(peer, &request->pending);
}

void tern_send_cancelled(const struct tern_reply *reply)
{
    struct tern_pml_request *request = answered(reply);
    if (!request || !reply->length)
        return; /* too late: the send completes as without the cancel */
    request->req.status._cancelled = 1;
    tern_send_finish(request, 0);
}
