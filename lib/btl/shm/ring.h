/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_SHM_RING_H
#define TERN_SHM_RING_H

/*
 * A ring: packets from one sender to one receiver through shared memory, without locks.
 *
 * A slot is one cache line: flag, header and up to 32 bytes of payload travel together. A longer
 * payload lies in the data area behind the slots, in one piece, and the slot contains its offset.
 * The flag, `turn`, is the number of the packet + 1. So a slot never needs clearing: the flag of
 * the previous lap is another number.
 *
 *      header | consumed (receiver's line) | slot 0 | slot 1 | ... | data ...............
 *
 * A payload may also lie in a cell. Cells are pieces of shared memory outside of the rings, and
 * change hands: a cell belongs to the end that has read it last, and carries its next payload to
 * the peer, in the ring of the other direction. So a line crosses from cache to cache once per
 * payload, and is written by the core that has just read it, which is fast. The newest cell is
 * taken first, because it is in a near cache; or the oldest, where that is faster. Cells are not
 * given back: a sender without a cell uses the data area. When payloads go one way only, all cells
 * soon lie idle with the receiver, and the data area is the faster way then.
 *
 * The receiver publishes rarely how many packets it has consumed: after a quarter of the slots or
 * of the data area. The sender reads that count only when the ring seems full. No payload is larger
 * than a quarter of the data area, so a sender that waits for room always gets it.
 *
 * To grow, the sender makes a larger ring. Its last packet in the old ring is MOVED and names the
 * new ring, so packets keep their order. A ring has one producer and one consumer: threads of a
 * process take the pml's lock.
 *
 * The functions here touch the ring's memory only. So a test can run both ends in two processes
 * without MPI.
 */

#include "lib/btl/packet.h"
#include "lib/util/base/atomic.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Payload bytes that fit into a slot; and the kind of the last packet in a ring that is left. */
enum { TERN_RING_INLINE = 32, TERN_RING_MOVED = 0xff };

/* Bytes of a cell, and the shortest payload that goes by cell. */
enum { TERN_RING_CELL = 32 * 1024, TERN_RING_CELL_LEAST = 4096 };

/* Payload bytes for which tern_ring_prepare asks (lib/util/machine/line_costs.h). */
extern TERN_OURS uint32_t tern_ring_prepared_most;

/* A slot. */
struct tern_ring_slot {
    uint32_t turn;   /* number of the packet + 1; stored last */
    /* payload bytes; if > TERN_RING_INLINE they lie elsewhere, and `payload` holds their offset
     * (int64_t) from the data area, which is outside of the area if they lie in a cell */
    uint32_t length;
    struct tern_packet packet;
    unsigned char payload[TERN_RING_INLINE];
};
_Static_assert(sizeof(struct tern_ring_slot) == TERN_CACHE_LINE, "a slot is a cache line");

/* The shared part of a ring. */
struct tern_ring {
    /* Written once by the sender, before the ring is announced: */
    uint64_t size;       /* bytes of the whole ring */
    uint32_t slot_count; /* a power of two */
    uint32_t data_size;  /* bytes, a multiple of the cache line */
    uint32_t source;     /* sender's local rank */
    uint32_t lane;       /* the sender's lane */
    uint64_t next; /* next in the receiver's inbox: offset of the ring announced before; 0: none */
    /* Nonzero: the sender has no memory for the largest ring. May be set later; atomic. */
    uint32_t small;
    /* Packets consumed. The only line that the receiver writes. */
    uint32_t consumed __attribute__((aligned(TERN_CACHE_LINE)));
    struct tern_ring_slot slots[] __attribute__((aligned(TERN_CACHE_LINE)));
};

/* The cells that this end of a pair of ranks may write to; private memory. All zero: none. */
struct tern_cells {
    /* the cell to be taken next; its first bytes point to the one after it. NULL: there is none */
    char *next;
    char *last;   /* in_turn, if there is a next one: the cell to be taken last */
    bool in_turn; /* the cell that was read first is taken first, else the one that was read last */
    char *fresh, *fresh_end; /* those that were never used */
    uint32_t came; /* cells read so far */
};

/* Says in which order cells are taken from now on. */
void tern_cells_order(struct tern_cells *cells, bool in_turn);

/* The sender's end; private memory. */
struct tern_ring_out {
    struct tern_ring *ring;
    uint32_t head;        /* packets sent */
    uint32_t consumed;    /* ring->consumed as last seen */
    uint32_t data_head;   /* offset of the next free byte of the data area */
    uint32_t data_tail;   /* offset of the first byte not known to be consumed */
    uint32_t payload_max; /* largest payload: a quarter of the data area */
    uint32_t mask; /* slot_count - 1 */
    uint32_t *data_end; /* for each slot: data_head behind its packet */
    uint32_t prepared; /* tern_ring_prepare has been called with this head */
};

/* The receiver's end; private memory. */
struct tern_ring_in {
    struct tern_ring *ring;
    struct tern_cells *cells; /* for those that come */
    uint32_t next;      /* packets taken */
    uint32_t published; /* ring->consumed as last written */
    uint32_t bytes;     /* data bytes taken since `published` was written */
    /* packets whose lines this end owns alone (tern_own_lines); at least `published` */
    uint32_t owned;
    uint32_t mask; /* slot_count - 1 */
};

/* Lays out a ring of `size` bytes, at least 4096 and a multiple of 64, in zeroed memory. */
void tern_ring_format(struct tern_ring *ring, uint64_t size, uint32_t source);
/* Open and close an end of a fresh ring. tern_ring_open_out returns 0 or TERN_ERR_NO_MEM. Cells
 * that come go to `cells`, which may be NULL if the sender uses none. */
int tern_ring_open_out(struct tern_ring_out *out, struct tern_ring *ring);
void tern_ring_open_in(struct tern_ring_in *in, struct tern_ring *ring, struct tern_cells *cells);
void tern_ring_close_out(struct tern_ring_out *out);
/* Returns true if the ring's header makes sense within `available` bytes. Protects the receiver
 * against a ring that was never formatted. */
bool tern_ring_sane(const struct tern_ring *ring, uint64_t available);

/* The slow half of tern_ring_reserve: reads how much the receiver has consumed. Returns true if
 * there is room now. */
bool tern_ring_refresh(struct tern_ring_out *out, uint32_t length);

/* Returns the beginning of the data area. */
static inline char *tern_ring_data(const struct tern_ring *ring)
{
    return (char *)&ring->slots[ring->slot_count];
}

/* Returns the slot of packet `number`. */
static inline struct tern_ring_slot *tern_ring_slot(struct tern_ring *ring, uint32_t mask,
                                                    uint32_t number)
{
    return &ring->slots[number & mask];
}

/* Return and set the offset of a payload that is longer than a slot. */
static inline int64_t tern_ring_offset(const struct tern_ring_slot *slot)
{
    int64_t at;
    __builtin_memcpy(&at, slot->payload, sizeof at);
    return at;
}

static inline void tern_ring_set_offset(struct tern_ring_slot *slot, int64_t at)
{
    __builtin_memcpy(slot->payload, &at, sizeof at);
}

/* Returns true if a payload at this offset lies in the data area, not in a cell. */
static inline bool tern_ring_in_data(const struct tern_ring *ring, int64_t at)
{
    return (uint64_t)at < ring->data_size;
}

static inline bool tern_cells_any(const struct tern_cells *cells)
{
    return cells->next || cells->fresh != cells->fresh_end;
}

/* Takes the cell whose turn it is. Returns NULL if there is none. */
static inline char *tern_cells_take(struct tern_cells *cells)
{
    char *cell = cells->next;
    bool fresh = cells->fresh != cells->fresh_end;
    if (cell && !(cells->in_turn && fresh)) {
        __builtin_memcpy(&cells->next, cell, sizeof cells->next);
    } else if (fresh) {
        cell = cells->fresh;
        cells->fresh += TERN_RING_CELL;
    }
    return cell;
}

/* Keeps a cell that has been read. */
static inline void tern_cells_keep(struct tern_cells *cells, char *cell)
{
    cells->came++;
    if (cells->in_turn) {
        char *none = NULL;
        __builtin_memcpy(cell, &none, sizeof none);
        __builtin_memcpy(cells->next ? cells->last : (char *)&cells->next, &cell, sizeof cell);
        cells->last = cell;
    } else {
        __builtin_memcpy(cell, &cells->next, sizeof cells->next);
        cells->next = cell;
    }
}

/* Returns the offset in the data area where `length` bytes fit in one piece, or -1. */
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

/* Reserves room for a packet with `length` <= payload_max bytes of payload, in one of `cells` if
 * that is not NULL. Returns false if there is none, else sets *ret_payload to the place for the
 * payload. Follow with tern_ring_commit. */
static inline bool tern_ring_reserve(struct tern_ring_out *out, struct tern_cells *cells,
                                     uint32_t length, void **ret_payload)
{
    if (TERN_UNLIKELY(out->head - out->consumed > out->mask) && !tern_ring_refresh(out, length))
        return false;
    struct tern_ring_slot *slot = tern_ring_slot(out->ring, out->mask, out->head);
    if (length <= TERN_RING_INLINE) {
        *ret_payload = slot->payload;
        return true;
    }
    char *cell;
    if (cells && length >= TERN_RING_CELL_LEAST && (cell = tern_cells_take(cells))) {
        tern_ring_set_offset(slot, cell - tern_ring_data(out->ring));
        *ret_payload = cell;
        return true;
    }
    int64_t at = tern_ring_data_fit(out, length);
    if (TERN_UNLIKELY(at < 0)) {
        if (!tern_ring_refresh(out, length))
            return false;
        at = tern_ring_data_fit(out, length);
    }
    tern_ring_set_offset(slot, at);
    *ret_payload = tern_ring_data(out->ring) + at;
    return true;
}

/* Publishes the reserved packet, whose payload is in place. */
static inline void tern_ring_commit(struct tern_ring_out *out, const struct tern_packet *packet,
                                    uint32_t length)
{
    struct tern_ring_slot *slot = tern_ring_slot(out->ring, out->mask, out->head);
    if (length > TERN_RING_INLINE) {
        int64_t at = tern_ring_offset(slot);
        if (tern_ring_in_data(out->ring, at))
            out->data_head = at + ((length + TERN_CACHE_LINE - 1) & ~(TERN_CACHE_LINE - 1u));
    }
    out->data_end[out->head & out->mask] = out->data_head;
    slot->length = length;
    tern_packet_copy(&slot->packet, packet);
    out->head++;
    /* release: header and payload are visible to a receiver that sees the turn */
    tern_store_release(&slot->turn, out->head);
}

/* Asks for the lines of the next payload, which are in the receiver's cache: the stores to them
 * need not wait then. Expects a payload as long as the last one. Call it when there is nothing else
 * to do. It does not ask for the slot: the receiver polls that, and would take it back. */
static inline void tern_ring_prepare(struct tern_ring_out *out)
{
    if (TERN_LIKELY(out->prepared == out->head))
        return;
    out->prepared = out->head;
    /* 0 for a payload within its slot or in a cell, and too large after a return to the beginning
     */
    uint32_t length = out->data_head - out->data_end[(out->head - 2) & out->mask];
    uint32_t most = __atomic_load_n(&tern_ring_prepared_most, __ATOMIC_RELAXED);
    int64_t at = length <= most ? tern_ring_data_fit(out, length) : -1;
    for (uint32_t line = 0; at >= 0 && line < length; line += TERN_CACHE_LINE)
        tern_prefetch_write(tern_ring_data(out->ring) + at + line);
}

/* Returns the next packet, or NULL. *ret_payload and the slot stay valid until
 * tern_ring_consume. */
static inline const struct tern_ring_slot *tern_ring_peek(struct tern_ring_in *in,
                                                          const void **ret_payload)
{
    const struct tern_ring_slot *slot = tern_ring_slot(in->ring, in->mask, in->next);
    /* acquire: pairs with the sender's release of the turn */
    if (tern_load_acquire(&slot->turn) != in->next + 1)
        return NULL;
    *ret_payload = slot->payload;
    if (slot->length > TERN_RING_INLINE)
        *ret_payload = tern_ring_data(in->ring) + tern_ring_offset(slot);
    return slot;
}

/* Takes ownership of the cache lines of the packets taken. Not before an answer is sent: the
 * answer's stores would wait behind these. */
static inline void tern_ring_own(struct tern_ring_in *in)
{
    for (; in->owned != in->next; in->owned++) {
        struct tern_ring_slot *slot = tern_ring_slot(in->ring, in->mask, in->owned);
        if (slot->length > TERN_RING_INLINE) {
            int64_t at = tern_ring_offset(slot);
            if (tern_ring_in_data(in->ring, at))
                tern_own_lines(tern_ring_data(in->ring) + at, slot->length);
        }
        tern_own_lines((char *)&slot->packet.flags, 1);
    }
}

/* Call it when there is no packet: takes ownership of lines now. Skips a single short packet, which
 * may be part of a dialogue. In a dialogue ownership gains nothing, and between distant cores the
 * answer took longer. */
static inline void tern_ring_rest(struct tern_ring_in *in)
{
    if (in->next - in->owned == 1 &&
        tern_ring_slot(in->ring, in->mask, in->owned)->length <= TERN_RING_INLINE)
        in->owned = in->next;
    tern_ring_own(in);
}

/* Frees the packet of the last tern_ring_peek. Returns true if the sender was told: then the sender
 * may be asleep, waiting for just that. */
static inline bool tern_ring_consume(struct tern_ring_in *in, uint32_t length)
{
    in->next++;
    bool tell = in->next - in->published > in->mask / 4;
    if (length > TERN_RING_INLINE) {
        int64_t at = tern_ring_offset(tern_ring_slot(in->ring, in->mask, in->next - 1));
        if (tern_ring_in_data(in->ring, at)) {
            in->bytes += length;
            tell |= in->bytes > in->ring->data_size / 4;
        } else {
            tern_cells_keep(in->cells, tern_ring_data(in->ring) + at);
        }
    }
    if (TERN_LIKELY(!tell))
        return false;
    tern_ring_own(in);
    /* release: the sender may overwrite consumed packets, so our reads and writes must come
     * before */
    tern_store_release(&in->ring->consumed, in->next);
    in->published = in->next;
    in->bytes = 0;
    return true;
}

#endif
