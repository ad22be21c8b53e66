/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_PML_REQUEST_H
#define TERN_PML_REQUEST_H

/* Sends and receives in flight, and what the files of lib/pml share. No file outside lib/pml
 * includes this header. */

#include "lib/btl/btl.h"
#include "lib/btl/peer.h"
#include "lib/pml/lane.h"
#include "lib/pml/pml.h"
#include "lib/util/base/atomic.h"
#include "lib/util/base/error.h"
#include "lib/util/base/list.h"

/* Something for which the byte mover of a peer had no room: a packet, or a transfer. */
struct tern_pending {
    struct tern_list_node link;
    /* Tries again. Returns 0 if done (the record may be freed already), or TERN_ERR_AGAIN if the
     * byte mover has no room yet. */
    int (*push)(struct tern_pending *pending);
};

/* The request of a send or receive. The members that every message uses come first, in four cache
 * lines, because hundreds of receives may be in flight. */
struct tern_pml_request {
    struct tern_request req;
    struct tern_context *context;
    const struct tern_type *type;
    void *buf;
    int64_t count;
    int64_t length;    /* send: bytes of the message; receive: bytes that fit into the buffer */
    int rank, tag;     /* send: destination; receive: source, maybe a wildcard */
    struct tern_list_node link;  /* receive: link in a queue of the posted table */
    uint64_t stamp;         /* receive: order of posting */
    uint32_t number;        /* number by which packets name the request (request_id.c); 0: none */
    bool posted;            /* receive: is posted and not matched, so it can be cancelled */
    bool cancelling;        /* send: the receiver has been asked to give the message up */
    bool offered;           /* send: counted in peer->offered */
    bool announced;         /* send: the first packet was sent, and an answer is expected */
    bool registered;        /* send: the byte mover has registered the buffer */
    bool unreadable;        /* send: the byte mover could not register the buffer */
    bool writing;           /* send: a byte mover copies it into the receiver's memory */
    bool exposed;           /* receive: the sender may write into the buffer */
    /* enum tern_type_memory of the buffer, found when the request starts; `place` says more */
    uint8_t memory;
    /* send: destination; receive: the sender of an announced message, or a lost peer; NULL: not
     * known yet */
    struct tern_peer *peer;

    struct tern_accel_place place; /* of a buffer of TERN_TYPE_DEVICE */
    /* position in the buffer, for DATA packets and for typed eager messages */
    struct tern_cursor cursor;
    struct tern_pending pending;
    union {
        struct tern_stream stream;     /* send: for byte movers that stream */
        struct tern_transfer transfer; /* copies an announced message */
        struct tern_exposure exposure; /* receive: if `exposed` */
    };

    /* sends only */
    enum tern_send_mode mode;
    struct tern_registration registration; /* valid if `registered` */
    const struct tern_btl *registrar;      /* likewise: the byte mover that has registered it */
    uint32_t remote_number; /* number of the receiver's request, valid after the answer CLEAR */
    uint32_t head; /* bytes that went with the announcement */
    /* header of the first packet: the context may be closed before that packet is sent */
    struct tern_packet header;

    /* receives only */
    uint64_t sender_id; /* number of the sender's request, for the answer to its announcement */
    /* bytes that are wanted of an announced message, bytes that have arrived, and bytes that came
     * with the announcement */
    int64_t expected, arrived, headed;
    /* bytes of the whole message, which may be longer than the buffer */
    int64_t message_length;
};

/* Returns the request of point to point that embeds `request`. */
static inline struct tern_pml_request *tern_pml_request_of(struct tern_request *request)
{
    return (struct tern_pml_request *)request; /* req is the first member */
}

/* An eager message costs the receiver its bytes and about TERN_MESSAGE_COST bytes more. */
enum { TERN_MESSAGE_COST = 96 };

/* The kinds of sends and receives. */
extern TERN_OURS const struct tern_request_kind tern_pml_send_kind, tern_pml_recv_kind;

/* Sets all members but those that only one kind has, which the caller sets. A request that is not
 * from the pool has no handle. */
static inline void tern_pml_request_set(struct tern_pml_request *request,
                                        const struct tern_request_kind *kind,
                                        struct tern_context *context, const void *buf,
                                        int64_t count, const struct tern_type *type, int rank,
                                        int tag)
{
    tern_request_set(&request->req, kind, context->comm, context->lane);
    request->context = context;
    request->type = type;
    request->buf = (void *)buf;
    request->count = count;
    request->length = count * type->size;
    request->rank = rank;
    request->tag = tag;
    request->number = 0;
    request->posted = request->cancelling = request->announced = request->registered = false;
    request->offered = request->unreadable = request->writing = request->exposed = false;
    request->memory = tern_type_memory_of(type, buf, count, &request->place);
    request->peer = NULL;
}

/* Returns true if the buffer is one run that the processor may touch; then sets *ret_start. */
static inline bool tern_pml_request_run(const struct tern_pml_request *request, void **ret_start)
{
    return !request->memory &&
           tern_type_one_run(request->type, request->buf, request->count, ret_start);
}

/* Sets the request's cursor to the beginning of its buffer. */
static inline void tern_pml_request_rewind(struct tern_pml_request *request)
{
    tern_cursor_init_in(&request->cursor, request->type, request->buf, request->count,
                        request->memory);
    if (TERN_UNLIKELY(request->memory == TERN_TYPE_DEVICE))
        request->cursor.place = &request->place;
}

/* Allocates a request, which goes to the pool when released. Returns NULL if there is no memory. */
struct tern_pml_request *tern_pml_request_make(void);

/* Takes a request from the pool, or allocates one, and sets it. Returns NULL if there is no memory.
 * Call with the lane's lock held. */
static inline struct tern_pml_request *tern_pml_request_new(const struct tern_request_kind *kind,
                                                            struct tern_context *context,
                                                            const void *buf, int64_t count,
                                                            const struct tern_type *type, int rank,
                                                            int tag)
{
    struct tern_lane *lane = context->lane;
    struct tern_pml_request *request = lane->pool;
    if (TERN_LIKELY(request != NULL))
        lane->pool = request->req.comm;
    else if (!(request = tern_pml_request_make()))
        return NULL;
    request->req.obj.own.magic = TERN_MAGIC_REQUEST;
    tern_pml_request_set(request, kind, context, buf, count, type, rank, tag);
    return request;
}
/* Returns the request to the pool. Takes the lane's lock. */
void tern_pml_request_release(struct tern_request *request);

/* request_id.c: packets name requests by a small number, never by an address. 0 is no number. The
 * lowest bits are the request's lane. */
enum { TERN_NUMBER_LANE_BITS = 3 };
static inline uint32_t tern_number_lane(uint64_t number)
{
    return number & (TERN_LANES_MAX - 1);
}
/* Sets request->number if there is none. Returns 0 or TERN_ERR_NO_MEM. */
int tern_number_give(struct tern_pml_request *request);
/* Frees the request's number, if there is one. */
void tern_number_take_back(struct tern_pml_request *request);
/* Returns the request with that number, or NULL. */
struct tern_pml_request *tern_number_find(uint64_t number);

/* pending.c */
/* Reads the parameters of credit. */
void tern_pending_init(void);
/* Appends `pending` to the packets that wait to be sent to the peer. */
void tern_pending_append(struct tern_peer *peer, struct tern_pending *pending);
/* Starts a transfer from the peer: calls pending->push, now or when the byte mover has room.
 * Packets to the peer do not wait for transfers. */
void tern_pending_get(struct tern_peer *peer, struct tern_pending *pending);
bool tern_pending_empty(void); /* Returns true if nothing waits in any lane. */
/* Tries again all that waits in the lane. Returns how many items were done. */
int tern_pending_flush(struct tern_lane *lane);
/* Connects to the peer on first use and sets its first credit. Returns 0, TERN_ERR_NO_MEM, or
 * TERN_ERR_UNREACHABLE with text. */
int tern_peer_ready(struct tern_peer *peer);
/* Returns true if a message may go to the peer at once: the peer is connected, has credit, and
 * nothing is queued for it. */
static inline bool tern_peer_is_free(const struct tern_peer *peer)
{
    return peer->btl && !peer->lost && tern_list_empty(&peer->pending) && peer->credit > 0;
}
/* Computes peer->eager_below and blocking_below again. Call when the credit, the queue or the state
 * of the peer has changed. */
void tern_peer_update(struct tern_peer *peer);
/* Sends a control packet, now or after what waits for the peer. Ends the process if the packet
 * cannot be sent nor kept. */
void tern_control_send(struct tern_peer *peer, const struct tern_packet *packet,
                       const void *payload, size_t length);
/* Gives its sender the credit for an eager message that has left our memory. Credit is collected
 * first, and sent back soon (pending.c). */
enum { TERN_CREDIT_LENT = 1 }; /* in a packet's flags: the sender has the credit back already */
void tern_credit_settle(struct tern_peer *peer, const struct tern_packet *packet, size_t length);
/* most bytes of credit owed to a peer, per lane, before they are sent back */
extern TERN_OURS int64_t tern_credit_owed_most;
static inline void tern_credit_return(struct tern_peer *peer, const struct tern_packet *packet,
                                      size_t length)
{
    int64_t *owed = &peer->owed[packet->context >> 1 & (TERN_LANES_MAX - 1)];
    int64_t bytes = *owed + (int64_t)length + TERN_MESSAGE_COST;
    if (TERN_UNLIKELY(packet->flags & TERN_CREDIT_LENT || bytes >= tern_credit_owed_most))
        tern_credit_settle(peer, packet, length);
    else
        *owed = bytes;
}
/* Gives its sender the credit for an unexpected message that stays in our memory, if
 * pml_unexpected_memory permits. Then sets TERN_CREDIT_LENT in the packet. */
void tern_credit_lend(struct tern_peer *peer, struct tern_packet *packet, size_t length);

/* send.c. Starts a send; returns 0 or TERN_ERR_*. */
int tern_send_start(struct tern_pml_request *request);
/* Deregisters the message's memory, if it is registered: the receiver no longer gets it. */
void tern_send_deregister(struct tern_pml_request *request);
/* Ends a send. */
void tern_send_finish(struct tern_pml_request *request, int error);

/* send_answers.c. What the receiver answers: the message was matched, was copied from our memory,
 * may be sent as DATA packets, may be written into the receiver's memory, or was given up (or
 * not). */
void tern_send_matched(const struct tern_reply *reply);
void tern_send_pulled(const struct tern_reply *reply);
void tern_send_clear(const struct tern_reply *reply);
void tern_send_clear_into(const struct tern_clear_into *into);
void tern_send_cancelled(const struct tern_reply *reply);

/* recv.c. tern_recv_begin receives a matched message. tern_recv_data takes the bytes of a DATA
 * packet. */
void tern_recv_begin(struct tern_pml_request *request, struct tern_peer *from,
                     const struct tern_packet *packet, const void *payload, size_t length);
void tern_recv_data(const struct tern_packet *packet, const void *payload, size_t length);
/* Handles WRITTEN: completes the receive whose bytes its sender has written. */
void tern_recv_written(const struct tern_reply *reply);
/* Ends the sender's right to write into the buffer, if there is one. */
void tern_recv_conceal(struct tern_pml_request *request);
/* Answers the sender of an eager message whose bytes could not be kept, as if the message had been
 * received. */
void tern_recv_drop(struct tern_peer *from, const struct tern_packet *packet, size_t length);
/* For tern_btl_place and tern_btl_placed. The first two set *ret_to to the place of the bytes in
 * the receive's buffer: for a DATA packet, and for a message that was just matched.
 * tern_recv_place_data returns the request, or NULL if there is none. tern_recv_placed is called
 * when the bytes are in place. */
void *tern_recv_place_data(struct tern_peer *from, const struct tern_packet *packet, size_t length,
                           struct tern_cursor *ret_to);
void tern_recv_place_message(struct tern_pml_request *request, struct tern_cursor *ret_to);
void tern_recv_placed(struct tern_peer *from, const struct tern_packet *packet, size_t length,
                      struct tern_pml_request *request);

/* mailbox.c. tern_mailbox_opens delivers a packet in its lane; set by tern_pml_init.
 * tern_mailbox_deliver does the same for packets that may belong to another lane than the one they
 * arrive in. tern_mailbox_empty delivers the packets in the lane's mailbox; returns how many. */
extern bool (*tern_mailbox_opens)(struct tern_peer *from, const struct tern_packet *packet,
                                  const void *payload, size_t length);
bool tern_mailbox_deliver(struct tern_peer *from, const struct tern_packet *packet,
                          const void *payload, size_t length);
int tern_mailbox_empty(struct tern_lane *lane);

/* deliver.c. Delivers a packet that has arrived from `from`. Returns false if no posted receive is
 * left in the lane, so that the byte mover may stop its round. */
bool tern_pml_deliver(struct tern_peer *from, const struct tern_packet *packet, const void *payload,
                      size_t length);
/* Functions behind tern_btl_place and tern_btl_placed: find where the bytes of a packet go, and
 * complete the packet when the byte mover has put the bytes there. */
void *tern_pml_place(struct tern_peer *from, const struct tern_packet *packet, size_t length,
                     struct tern_cursor *ret_to);
void tern_pml_placed(struct tern_peer *from, const struct tern_packet *packet, size_t length,
                     void *owner);
/* Delivers the early messages of a context that has just been opened. */
void tern_deliver_early(struct tern_context *context);
/* Drops all unreceived messages of a context that is being closed. */
void tern_deliver_forget(struct tern_context *context);

/* progress.c. Asks anew which ranks share this rank's processors, because it may have changed. */
void tern_wait_look_anew(void);

/* Looks the context up in the hash table. Returns NULL if there is none. */
struct tern_context *tern_context_search(struct tern_lane *lane, uint64_t id);
/* Returns the open context with that id, or NULL if it is not open here. */
static inline struct tern_context *tern_context_find(struct tern_lane *lane, uint64_t id)
{
    struct tern_context *latest = lane->latest;
    return TERN_LIKELY(latest && latest->id == id) ? latest : tern_context_search(lane, id);
}

/* far_sources.c. Called when a receive or probe begins to wait: connects to its source if that is
 * of another job. `source` may be MPI_ANY_SOURCE. Call with the lane's lock held. */
void tern_pml_call_source(struct tern_context *context, int source);
/* Ends all calls, before this process leaves MPI. */
void tern_pml_call_nobody(void);

/* peer_lost.c. Behind tern_btl_lost: ends with an error all requests that need `peer`, for the
 * reason `text`. `owner`: a receive that the byte mover was filling, or NULL. */
void tern_pml_lost(struct tern_peer *peer, void *owner, const char *text);
/* Records the error text of a request that ended with TERN_ERR_UNREACHABLE, for this thread: the
 * text may have been recorded for another thread. */
void tern_pml_explain(struct tern_request *request);

/* progress.c. Makes one round of the lane's progress. Returns the number of events. Call with the
 * lane's lock held. */
int tern_lane_progress(struct tern_lane *lane);

#endif
