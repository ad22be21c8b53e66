/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_TCP_LINK_H
#define TERN_TCP_LINK_H

/*
 * A link: a connection after its handshake, with the transfers under way in both directions. A link
 * belongs to one lane, whose lock its user holds. The outgoing half has its own lock, because the
 * flusher (flusher.h) writes too.
 *
 * Bytes are written in this order: first the rest of a piece of a stream, from the user's memory;
 * then `out`, frames that were copied because the system had no room, or so that one system call
 * writes many.
 */

#include "lib/btl/btl.h"
#include "lib/btl/tcp/framing.h"
#include "lib/btl/tcp/silence.h"
#include "lib/util/base/list.h"

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

struct tern_tcp_sealed;

/* A link and its transfers. */
struct tern_tcp_link {
    struct tern_list_node in_lane;  /* links all links of the lane */
    int fd; /* the socket */
    /* encrypts what goes through the socket (sealed.h); NULL: not encrypted */
    struct tern_tcp_sealed *sealed;
    uint8_t tag; /* lane of the end that called; ours is tag modulo our number of lanes */
    /* 0: the first link between the two; TERN_TCP_LINK_SECOND: only the peer sends by it */
    uint8_t index;
    struct tern_process process; /* the other end */
    struct tern_peer *peer;    /* the peer, as this lane knows it */
    /* points to the time of the lane's last progress, in ticks, roughly; atomic */
    const uint64_t *polled_at;
    /* the endpoint that sends by this link; NULL: the link only receives */
    struct tern_tcp_endpoint *endpoint;
    uint32_t sent_round; /* the lane's round in which the last send_batched message was sent */
    /* true if the lane's last send or push could not write everything; the flusher may have written
     * it since */
    bool unsent;
    uint64_t written_at;       /* ticks of the last write */
    struct tern_tcp_silence silence; /* guarded by the lane's lock */

    /* The outgoing half, which the flusher shares: out_lock guards what is to be written. */
    pthread_mutex_t out_lock;
    unsigned char *out;        /* bytes that wait to be written; NULL until a buffer is needed */
    uint32_t out_begin, out_end; /* offsets of the first such byte, and behind the last */
    uint32_t out_size;         /* bytes of the buffer */
    uint64_t held_at;          /* ticks since when the link holds something; 0: it holds nothing */
    unsigned followers;        /* messages held behind others, counted between looks at the clock */
    /* number of further sends that must not be held, because the rank left held ones to the
     * flusher */
    unsigned unheld;
    struct {
        struct tern_stream *stream; /* the stream of this piece; NULL: no piece is under way */
        struct tern_tcp_frame frame;
        uint32_t frame_left;   /* bytes of the frame not written yet */
        /* position in the stream's memory */
        struct tern_cursor cursor;
        size_t left;           /* bytes of the payload not written yet */
    } piece;
    _Atomic int error;         /* errno of a failed write; 0: none */
    uint64_t lost_at_ms;       /* time when the link ended unexpectedly (tcp.c) */
    /* text for people, as long as the connection lasted: interface and both addresses */
    char *ends;
    bool blocked;              /* the system has no room for more */
    size_t system_room; /* bytes of the system's send buffer when the link began */
    bool watching_room;        /* our epoll reports when it has room again */
    struct tern_list_node in_flusher; /* valid if `flushed` */
    bool flushed; /* in the flusher's list */
    bool used;                 /* the link has held something since the flusher's last look */
    /* used by the flusher: for how long the link has held nothing, in microseconds */
    unsigned unused_us;

    /* The incoming half. Locks: the lane's lock. */

    /* header of the frame that is arriving, `head_length` bytes of it */
    struct tern_tcp_frame head;
    uint32_t head_length;
    void *owner; /* owner of the payload's destination (tern_btl_place); NULL: no destination */
    struct tern_cursor place;   /* the destination, if there is an owner */
    bool large;                 /* a long payload is likely to come next */
    unsigned char *stash; /* the payload so far, if there is no owner; NULL: no payload has begun */
    size_t left;                /* bytes of the payload that have not arrived yet */
    bool said_bye;              /* the last frame was BYE: the other end may have ended */
};

/* Makes a link of a connection. Returns NULL if there is no memory. Owner: takes `sealed` in any
 * case, and the descriptor only on success. */
struct tern_tcp_link *tern_tcp_link_new(int fd, struct tern_tcp_sealed *sealed,
                                        struct tern_process process, uint8_t tag, uint8_t index);
/* Closes the link and drops whatever it holds. */
void tern_tcp_link_free(struct tern_tcp_link *link);

/* Sends a frame. Returns 0, or TERN_ERR_AGAIN if too much waits already. If `batched`, the frame
 * may wait for others for a while. Bytes that cannot be written now are copied. A failed write
 * shows in link->error. */
int tern_tcp_link_send(struct tern_tcp_link *link, const struct tern_packet *packet,
                       const void *payload, size_t length, bool batched);
/* Sends like tern_tcp_link_send; the payload comes from a cursor, which advances on success. */
int tern_tcp_link_send_cursor(struct tern_tcp_link *link, const struct tern_packet *packet,
                              struct tern_cursor *cursor, size_t length);

/* Returns true if the system has room for `length` bytes of payload, so that a send needs one call
 * and no copy. */
bool tern_tcp_link_has_room(struct tern_tcp_link *link, size_t length);

/* Begins the next piece of the stream, at most `most` bytes, and advances the stream's cursor. Call
 * it only if no piece is under way. */
void tern_tcp_link_begin_piece(struct tern_tcp_link *link, struct tern_stream *stream, size_t most);
/* Writes what the link holds. Returns true if everything is written, or if a write failed
 * (link->error). */
bool tern_tcp_link_push(struct tern_tcp_link *link);
/* Returns the stream whose piece was written, once; else NULL. */
struct tern_stream *tern_tcp_link_take_piece(struct tern_tcp_link *link);
/* Returns the owner of an eager message that is arriving straight in its destination; NULL:
 * none. */
void *tern_tcp_link_owner(const struct tern_tcp_link *link);

/* What the flusher has found at a link. */
enum tern_tcp_look {
    TERN_TCP_AT_REST, /* the link has held nothing for a while, and its buffer was freed */
    TERN_TCP_IN_USE, /* none of the others */
    /* much of what it holds could be written, so the system will soon have room for more */
    TERN_TCP_DRAINS,
};
/* For the flusher, which holds out_lock: writes what was held for too long. `attended`: the rank
 * makes progress, so it writes by itself when the system has room. `elapsed_us`: time since the
 * last look. */
enum tern_tcp_look tern_tcp_link_look(struct tern_tcp_link *link, bool attended,
                                      unsigned elapsed_us);

/* Reads and delivers what has arrived. `room` is a buffer of TERN_TCP_ROOM bytes that links share.
 * Returns the number of packets delivered; -1 if the connection has ended, with the reason in errno
 * (0: the other end has closed it). */
enum { TERN_TCP_ROOM = 64 * 1024 };
int tern_tcp_link_receive(struct tern_tcp_link *link, unsigned char *room);

#endif
