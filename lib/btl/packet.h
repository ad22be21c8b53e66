/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_PACKET_H
#define TERN_PACKET_H

/*
 * The format of everything that goes over a link. Every packet begins with struct tern_packet; the
 * kind defines the payload. Both ends are of one machine type: sizes and byte order are the host's,
 * and links that leave the node check that once.
 */

#include <stdint.h>

/* Kinds of packets. MATCHED and all below carry a reply to, or a part of, a message of the first
 * three kinds. */
enum tern_packet_kind {
    TERN_PACKET_EAGER = 1,  /* payload: the whole message */
    /* payload: the whole message. `id` names the sender's request; answered by MATCHED */
    TERN_PACKET_EAGER_SYNC,
    /* payload: the first bytes of the message, or none, and struct tern_rendezvous; answered by
     * PULLED or CLEAR */
    TERN_PACKET_RENDEZVOUS,
    /* payload: struct tern_reply: a synchronous eager message was matched */
    TERN_PACKET_MATCHED,
    /* payload: struct tern_reply: the receiver has copied what it needs from the sender's memory */
    TERN_PACKET_PULLED,
    /* payload: struct tern_reply: the sender shall send the bytes as DATA packets */
    TERN_PACKET_CLEAR,
    /* payload: bytes of the message. `context` is the offset of the first, `id` names the
     * receiver's request */
    TERN_PACKET_DATA,
    /* payload: struct tern_reply: the sender wants to cancel a message; remote_id is its request */
    TERN_PACKET_CANCEL,
    TERN_PACKET_CANCELLED, /* payload: struct tern_reply; length 1: cancelled, 0: too late */
    /* payload: struct tern_reply; length: unexpected bytes that the receiver has freed, in the lane
     * that `context` names */
    TERN_PACKET_CREDIT,
    /* payload: struct tern_clear_into: the sender shall write the bytes into the receiver's memory,
     * or else send all of them as after CLEAR */
    TERN_PACKET_CLEAR_INTO,
    /* payload: struct tern_reply: the sender has written all bytes that were wanted */
    TERN_PACKET_WRITTEN,
};

/* Flags of RENDEZVOUS. */
enum {
    TERN_PACKET_OF_DEVICE = 2, /* `address` and `key` are of device memory */
    TERN_PACKET_UNREADABLE = 4, /* the sender's memory could not be registered */
};

/* The header of every packet. */
struct tern_packet {
    uint8_t kind;     /* enum tern_packet_kind */
    /* flags of RENDEZVOUS, else 0, while it travels; the receiver may set marks
     * (TERN_CREDIT_LENT) */
    uint8_t flags;
    /* of a message (first three kinds): its number among those with this context, source and
     * destination */
    uint16_t seq;
    int32_t source;   /* the sender's rank in the context */
    int32_t tag; /* of a message */
    uint32_t id; /* number of a request (lib/pml/request_id.c) if the kind needs one; else 0 */
    /* id of the context, which also names the lane; in DATA an offset; 0 if the kind needs none */
    uint64_t context;
};

/*
 * Headers are written and copied in whole words, because a header is copied as soon as it is made.
 * A processor forwards data from its store buffer to a load only if one store wrote all of them;
 * otherwise the load waits until the stores have left the buffer.
 */
typedef uint64_t __attribute__((may_alias)) tern_packet_word;
enum { TERN_PACKET_WORDS = sizeof(struct tern_packet) / sizeof(tern_packet_word) };

/* Writes the header of an eager message. */
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

/* Copies a header in whole words. */
static inline void tern_packet_copy(struct tern_packet *to, const struct tern_packet *from)
{
#pragma GCC unroll 3
    for (int i = 0; i < TERN_PACKET_WORDS;
         i++) /* atomic: the compiler would make larger ones of them */
        __atomic_store_n((tern_packet_word *)to + i, ((const tern_packet_word *)from)[i],
                         __ATOMIC_RELAXED);
}

/* The end of the payload of RENDEZVOUS: an announced message. Fits into a slot of shm's rings. */
struct tern_rendezvous {
    uint64_t length;  /* bytes of the message */
    /* of the first byte in the sender's memory, from the sender's byte mover
     * (btl->register_memory); 0: the bytes are not one run and cannot be pulled */
    uint64_t address;
    /* number of the sender's request, for the answer. 0: there is no message, because the sender
     * has failed; a nonzero length then means that the receiver had no memory for the message */
    uint64_t id;
    /* of that memory, from the sender's byte mover (btl->register_memory); 0: needs none */
    uint64_t key;
};

/* Payload of the kinds that answer or cancel. */
struct tern_reply {
    uint64_t id;        /* number of a request of the process that gets this packet */
    /* number of a request of the process that sends it, if the dialogue goes on */
    uint64_t remote_id;
    uint64_t length;    /* bytes: wanted (CLEAR), copied (PULLED) */
    /* of the first byte wanted (CLEAR): bytes before it have been copied. PULLED: bytes used of
     * those that came with the announcement */
    uint64_t offset;
};

/* Payload of CLEAR_INTO. */
struct tern_clear_into {
    struct tern_reply reply; /* as for CLEAR; `offset` is 0 */
    uint64_t address, key;   /* of the receiver's memory (struct tern_exposure) */
    uint32_t by_lane;        /* likewise */
    uint32_t zero;
};

#endif
