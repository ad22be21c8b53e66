/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The byte mover for ranks on the same node. Packets go through rings. Large messages go through
 * rings too while both ends wait in MPI; otherwise the receiver copies them once from the peer's
 * memory (pull.c).
 *
 * A ring to a peer is made when the first packet is sent. It begins small (a page), and grows when
 * a payload does not fit or the ring is full. The receiver finds new rings in its inbox and polls
 * all that it knows. The sender never waits and never fences: after publishing a packet it reads
 * whether the receiver says that it sleeps (lib/node/doorbell.c).
 */

#include "lib/btl/btl.h"
#include "lib/btl/path.h"
#include "lib/btl/peer.h"
#include "lib/btl/shm/endpoint.h"
#include "lib/btl/shm/lines.h"
#include "lib/btl/shm/pull.h"
#include "lib/btl/shm/ring.h"
#include "lib/node/doorbell.h"
#include "lib/node/pieces.h"
#include "lib/node/segment.h"
#include "lib/rte/rte.h"
#include "lib/util/base/copy.h"
#include "lib/util/machine/copy_pages.h"
#include "lib/util/base/error.h"
#include "lib/util/base/log.h"

#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>

enum {
    PACKET_MAX = 32 * 1024,
    EAGER_MAX = PACKET_MAX,
    HEAD_MAX = 16 * 1024,
    BURST = 64,             /* packets taken from one ring before the next ring's turn */
};

/* Sizes that a ring has one after the other as it grows. It has the last one only if it was full
 * before: in a stream one way the sender then waits less, and lines rest longer before they are
 * written again. */
static const uint32_t ring_sizes[] = {4096, 32 * 1024, 256 * 1024, 512 * 1024};
/* LARGE: a ring of that level has room for long payloads, and may have cells beside it. */
enum { LEVELS = sizeof ring_sizes / sizeof *ring_sizes, LARGE = 3 };

/* Cells that a rank makes for a peer, at most, and each time; and if they are taken in turn, also
 * when others are left: a line then rests for a while before it is written again. */
enum { CELLS = 64, CELLS_AT_ONCE = 4, CELLS_IN_TURN = 8 };
_Static_assert((int)PACKET_MAX <= (int)TERN_RING_CELL, "a payload fits into a cell");

extern const struct tern_btl tern_btl_shm; /* below */

/* A ring to this rank. */
struct incoming {
    struct tern_ring_in in;
    struct tern_peer *peer;
    struct tern_shm_endpoint *back; /* our endpoint for the rank that sends by it */
};

/* A lane's endpoints and the rings to it. Locks: the lane's lock. */
static struct lane {
    struct tern_shm_endpoint *endpoints; /* by local rank */
    struct incoming *incoming;
    uint32_t incoming_count, incoming_room;
    uint32_t next; /* index of the ring to look at first */
    uint32_t announcements_seen; /* self->announced when all inboxes were last read */
    uint64_t inbox_seen[TERN_SEGMENT_LANES]; /* newest ring taken from each inbox */
} __attribute__((aligned(TERN_CACHE_LINE))) lanes[TERN_LANES_MAX];
_Static_assert((int)TERN_SEGMENT_LANES == (int)TERN_LANES_MAX, "an inbox for each lane");

/* of the rings and of the cells of all lanes; the bytes are atomic */
static uint64_t my_ring_bytes, my_ring_budget, my_cell_bytes;
static struct tern_segment_rank *self;
static int shm_init(void)
{
    if (tern_rte.local_size < 2) {
        int error = tern_segment_attend();
        return error ? error : tern_error(TERN_ERR_UNSUPPORTED, "no other rank on this node");
    }
    int rc = tern_segment_attach();
    if (rc)
        return rc;
    for (uint32_t i = 0; i < tern_lane_count; i++) {
        lanes[i].endpoints = calloc(tern_rte.local_size, sizeof *lanes[i].endpoints);
        if (!lanes[i].endpoints)
            return tern_error(TERN_ERR_NO_MEM, "no memory for %u endpoints", tern_rte.local_size);
    }
    self = tern_segment_rank(tern_rte.local_rank);
    my_ring_budget = tern_segment.core / tern_rte.local_size / 2;
    tern_lines_init();
    tern_shm_pull_init();
    tern_doorbell_use(&self->bell, &self->waiting_at);
    return 0;
}

static void close_lane(struct lane *lane)
{
    for (uint32_t i = 0; lane->endpoints && i < tern_rte.local_size; i++)
        tern_ring_close_out(&lane->endpoints[i].out);
    free(lane->endpoints);
    free(lane->incoming);
    *lane = (struct lane){0};
}

static void shm_finalize(void)
{
    tern_doorbell_use(NULL, NULL);
    for (uint32_t i = 0; i < tern_lane_count; i++)
        close_lane(&lanes[i]);
    my_ring_bytes = my_cell_bytes = 0;
    self = NULL;
    tern_segment_detach();
}

static bool shm_reaches(uint32_t job, uint32_t rank)
{
    return job == 0 && tern_rte_local_rank(rank) >= 0;
}

static struct tern_shm_endpoint *endpoint_of(const struct tern_peer *peer)
{
    uint32_t local_rank = (uint32_t)tern_rte_local_rank(peer->rank);
    struct tern_shm_endpoint *endpoint = &lanes[peer->lane].endpoints[local_rank];
    if (!endpoint->block) {
        endpoint->lane = peer->lane;
        endpoint->local_rank = local_rank;
        endpoint->block = tern_segment_rank(local_rank);
        endpoint->level_max = LEVELS;
        endpoint->cells_max = CELLS;
    }
    return endpoint;
}

static int shm_connect(struct tern_peer *peer)
{
    tern_path_set(&peer->path, "shm");
    peer->endpoint = endpoint_of(peer);
    peer->limits = (struct tern_limits){.packet_max = PACKET_MAX,
                                        .eager_max = EAGER_MAX,
                                        .eager_max_blocking = EAGER_MAX,
                                        .head_max = HEAD_MAX,
                                        .credit_factor = 1};
    return 0;
}

static int shm_connect_bulk(struct tern_peer *peer)
{
    peer->bulk_endpoint = endpoint_of(peer);
    return 0;
}

/* Makes a ring of the next level that has room for `length` bytes of payload. The system zeroes its
 * memory. */
static int make_ring(struct tern_shm_endpoint *endpoint, uint32_t length,
                     struct tern_ring_out *ret_out, uint64_t *ret_offset)
{
    uint32_t level = endpoint->level;
    while (level + 1 < endpoint->level_max && level + 1 < LARGE && length > ring_sizes[level] / 10)
        level++;
    for (; level >= endpoint->level && level < endpoint->level_max; level--) {
        uint64_t offset;
        uint64_t bytes = __atomic_load_n(&my_ring_bytes, __ATOMIC_RELAXED) + ring_sizes[level];
        uint64_t budget = level < LARGE ? my_ring_budget : my_ring_budget / 4;
        if ((level > 0 && bytes > budget) || tern_segment_allocate(ring_sizes[level], &offset)) {
            endpoint->level_max = level;
            if (endpoint->out.ring && level < LARGE)
                __atomic_store_n(&endpoint->out.ring->small, 1, __ATOMIC_RELAXED);
            if (level == 0)
                break;
            continue;
        }
        struct tern_ring *ring = (struct tern_ring *)(tern_segment.base + offset);
        tern_ring_format(ring, ring_sizes[level], tern_rte.local_rank);
        ring->lane = endpoint->lane;
        ring->small = endpoint->level_max < LARGE;
        int rc = tern_ring_open_out(ret_out, ring);
        if (rc)
            return rc;
        __atomic_fetch_add(&my_ring_bytes, ring_sizes[level], __ATOMIC_RELAXED);
        endpoint->level = level + 1;
        *ret_offset = offset;
        return 0;
    }
    return tern_error(TERN_ERR_NO_MEM,
                      "no shared memory left on this node for messages to local rank %u",
                      endpoint->local_rank);
}

/* Makes the first ring and puts it into the receiver's inbox for our lane. */
static int announce_ring(struct tern_shm_endpoint *endpoint, uint32_t length)
{
    uint64_t offset;
    int rc = make_ring(endpoint, length, &endpoint->out, &offset);
    if (rc)
        return rc;
    struct tern_ring *ring = endpoint->out.ring;
    uint64_t *inbox = &endpoint->block->inbox[endpoint->lane];
    uint64_t head = __atomic_load_n(inbox, __ATOMIC_RELAXED);
    do
        ring->next = head;
    /* release: a receiver that sees the offset sees a formatted ring */
    while (!__atomic_compare_exchange_n(inbox, &head, offset, true, __ATOMIC_RELEASE,
                                        __ATOMIC_RELAXED));
    /* release: a receiver that sees the count sees the ring in the inbox */
    __atomic_fetch_add(&endpoint->block->announced, 1, __ATOMIC_RELEASE);
    return 0;
}

/* Replaces the ring by a larger one, which the old ring's last packet names. Returns TERN_ERR_AGAIN
 * while the old ring has no room for that packet. */
static int grow_ring(struct tern_shm_endpoint *endpoint, uint32_t length)
{
    void *payload;
    uint64_t offset;
    if (!tern_ring_reserve(&endpoint->out, NULL, sizeof offset, &payload))
        return TERN_ERR_AGAIN;
    struct tern_ring_out larger;
    int rc = make_ring(endpoint, length, &larger, &offset);
    if (rc)
        return rc;
    memcpy(payload, &offset, sizeof offset);
    tern_ring_commit(&endpoint->out, &(struct tern_packet){.kind = TERN_RING_MOVED}, sizeof offset);
    tern_ring_close_out(&endpoint->out);
    endpoint->out = larger;
    return 0;
}

/* The slow half of reserving room: makes or grows the ring. Returns TERN_ERR_AGAIN if the ring is
 * full. */
static int reserve_slowly(struct tern_shm_endpoint *endpoint, struct tern_cells *cells,
                          uint32_t length, void **ret_payload)
{
    struct tern_ring_out *out = &endpoint->out;
    if (!out->ring) {
        int rc = announce_ring(endpoint, length);
        if (rc)
            return rc;
    }
    for (;;) {
        if (length <= out->payload_max) {
            if (tern_ring_reserve(out, cells, length, ret_payload))
                return 0;
            if (endpoint->level >= endpoint->level_max)
                return TERN_ERR_AGAIN;
        } else if (endpoint->level >= endpoint->level_max) {
            return TERN_ERR_NO_MEM;
        }
        int rc = grow_ring(endpoint, length);
        if (rc == TERN_ERR_NO_MEM && length <= out->payload_max)
            return TERN_ERR_AGAIN;
        if (rc)
            return rc;
    }
}

static inline int reserve(struct tern_shm_endpoint *endpoint, struct tern_cells *cells,
                          uint32_t length, void **ret_payload)
{
    struct tern_ring_out *out = &endpoint->out;
    if (TERN_LIKELY(length <= out->payload_max && out->ring) &&
        tern_ring_reserve(out, cells, length, ret_payload))
        return 0;
    return reserve_slowly(endpoint, cells, length, ret_payload);
}

/* Makes cells. If there is no memory for them, never tries again. */
static void make_cells(struct tern_shm_endpoint *endpoint)
{
    enum { BYTES = CELLS_AT_ONCE * TERN_RING_CELL };
    uint64_t offset, bytes = __atomic_load_n(&my_cell_bytes, __ATOMIC_RELAXED) + BYTES;
    if (bytes > my_ring_budget / 8 || tern_segment_allocate(BYTES, &offset)) {
        endpoint->cells_max = endpoint->cell_count;
        return;
    }
    __atomic_fetch_add(&my_cell_bytes, BYTES, __ATOMIC_RELAXED);
    endpoint->cell_count += CELLS_AT_ONCE;
    endpoint->cells.fresh = tern_segment.base + offset;
    endpoint->cells.fresh_end = endpoint->cells.fresh + BYTES;
}

/* Returns the cells for a part of a message of `length` bytes, or NULL. Makes some if none is left
 * and as many have come from the peer as were made before: so where messages go one way only, few
 * are made. A message that the cells of both ranks cannot hold uses none, because all of it goes
 * faster through the data area than a part. */
static struct tern_cells *cells_for(struct tern_shm_endpoint *endpoint, size_t length)
{
    if (length < TERN_RING_CELL_LEAST)
        return NULL;
    struct tern_cells *cells = &endpoint->cells;
    if (TERN_UNLIKELY(cells->in_turn != tern_copy_pages_gains()))
        tern_cells_order(cells, !cells->in_turn);
    if ((!tern_cells_any(cells) || (cells->in_turn && endpoint->cell_count < CELLS_IN_TURN)) &&
        endpoint->cell_count < endpoint->cells_max && endpoint->cell_count <= cells->came &&
        cells->fresh == cells->fresh_end && endpoint->level >= LARGE)
        make_cells(endpoint);
    return length <= (size_t)2 * endpoint->cells_max * TERN_RING_CELL ? cells : NULL;
}

static inline void publish(struct tern_shm_endpoint *endpoint, const struct tern_packet *packet,
                           uint32_t length)
{
    tern_ring_commit(&endpoint->out, packet, length);
    tern_doorbell_ring(&endpoint->block->bell);
}

static __attribute__((noinline)) int send_longer(struct tern_shm_endpoint *endpoint,
                                                 const struct tern_packet *packet,
                                                 const void *payload, size_t length)
{
    void *room;
    int rc = reserve(endpoint, cells_for(endpoint, length), length, &room);
    if (TERN_UNLIKELY(rc))
        return rc;
    if (length)
        memcpy(room, payload, length);
    publish(endpoint, packet, length);
    return 0;
}

static int shm_send(struct tern_peer *peer, const struct tern_packet *packet, const void *payload,
                    size_t length)
{
    struct tern_shm_endpoint *endpoint = peer->endpoint;
    void *room;
    if (length > TERN_RING_INLINE ||
        TERN_UNLIKELY(!endpoint->out.ring ||
                      !tern_ring_reserve(&endpoint->out, NULL, length, &room)))
        return send_longer(endpoint, packet, payload, length);
    tern_copy_few(room, payload, length);
    publish(endpoint, packet, length);
    return 0;
}
_Static_assert((int)TERN_COPY_FEW >= (int)TERN_RING_INLINE, "what a slot holds is few");
_Static_assert(sizeof(struct tern_rendezvous) <= TERN_RING_INLINE, "an announcement is one line");

enum {
    BY_WAY_MIN = 2048, /* bytes; for less, memcpy is a loop of ordinary stores */
    BY_WAY_BYTES = 8192,
    RUN_LONG = 4096,
};

/* Packs a long run into the ring's data area by pages in turn. Cells do not gain: their lines are
 * ours already. Returns false if it has done nothing. */
static bool pack_pages(const struct tern_shm_endpoint *endpoint, struct tern_cursor *cursor,
                       char *room, size_t length)
{
    const struct tern_ring *ring = endpoint->out.ring;
    struct tern_cursor ahead = *cursor;
    struct iovec run;
    if (length < TERN_COPY_PAGES_LEAST || cursor->memory ||
        !tern_ring_in_data(ring, room - tern_ring_data(ring)) ||
        tern_cursor_runs(&ahead, &run, 1, length, NULL) != 1 || run.iov_len != length)
        return false;
    tern_copy_pages(room, run.iov_base, length);
    *cursor = ahead;
    return true;
}

/* Packs the cursor's next bytes into the ring. The ring's lines are in the receiver's cache. An
 * ordinary store to such a line first fetches the line, only to overwrite it. A long memcpy does
 * not, because the processor writes whole lines (rep movsb). So scattered data is packed into a
 * buffer in our first-level cache, and copied from there. */
static void pack(const struct tern_shm_endpoint *endpoint, struct tern_cursor *cursor, char *room,
                 size_t length)
{
    char way[BY_WAY_BYTES] __attribute__((aligned(TERN_CACHE_LINE)));
    struct tern_cursor ahead = *cursor;
    struct iovec run;
    if (pack_pages(endpoint, cursor, room, length))
        return;
    if (length < BY_WAY_MIN || cursor->memory ||
        tern_cursor_runs(&ahead, &run, 1, RUN_LONG, NULL) != 1 ||
        run.iov_len == RUN_LONG) {
        tern_cursor_pack(cursor, room, length);
        return;
    }
    for (size_t done = 0; done < length;) {
        size_t part =
            tern_cursor_pack(cursor, way, length - done < sizeof way ? length - done : sizeof way);
        memcpy(room + done, way, part);
        done += part;
    }
}

static int shm_send_cursor(struct tern_peer *peer, const struct tern_packet *packet,
                           struct tern_cursor *cursor, size_t length)
{
    struct tern_shm_endpoint *endpoint = peer->endpoint;
    void *room;
    int rc = reserve(endpoint, cells_for(endpoint, cursor->length), length, &room);
    if (rc)
        return rc;
    pack(endpoint, cursor, room, length);
    publish(endpoint, packet, length);
    return 0;
}

static int shm_send_head(struct tern_peer *peer, const struct tern_packet *packet,
                         struct tern_cursor *cursor, size_t length,
                         const struct tern_rendezvous *rendezvous)
{
    struct tern_shm_endpoint *endpoint = peer->endpoint;
    size_t bytes = length + sizeof *rendezvous;
    void *room;
    int rc = reserve(endpoint, cells_for(endpoint, cursor->length), bytes, &room);
    if (rc)
        return rc;
    pack(endpoint, cursor, room, length);
    memcpy((char *)room + length, rendezvous, sizeof *rendezvous);
    publish(endpoint, packet, bytes);
    return 0;
}

static struct tern_ring *ring_at(uint64_t offset)
{
    struct tern_ring *ring = (struct tern_ring *)(tern_segment.base + offset);
    if (offset % TERN_CACHE_LINE || offset + sizeof *ring > tern_segment.size ||
        !tern_ring_sane(ring, tern_segment.size - offset) ||
        ring->source >= tern_segment.local_size || ring->lane >= TERN_SEGMENT_LANES) {
        tern_log("the node's shared memory is damaged: there is no ring at offset %#lx. The "
                 "program has overwritten it, or this is a bug of Tern",
                 (long)offset);
        abort();
    }
    return ring;
}

/* Makes an entry for one more ring. Returns NULL if there is no memory. */
static struct incoming *add_incoming(struct lane *lane)
{
    if (lane->incoming_count == lane->incoming_room) {
        uint32_t room = lane->incoming_room ? lane->incoming_room * 2 : 8;
        struct incoming *larger = realloc(lane->incoming, room * sizeof *larger);
        if (!larger)
            return NULL;
        lane->incoming = larger;
        lane->incoming_room = room;
    }
    return &lane->incoming[lane->incoming_count++];
}

/* Takes the rings announced in an inbox since the last call. If there is no memory, takes none and
 * returns false. */
static bool read_inbox(struct lane *lane, uint32_t inbox)
{
    uint32_t before = lane->incoming_count;
    /* acquire: pairs with the announcement */
    uint64_t newest = __atomic_load_n(&self->inbox[inbox], __ATOMIC_ACQUIRE);
    for (uint64_t offset = newest; offset != lane->inbox_seen[inbox];) {
        struct tern_ring *ring = ring_at(offset);
        struct incoming *entry = add_incoming(lane);
        if (entry)
            entry->peer = tern_peer_get(lane - lanes, 0, tern_rte.local_ranks[ring->source]);
        if (!entry || !entry->peer) {
            lane->incoming_count = before;
            return false;
        }
        __atomic_store_n(&entry->peer->came_by, &tern_btl_shm, __ATOMIC_RELAXED);
        entry->back = &lane->endpoints[ring->source];
        tern_ring_open_in(&entry->in, ring, &entry->back->cells);
        entry->back->in = ring;
        offset = ring->next;
    }
    lane->inbox_seen[inbox] = newest;
    return true;
}

/* Reads the inboxes of the senders' lanes that this lane serves. A peer may have more lanes than
 * this process. */
static void read_inboxes(struct lane *lane, uint32_t announced)
{
    bool all = true;
    for (uint32_t i = lane - lanes; i < TERN_SEGMENT_LANES; i += tern_lane_count)
        all &= read_inbox(lane, i);
    if (all) /* otherwise the next poll tries again */
        lane->announcements_seen = announced;
}

/* Follows the sender to its larger ring, and gives the old ring's pages back. */
static void follow_move(struct incoming *entry, const void *payload)
{
    uint64_t offset;
    memcpy(&offset, payload, sizeof offset);
    struct tern_ring *old = entry->in.ring;
    tern_ring_open_in(&entry->in, ring_at(offset), &entry->back->cells);
    entry->back->in = entry->in.ring;
    tern_segment_discard((char *)old - tern_segment.base, old->size);
}

/* Asks for the cache line of our next slot to the sender, before a short message is delivered. A
 * rank that gets a short message often answers with another, and the slot is in the cache of the
 * peer that polls it. Not for longer messages: their payload is written first, and meanwhile the
 * slot would be lost again. */
static inline void expect_answer(const struct tern_shm_endpoint *back)
{
    if (back->out.ring)
        tern_prefetch_write(tern_ring_slot(back->out.ring, back->out.mask, back->out.head));
}

/* Delivers packets of a ring. Returns their number. Sets *ret_more to false if the last posted
 * receive got its message (tern_btl_deliver). */
static int drain(struct incoming *entry, bool *ret_more)
{
    int count = 0;
    bool more = true;
    const void *payload;
    const struct tern_ring_slot *slot;
    while (more && count < BURST && (slot = tern_ring_peek(&entry->in, &payload))) {
        if (TERN_UNLIKELY(slot->packet.kind == TERN_RING_MOVED)) {
            follow_move(entry, payload);
            count++;
            continue;
        }
        uint32_t length = slot->length;
        if (count++ == 0 && length <= TERN_RING_INLINE)
            expect_answer(entry->back);
        more = tern_btl_deliver(entry->peer, &slot->packet, payload, length);
        if (TERN_UNLIKELY(tern_ring_consume(&entry->in, length)))
            tern_doorbell_ring(&tern_segment_rank(entry->in.ring->source)->bell);
    }
    if (count == 0) {
        tern_ring_rest(&entry->in);
        tern_ring_prepare(&entry->back->out);
    }
    *ret_more = more;
    return count;
}

static int shm_progress(uint32_t index)
{
    struct lane *lane = &lanes[index];
    int count = 0;
    /* acquire: pairs with the announcement */
    uint32_t announced = tern_load_acquire(&self->announced);
    if (TERN_UNLIKELY(announced != lane->announcements_seen))
        read_inboxes(lane, announced);
    uint32_t next = lane->next;
    for (uint32_t left = lane->incoming_count; left; left--) {
        bool more;
        count += drain(&lane->incoming[next], &more);
        if (++next == lane->incoming_count)
            next = 0;
        if (!more) {
            lane->next = next;
            break;
        }
    }
    return count;
}

const struct tern_btl tern_btl_shm = {
    .name = "shm",
    .init = shm_init,
    .finalize = shm_finalize,
    .leave = tern_program_leave,
    .come_back = tern_program_return,
    .reaches = shm_reaches,
    .connect = shm_connect,
    .connect_bulk = shm_connect_bulk,
    .send = shm_send,
    .send_batched = shm_send,
    .send_cursor = shm_send_cursor,
    .send_head = shm_send_head,
    .get = tern_shm_pull,
    .progress = shm_progress,
};
