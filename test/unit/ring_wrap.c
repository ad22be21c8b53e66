/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * A ring whose 32-bit counters pass 2^32: packets of all lengths go on in order, none is seen twice and none too early; and
 * whatever was sent before, a sender that waits for room always gets it. Then the two ends in two threads, which is where the
 * thread sanitizer sees whether all that they share is ordered by the ring's atomic words; and two rings whose cells change
 * hands, of which none may be lost, none twice in use.
 */

#include "require.h"

#include "lib/btl/shm/ring.h"

#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LAPS = 4, BETWEEN_THREADS = 20000 };

static uint64_t seed = 1;

static uint32_t next_length(uint64_t *state, uint32_t most)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    uint32_t r = *state >> 33;
    return r % 3 == 0 ? r / 3 % (most + 1) : r / 3 % (2 * TERN_RING_INLINE);
}

static uint32_t random_length(uint32_t most)
{
    return next_length(&seed, most);
}

/* As if 2^32 - `before` packets had passed already: every slot has the turn of its last packet. */
static void start_late(struct tern_ring *ring, struct tern_ring_out *out, struct tern_ring_in *in, uint32_t before)
{
    uint32_t number = -before;
    out->head = out->consumed = in->next = in->published = in->owned = ring->consumed = number;
    for (uint32_t i = 1; i <= ring->slot_count; i++)
        tern_ring_slot(ring, out->mask, number - i)->turn = number - i + 1;
}

static bool send_one(struct tern_ring_out *out, struct tern_cells *cells, uint32_t id, uint32_t length)
{
    void *room;
    if (!tern_ring_reserve(out, cells, length, &room))
        return false;
    memset(room, (int)(id * 7 + length), length);
    tern_ring_commit(out, &(struct tern_packet){.kind = TERN_PACKET_EAGER, .id = id}, length);
    return true;
}

static bool take_one(struct tern_ring_in *in, uint32_t id)
{
    const void *payload;
    const struct tern_ring_slot *slot = tern_ring_peek(in, &payload);
    if (!slot)
        return false;
    uint32_t length = slot->length;
    REQUIRE(slot->packet.id == id, "packet %u comes where %u is expected", slot->packet.id, id);
    const unsigned char *bytes = payload;
    REQUIRE(!length || (*bytes == (unsigned char)(id * 7 + length) && !memcmp(bytes, bytes + 1, length - 1)), "packet %u has other bytes", id);
    tern_ring_consume(in, length);
    return true;
}

static struct tern_ring *open_ring(uint64_t size, struct tern_ring_out *out, struct tern_ring_in *in)
{
    struct tern_ring *ring = aligned_alloc(TERN_CACHE_LINE, size);
    REQUIRE(ring, "no memory for a ring of %lu bytes", (long)size);
    memset(ring, 0, size);
    tern_ring_format(ring, size, 0);
    REQUIRE(tern_ring_open_out(out, ring) == 0, "the ring cannot be opened");
    tern_ring_open_in(in, ring, NULL);
    return ring;
}

static void pass(uint64_t size)
{
    struct tern_ring_out out;
    struct tern_ring_in in;
    struct tern_ring *ring = open_ring(size, &out, &in);
    uint32_t total = 2 * LAPS * ring->slot_count;
    start_late(ring, &out, &in, total / 2);
    REQUIRE(!take_one(&in, 0), "an empty ring has a packet");
    for (uint32_t sent = 0, taken = 0; taken < total;) {
        uint32_t length = random_length(out.payload_max);
        while (sent < total && send_one(&out, NULL, sent, length)) {
            sent++;
            length = random_length(out.payload_max);
        }
        while (taken < sent && (sent == total || random_length(4) > 0)) {
            REQUIRE(take_one(&in, taken), "packet %u of %u sent is not there", taken, sent);
            taken++;
        }
        if (taken == sent && sent < total) {
            REQUIRE(!take_one(&in, taken), "packet %u comes before it was sent", taken);
            REQUIRE(send_one(&out, NULL, sent, out.payload_max), "no room for %u bytes although all is consumed", out.payload_max);
            sent++;
        }
    }
    tern_ring_close_out(&out);
    free(ring);
}

static void *take_all(void *in)
{
    for (uint32_t taken = 0; taken < BETWEEN_THREADS;)
        if (take_one(in, taken))
            taken++;
        else
            sched_yield();
    return NULL;
}

static void pass_between_threads(uint64_t size)
{
    struct tern_ring_out out;
    struct tern_ring_in in;
    struct tern_ring *ring = open_ring(size, &out, &in);
    pthread_t taker;

    REQUIRE(pthread_create(&taker, NULL, take_all, &in) == 0, "no thread");
    for (uint32_t sent = 0; sent < BETWEEN_THREADS; sent++) {
        uint32_t length = random_length(out.payload_max);
        while (!send_one(&out, NULL, sent, length)) {
            tern_ring_prepare(&out);
            sched_yield();
        }
    }
    pthread_join(taker, NULL);
    tern_ring_close_out(&out);
    free(ring);
}

/* --- cells --- */

/* A rank that sends and receives. */
struct end {
    struct tern_ring_out out;
    struct tern_ring_in in;
    struct tern_cells cells;
    uint64_t seed;
    uint32_t sent, taken, cells_sent;
    bool changes_order;
};

static bool send_random(struct end *end)
{
    uint64_t before = end->seed;
    uint32_t length = next_length(&end->seed, end->out.payload_max < TERN_RING_CELL ? end->out.payload_max : TERN_RING_CELL);
    uint32_t data_head = end->out.data_head;
    if (end->changes_order && end->sent % 7 == 0)
        tern_cells_order(&end->cells, end->sent % 2);
    if (!send_one(&end->out, &end->cells, end->sent, length)) {
        end->seed = before;
        return false;
    }
    end->cells_sent += length > TERN_RING_INLINE && end->out.data_head == data_head;
    end->sent++;
    return true;
}

static void *live(void *context)
{
    struct end *end = context;
    while (end->sent < BETWEEN_THREADS || end->taken < BETWEEN_THREADS) {
        bool did = end->sent < BETWEEN_THREADS && send_random(end);
        if (end->taken < BETWEEN_THREADS && take_one(&end->in, end->taken)) {
            end->taken++;
            did = true;
        }
        if (!did) {
            tern_ring_rest(&end->in);
            tern_ring_prepare(&end->out);
            sched_yield();
        }
    }
    return NULL;
}

/* The cells of two ends are all there in the end, none twice. `changes`: each end changes the order of its own now and then. */
static void change_hands(bool in_turn, bool changes)
{
    enum { SIZE = 256 * 1024, CELLS = 4, ALL = SIZE + CELLS * TERN_RING_CELL };
    struct end ends[2] = {{.seed = 3}, {.seed = 4}};
    char *memory = aligned_alloc(TERN_CACHE_LINE, 2 * ALL);
    REQUIRE(memory, "no memory for two rings");
    memset(memory, 0, 2 * ALL);
    for (int i = 0; i < 2; i++) {
        struct tern_ring *ring = (struct tern_ring *)(memory + i * ALL);
        tern_ring_format(ring, SIZE, 0);
        REQUIRE(tern_ring_open_out(&ends[i].out, ring) == 0, "the ring cannot be opened");
        tern_ring_open_in(&ends[!i].in, ring, &ends[!i].cells);
        ends[i].cells.in_turn = in_turn;
        ends[i].changes_order = changes;
        ends[i].cells.fresh = memory + i * ALL + SIZE;
        ends[i].cells.fresh_end = memory + (i + 1) * ALL;
    }
    pthread_t other;
    REQUIRE(pthread_create(&other, NULL, live, &ends[1]) == 0, "no thread");
    live(&ends[0]);
    pthread_join(other, NULL);
    int count = 0;
    for (int i = 0; i < 2; i++) {
        REQUIRE(ends[i].cells_sent > CELLS, "end %d sent %u payloads by cell", i, ends[i].cells_sent);
        for (char *cell; (cell = tern_cells_take(&ends[i].cells)); count++) {
            size_t offset = (size_t)(cell - memory) % ALL;
            REQUIRE(offset >= SIZE && (offset - SIZE) % TERN_RING_CELL == 0, "a cell lies at %zu", offset);
            REQUIRE(*(uint32_t *)(cell + sizeof(void *)) != 0xce11ce11, "a cell is there twice");
            *(uint32_t *)(cell + sizeof(void *)) = 0xce11ce11;
        }
        tern_ring_close_out(&ends[i].out);
    }
    REQUIRE(count == 2 * CELLS, "of %d cells %d are left", 2 * CELLS, count);
    free(memory);
}

int main(void)
{
    static const uint64_t sizes[] = {4096, 32 * 1024, 256 * 1024};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (int round = 0; round < 8; round++)
            pass(sizes[i]);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        pass_between_threads(sizes[i]);
    change_hands(false, false);
    change_hands(true, false);
    change_hands(false, true);
    return 0;
}
