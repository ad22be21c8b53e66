/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_TCP_LINK_H
#define TERN_TCP_LINK_H

/*
 * A link: a connection after its handshake, with what has been begun on it in either direction.
 * Belongs to one lane, whose lock its user holds, but for the outgoing half: the flusher
 * (flusher.h) writes too, so that has a lock of its own.
 *
 * What goes out is, in this order: the rest of a piece of a stream, from the user's memory; then
 * `out`, frames that were copied because the system had no room, or so that many go by one system
 * call.
 */

#include "lib/btl/btl.h"
#include "lib/btl/tcp/framing.h"
#include "lib/btl/tcp/silence.h"
#include "lib/util/list.h"

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

struct tern_tcp_sealed;

struct tern_tcp_link {
    struct tern_list_node in_lane;  /* all links of the lane */
    int fd;
    /* encrypts what goes by the socket (sealed.h); NULL: it goes as it is */
    struct tern_tcp_sealed *sealed;
    uint8_t tag;               /* the dialler's lane; ours is tag modulo our number of lanes */
    uint8_t index;             /* 0: the first between the two; TERN_TCP_LINK_SECOND */
    uint32_t rank;             /* of the other end, in our job */
    struct tern_peer *peer;    /* of this lane */
    /* when its lane last made progress, in ticks, more or less; atomic */
    const uint64_t *polled_at;
    struct tern_tcp_endpoint *endpoint; /* sends by it; NULL: nobody does, it only receives */
    /* of the lane, in which a message was last sent that others may follow */
    uint32_t sent_round;
    /* the lane's last send or push left something; the flusher may have written it since */
    bool unsent;
    uint64_t written_at;       /* ticks of the last write */
    struct tern_tcp_silence silence;

    pthread_mutex_t out_lock;
    unsigned char *out;        /* NULL until it is needed */
    uint32_t out_begin, out_end;
    uint64_t held_at;          /* ticks since when it holds something; 0: it holds nothing */
    unsigned followers;        /* messages that were held because others were */
    /* sends that must not be held: nobody but the flusher wrote what was */
    unsigned unheld;
    struct {
        struct tern_stream *stream; /* NULL: none */
        struct tern_tcp_frame frame;
        uint32_t frame_left;   /* bytes of the frame that are still to go */
        struct tern_cursor cursor;
        size_t left;           /* bytes of the payload */
    } piece;
    _Atomic int error;         /* errno of a failed write; 0: none */
    uint64_t lost_at_ms;       /* it has ended before its time (tcp.c) */
    char *ends;                /* for people, while it lasted: interface and both addresses */
    bool blocked;              /* the system has no room */
    bool watching_room;        /* our epoll tells when it has */
    struct tern_list_node in_flusher; /* if `flushed` */
    bool flushed;
    bool used;                 /* it has held something since the flusher's last look */
    unsigned unused_us;        /* the flusher's: for how long it has not */

    struct tern_tcp_frame head; /* the frame that has begun to arrive, as far as it has */
    uint32_t head_length;
    void *owner;                /* whose memory its payload goes to; NULL: nobody's */
    struct tern_cursor place;   /* ... and where in it */
    bool large;                 /* a long payload is likely to come next */
    unsigned char *stash;       /* ... or the payload so far; NULL: no payload has begun */
    size_t left;                /* bytes of the payload that are still to come */
    bool said_bye;              /* the last frame was BYE: the other end may be gone */
};

/* Takes `sealed`, and if there is memory the descriptor; else returns NULL. */
struct tern_tcp_link *tern_tcp_link_new(int fd, struct tern_tcp_sealed *sealed, uint32_t rank,
                                        uint8_t tag, uint8_t index);
/* Closes it, with whatever it holds. */
void tern_tcp_link_free(struct tern_tcp_link *link);

/* Sends a frame: 0, or TERN_ERR_AGAIN: too much waits already. `soon`: it may wait for others for a
 * while. What cannot be written now is copied. A failure shows in link->error. */
int tern_tcp_link_send(struct tern_tcp_link *link, const struct tern_packet *packet,
                       const void *payload, size_t length, bool soon);
/* The same with the payload from a cursor, which advances on success. */
int tern_tcp_link_send_cursor(struct tern_tcp_link *link, const struct tern_packet *packet,
                              struct tern_cursor *cursor, size_t length);

/* Begins the next piece of the stream, of at most `most` bytes; the stream's cursor advances. Only
 * when no piece is under way. */
void tern_tcp_link_begin_piece(struct tern_tcp_link *link, struct tern_stream *stream, size_t most);
/* Writes what there is. True: all of it is gone, or a failure shows in link->error. */
bool tern_tcp_link_push(struct tern_tcp_link *link);
/* A piece that is gone: its stream, once; else NULL. */
struct tern_stream *tern_tcp_link_take_piece(struct tern_tcp_link *link);
/* Of an eager message that has begun to come straight to its place: its owner; NULL: none. */
void *tern_tcp_link_owner(const struct tern_tcp_link *link);

/* What the flusher finds at a link. */
enum tern_tcp_look {
    TERN_TCP_AT_REST, /* it has held nothing for a while: its buffer has been given back */
    TERN_TCP_IN_USE,
    /* much of what it holds could be written: the system will soon have room for more */
    TERN_TCP_DRAINS,
};
/* For the flusher, who has out_lock: writes what has been held for too long. `attended`: the rank
 * makes progress, so it writes by itself when the system has room. `elapsed_us`: since the last
 * look. */
enum tern_tcp_look tern_tcp_link_look(struct tern_tcp_link *link, bool attended,
                                      unsigned elapsed_us);

/* Reads and delivers what has come; `room` is a buffer of TERN_TCP_ROOM bytes that links share.
 * Returns the packets delivered; -1: the connection has ended, errno says how (0: its other end
 * closed it). */
enum { TERN_TCP_ROOM = 64 * 1024 };
int tern_tcp_link_receive(struct tern_tcp_link *link, unsigned char *room);

#endif
