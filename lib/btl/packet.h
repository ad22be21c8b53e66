/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_PACKET_H
#define TERN_PACKET_H

/*
 * All that goes over a link. Every packet begins with struct tern_packet; the payload is described
 * by the kind. Same machine type on both ends (sizes and byte order are the host's; links that
 * leave the node check that once).
 */

#include <stdint.h>

enum tern_packet_kind {
    TERN_PACKET_EAGER = 1,  /* payload: the whole message */
    TERN_PACKET_EAGER_SYNC, /* the same, `id` names the sender's request; answered by MATCHED */
    TERN_PACKET_RENDEZVOUS, /* payload: struct tern_rendezvous; answered by PULLED or CLEAR */
    /* payload: struct tern_reply: a synchronous eager message was matched */
    TERN_PACKET_MATCHED,
    /* payload: struct tern_reply: the receiver has copied what it wants from the sender's memory */
    TERN_PACKET_PULLED,
    TERN_PACKET_CLEAR, /* payload: struct tern_reply: send the bytes as DATA packets */
    /* payload: bytes of the message, `context` the offset of the first; `id` names the receiver's
       request */
    TERN_PACKET_DATA,
    /* payload: struct tern_reply: sender wants to take back a message; remote_id is the sender's
       request */
    TERN_PACKET_CANCEL,
    TERN_PACKET_CANCELLED, /* payload: struct tern_reply; length 1: taken back, 0: too late */
    /* payload: struct tern_reply; length = unexpected bytes freed at the receiver, of the lane that
       `context` names */
    TERN_PACKET_CREDIT,
};

struct tern_packet {
    uint8_t kind;     /* enum tern_packet_kind */
    uint8_t flags;    /* 0 on its way; for the receiver's own marks */
    /* of a message (first three kinds): its number in (context, source -> destination) */
    uint16_t seq;
    int32_t source;   /* sender's rank in the context */
    int32_t tag;
    /* a request, by its number (lib/pml/request_id.c), where the kind says so; else 0 */
    uint32_t id;
    uint64_t context; /* id, which names the lane; an offset in DATA; 0 where the kind needs none */
};

/*
 * In whole words, for a header is copied as soon as it is made: a processor hands a load what
 * stands in its store buffer only if one store has written all of it, and else lets it wait until
 * the stores are through.
 */
typedef uint64_t __attribute__((may_alias)) tern_packet_word;
enum { TERN_PACKET_WORDS = sizeof(struct tern_packet) / sizeof(tern_packet_word) };

/* The header of an eager message. */
static inline void tern_packet_set(struct tern_packet *packet, uint16_t seq, int32_t source,
                                   int32_t tag, uint64_t context)
{
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    tern_packet_word *words = (tern_packet_word *)packet;
    words[0] = (uint64_t)(uint32_t)source << 32 | (uint64_t)seq << 16 | TERN_PACKET_EAGER;
    words[1] = (uint32_t)tag;
    words[2] = context;
#else
    *packet = (struct tern_packet){
        .kind = TERN_PACKET_EAGER, .seq = seq, .source = source, .tag = tag, .context = context};
#endif
}

static inline void tern_packet_copy(struct tern_packet *to, const struct tern_packet *from)
{
#pragma GCC unroll 3
    for (int i = 0; i < TERN_PACKET_WORDS;
         i++) /* atomic: the compiler would make larger ones of them */
        __atomic_store_n((tern_packet_word *)to + i, ((const tern_packet_word *)from)[i],
                         __ATOMIC_RELAXED);
}

/* An announced message. */
struct tern_rendezvous {
    uint64_t length;  /* bytes of the message */
    uint64_t address; /* first byte in the sender's memory; 0: not in one run, cannot be pulled */
    /* number of the sender's request, to be named in the answer; 0: there is no message. The sender
     * has failed; if length is not 0, the receiver had no memory for it */
    uint64_t id;
};

struct tern_reply {
    uint64_t id;        /* request of the one who gets this packet */
    uint64_t remote_id; /* request of the one who sends it, where the dialogue goes on */
    uint64_t length;    /* bytes: wanted (CLEAR), copied (PULLED) */
    uint64_t offset;    /* of the first byte wanted (CLEAR): those before it have been copied */
};

#endif
