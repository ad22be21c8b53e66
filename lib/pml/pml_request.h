/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_PML_REQUEST_H
#define TERN_PML_REQUEST_H

/* Sends and receives in flight, and what the files of lib/pml share. Nothing outside lib/pml
 * includes this. */

#include "lib/btl/btl.h"
#include "lib/btl/peer.h"
#include "lib/pml/lane.h"
#include "lib/pml/pml.h"
#include "lib/util/atomic.h"
#include "lib/util/error.h"
#include "lib/util/list.h"

/* Something that must go to a peer, in its turn. */
struct tern_pending {
    struct tern_list_node link;
    /* 0: gone (the record may be freed already); TERN_ERR_AGAIN: not yet */
    int (*push)(struct tern_pending *pending);
};

/* What every message touches comes first, in four lines of cache, for hundreds of receives may be
 * under way. */
struct tern_pml_request {
    struct tern_request req;
    struct tern_context *context;
    const struct tern_type *type;
    void *buf;
    int64_t count;
    int64_t length;    /* send: bytes of the message; receive: bytes that fit */
    int rank, tag;     /* destination, or source as asked for */
    struct tern_list_node link;  /* receives: in a queue of the posted table */
    uint64_t stamp;         /* receives: order of posting */
    uint32_t number;        /* in the table of numbers, 0: none */
    bool posted;            /* receives: in the table: can be cancelled */
    bool cancelling;        /* sends */
    bool announced;         /* sends: its first packet has gone, and an answer to it is to come */
    struct tern_peer *peer; /* whom a send goes to; of whom a receive awaits DATA */

    struct tern_cursor cursor; /* of DATA packets and typed eager ones */

    /* sends */
    struct tern_stream stream; /* if the byte mover streams */
    struct tern_pending pending;
    enum tern_send_mode mode;
    uint32_t remote_number; /* the receiver's, once it has answered CLEAR */
    struct tern_packet header; /* of the first packet; the context may be closed before that goes */

    /* receives */
    int64_t expected, arrived;  /* bytes that DATA packets will bring, and have brought */
    int64_t message_length;
};

static inline struct tern_pml_request *tern_pml_request_of(struct tern_request *request)
{
    return (struct tern_pml_request *)request; /* req is the first member */
}

/* Eager messages cost the receiver their bytes and about this many more. */
enum { TERN_MESSAGE_COST = 96 };

extern TERN_OURS const struct tern_request_kind tern_pml_send_kind, tern_pml_recv_kind;

/* What depends on the kind is the caller's to set. One that is not of the pool has no handle. */
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
    request->posted = request->cancelling = request->announced = false;
    request->peer = NULL;
}

/* One more for the pool. NULL: no memory. */
struct tern_pml_request *tern_pml_request_make(void);

/* One from the pool, set. NULL: no memory. */
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
void tern_pml_request_release(struct tern_request *request);

/* request_id.c: requests named in packets by a small number, never by an address. 0 is no number.
 * The lowest bits are the request's lane. */
enum { TERN_NUMBER_LANE_BITS = 3 };
static inline uint32_t tern_number_lane(uint64_t number)
{
    return number & (TERN_LANES_MAX - 1);
}
int tern_number_give(struct tern_pml_request *request); /* sets request->number */
void tern_number_take_back(struct tern_pml_request *request);
struct tern_pml_request *tern_number_find(uint64_t number); /* NULL: nobody has it */

/* pending.c */
void tern_pending_init(void);
void tern_pending_append(struct tern_peer *peer, struct tern_pending *pending);
bool tern_pending_empty(void); /* in no lane */
/* Tries to send what waits; returns how many went. */
int tern_pending_flush(struct tern_lane *lane);
/* Connects on first use and gives the peer its first credit. */
int tern_peer_ready(struct tern_peer *peer);
/* Sets what goes at once (peer->eager_below, lone_below) from what stands in the way. */
void tern_peer_update(struct tern_peer *peer);
/* Sends a control packet now or in its turn. */
void tern_control_send(struct tern_peer *peer, const struct tern_packet *packet,
                       const void *payload, size_t length);
/* An eager message of this peer has left our memory: its sender gets the credit back, soon. */
enum { TERN_CREDIT_LENT = 1 }; /* in a packet's flags: it has it already */
void tern_credit_settle(struct tern_peer *peer, const struct tern_packet *packet, size_t length);
extern TERN_OURS int64_t tern_credit_owed_most; /* of a lane */
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
/* The same for one that stays, as long as pml_unexpected_memory lasts; marks the packet. */
void tern_credit_lend(struct tern_peer *peer, struct tern_packet *packet, size_t length);

/* send.c */
int tern_send_start(struct tern_pml_request *request);
void tern_send_matched(const struct tern_reply *reply);
void tern_send_pulled(const struct tern_reply *reply);
void tern_send_clear(const struct tern_reply *reply);
void tern_send_cancelled(const struct tern_reply *reply);

/* recv.c */
void tern_recv_begin(struct tern_pml_request *request, struct tern_peer *from,
                     const struct tern_packet *packet, const void *payload, size_t length);
void tern_recv_data(const struct tern_packet *packet, const void *payload, size_t length);
/* Answers the sender of an eager message whose bytes could not be kept, as if it had been received.
 */
void tern_recv_drop(struct tern_peer *from, const struct tern_packet *packet, size_t length);
/* For tern_btl_place: DATA, and messages, which have been matched. */
void *tern_recv_place_data(struct tern_peer *from, const struct tern_packet *packet, size_t length,
                           struct tern_cursor *ret_to);
void tern_recv_place_message(struct tern_pml_request *request, struct tern_cursor *ret_to);
void tern_recv_placed(struct tern_peer *from, const struct tern_packet *packet, size_t length,
                      struct tern_pml_request *request);

/* mailbox.c: the same as tern_pml_deliver, for packets that may be another lane's than the one they
 * come in; and what came that way for this one. Returns how many. */
bool tern_mailbox_deliver(struct tern_peer *from, const struct tern_packet *packet,
                          const void *payload, size_t length);
int tern_mailbox_empty(struct tern_lane *lane);

/* deliver.c */
bool tern_pml_deliver(struct tern_peer *from, const struct tern_packet *packet, const void *payload,
                      size_t length);
/* For tern_btl_place and tern_btl_placed. */
void *tern_pml_place(struct tern_peer *from, const struct tern_packet *packet, size_t length,
                     struct tern_cursor *ret_to);
void tern_pml_placed(struct tern_peer *from, const struct tern_packet *packet, size_t length,
                     void *owner);
/* Early messages of a context that has just been opened. */
void tern_deliver_early(struct tern_context *context);
/* Drops what nobody has received of a context that is being closed. */
void tern_deliver_forget(struct tern_context *context);

/* context.c */
struct tern_context *tern_context_search(struct tern_lane *lane, uint64_t id);
/* An open one by its id; NULL: it is not open here. */
static inline struct tern_context *tern_context_find(struct tern_lane *lane, uint64_t id)
{
    struct tern_context *latest = lane->latest;
    return TERN_LIKELY(latest && latest->id == id) ? latest : tern_context_search(lane, id);
}

/* peer_lost.c: for tern_btl_lost. */
void tern_pml_lost(struct tern_peer *peer, void *owner, const char *text);
/* Says once more why a request ended with TERN_ERR_UNREACHABLE: another thread may have heard it.
 */
void tern_pml_explain(struct tern_request *request);

/* progress.c: one round of the lane. */
int tern_lane_progress(struct tern_lane *lane);

#endif
