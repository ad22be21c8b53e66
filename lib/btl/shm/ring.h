/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_SHM_RING_H
#define TERN_SHM_RING_H

/*
 * A ring: packets from one sender to one receiver through shared memory, without locks.
 *
 * Slots are one cache line: flag, header and up to 32 bytes of payload travel together. A longer
 * payload lies in the data area behind the slots, in one piece; the slot says where. The flag of
 * slot i in lap l is `turn`, the number of the packet + 1, so a slot never needs clearing: what
 * stood there a lap ago is another number.
 *
 *      header | consumed (receiver's line) | slot 0 | slot 1 | ... | data ...............
 *
 * The receiver publishes how many packets it has consumed, lazily: after a quarter of the slots or
 * of the data area. The sender looks only when it believes the ring full. As no payload is larger
 * than a quarter of the data area, a sender that waits for room always gets it.
 *
 * Growing: the sender makes a larger ring and its last packet in the old one is MOVED, naming the
 * new one, so order holds. (Single producer, single consumer; two threads of a process take the
 * pml's lock.)
 *
 * The functions here touch only the ring's memory, so that a test runs both ends in two processes
 * without MPI.
 */

#include "lib/btl/packet.h"
#include "lib/util/atomic.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { TERN_RING_INLINE = 32, TERN_RING_MOVED = 0xff };

struct tern_ring_slot {
    uint32_t turn;   /* number of the packet + 1, stored last */
    uint32_t length; /* payload bytes; > TERN_RING_INLINE: they lie in the data area, at the offset
                        in `payload` */
    struct tern_packet packet;
    unsigned char payload[TERN_RING_INLINE];
};
_Static_assert(sizeof(struct tern_ring_slot) == TERN_CACHE_LINE, "a slot is a cache line");

struct tern_ring {
    /* written once by the sender, before the ring is announced */
    uint64_t size;       /* bytes of all this */
    uint32_t slot_count; /* a power of two */
    uint32_t data_size;  /* bytes, a multiple of the cache line */
    uint32_t source;     /* sender's local rank */
    uint32_t lane;       /* the sender's */
    uint64_t next;       /* in the receiver's inbox: offset of the ring announced before, 0: none */
    /* the sender has no memory for the largest one; may be said later; atomic */
    uint32_t small;
    /* the receiver's line */
    uint32_t consumed __attribute__((aligned(TERN_CACHE_LINE)));
    struct tern_ring_slot slots[] __attribute__((aligned(TERN_CACHE_LINE)));
};

/* The sender's end; private memory. */
struct tern_ring_out {
    struct tern_ring *ring;
    uint32_t head;        /* packets sent */
    uint32_t consumed;    /* ring->consumed as last seen */
    uint32_t data_head;   /* next free byte of the data area */
    uint32_t data_tail;   /* first byte not known to be consumed */
    uint32_t payload_max; /* a quarter of the data area */
    uint32_t mask;
    uint32_t *data_end; /* per slot: data_head after its packet */
};

/* The receiver's end; private memory. */
struct tern_ring_in {
    struct tern_ring *ring;
    uint32_t next;      /* packets taken */
    uint32_t published; /* ring->consumed as last written */
    uint32_t bytes;     /* data bytes taken since then */
    uint32_t owned;     /* packets whose lines are ours alone; not less than `published` */
    uint32_t mask;
};

/* Lays out a ring of `size` bytes (>= 4096, a multiple of 64) in zeroed memory. */
void tern_ring_format(struct tern_ring *ring, uint64_t size, uint32_t source);
/* Opens an end of a fresh ring. 0 or TERN_ERR_NO_MEM. */
int tern_ring_open_out(struct tern_ring_out *out, struct tern_ring *ring);
void tern_ring_open_in(struct tern_ring_in *in, struct tern_ring *ring);
void tern_ring_close_out(struct tern_ring_out *out);
/* Does what a peer's memory says make sense? Guards the receiver against a ring that was never
 * formatted. */
bool tern_ring_sane(const struct tern_ring *ring, uint64_t available);

/* Slow half of tern_ring_reserve: looks at what the receiver has consumed. */
bool tern_ring_refresh(struct tern_ring_out *out, uint32_t length);

static inline char *tern_ring_data(const struct tern_ring *ring)
{
    return (char *)&ring->slots[ring->slot_count];
}

static inline struct tern_ring_slot *tern_ring_slot(struct tern_ring *ring, uint32_t mask,
                                                    uint32_t number)
{
    return &ring->slots[number & mask];
}

/* Where in the data area `length` bytes in one piece can go, or -1. */
static inline int64_t tern_ring_data_fit(const struct tern_ring_out *out, uint32_t length)
{
    uint32_t size = out->ring->data_size;
    length = (length + TERN_CACHE_LINE - 1) & ~(TERN_CACHE_LINE - 1u);
    if (out->data_head >= out->data_tail) {
        if (length <= size - out->data_head)
            return out->data_head;
        return length < out->data_tail ? 0 : -1;
    }
    return length < out->data_tail - out->data_head ? (int64_t)out->data_head : -1;
}

/* Room for a packet with `length` bytes of payload? If so *ret_payload is where they go. Follow
 * with tern_ring_commit. length <= payload_max. */
static inline bool tern_ring_reserve(struct tern_ring_out *out, uint32_t length, void **ret_payload)
{
    if (TERN_UNLIKELY(out->head - out->consumed > out->mask) && !tern_ring_refresh(out, length))
        return false;
    struct tern_ring_slot *slot = tern_ring_slot(out->ring, out->mask, out->head);
    if (length <= TERN_RING_INLINE) {
        *ret_payload = slot->payload;
        return true;
    }
    int64_t at = tern_ring_data_fit(out, length);
    if (TERN_UNLIKELY(at < 0)) {
        if (!tern_ring_refresh(out, length))
            return false;
        at = tern_ring_data_fit(out, length);
    }
    __builtin_memcpy(slot->payload, &(uint32_t){at}, sizeof(uint32_t));
    *ret_payload = tern_ring_data(out->ring) + at;
    return true;
}

/* Publishes the packet reserved before, its payload being in place. */
static inline void tern_ring_commit(struct tern_ring_out *out, const struct tern_packet *packet,
                                    uint32_t length)
{
    struct tern_ring_slot *slot = tern_ring_slot(out->ring, out->mask, out->head);
    if (length > TERN_RING_INLINE) {
        uint32_t at;
        __builtin_memcpy(&at, slot->payload, sizeof at);
        out->data_head = at + ((length + TERN_CACHE_LINE - 1) & ~(TERN_CACHE_LINE - 1u));
    }
    out->data_end[out->head & out->mask] = out->data_head;
    slot->length = length;
    tern_packet_copy(&slot->packet, packet);
    out->head++;
    /* release: header and payload are visible to whoever sees the turn */
    tern_store_release(&slot->turn, out->head);
}

/* The next packet, or NULL. *ret_payload and the slot stay valid until tern_ring_consume. */
static inline const struct tern_ring_slot *tern_ring_peek(struct tern_ring_in *in,
                                                          const void **ret_payload)
{
    const struct tern_ring_slot *slot = tern_ring_slot(in->ring, in->mask, in->next);
    /* acquire: pairs with the sender's release of the turn */
    if (tern_load_acquire(&slot->turn) != in->next + 1)
        return NULL;
    *ret_payload = slot->payload;
    if (slot->length > TERN_RING_INLINE) {
        uint32_t at;
        __builtin_memcpy(&at, slot->payload, sizeof at);
        *ret_payload = tern_ring_data(in->ring) + at;
    }
    return slot;
}

/* Makes the lines of the packets taken the receiver's alone. Not before an answer: its stores would
 * wait behind these. */
static inline void tern_ring_own(struct tern_ring_in *in)
{
    for (; in->owned != in->next; in->owned++) {
        struct tern_ring_slot *slot = tern_ring_slot(in->ring, in->mask, in->owned);
        if (slot->length > TERN_RING_INLINE) {
            uint32_t at;
            __builtin_memcpy(&at, slot->payload, sizeof at);
            tern_own_lines(tern_ring_data(in->ring) + at, slot->length);
        }
        tern_own_lines((char *)&slot->packet.flags, 1);
    }
}

/* To be called when there is no packet. One short packet alone may be part of a dialogue, in which
 * this gains nothing: with far cores its answer took longer. */
static inline void tern_ring_rest(struct tern_ring_in *in)
{
    if (in->next - in->owned == 1 &&
        tern_ring_slot(in->ring, in->mask, in->owned)->length <= TERN_RING_INLINE)
        in->owned = in->next;
    tern_ring_own(in);
}

/* True: the sender was told, and may sleep waiting for just that. */
static inline bool tern_ring_consume(struct tern_ring_in *in, uint32_t length)
{
    in->next++;
    if (length > TERN_RING_INLINE)
        in->bytes += length;
    if (TERN_LIKELY(in->next - in->published <= in->mask / 4 &&
                    in->bytes <= in->ring->data_size / 4))
        return false;
    tern_ring_own(in);
    /* release: the sender may overwrite what it sees consumed, so our reads and writes come before
     */
    tern_store_release(&in->ring->consumed, in->next);
    in->published = in->next;
    in->bytes = 0;
    return true;
}

#endif
