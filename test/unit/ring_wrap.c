/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * A ring whose 32-bit counters pass 2^32: packets of all lengths go on in order, none is seen twice and none too early; and
 * whatever was sent before, a sender that waits for room always gets it. Then the two ends in two threads, which is where the
 * thread sanitizer sees whether all that they share is ordered by the ring's atomic words.
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

static uint32_t random_length(uint32_t most)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    uint32_t r = seed >> 33;
    return r % 3 == 0 ? r / 3 % (most + 1) : r / 3 % (2 * TERN_RING_INLINE);
}

/* As if 2^32 - `before` packets had passed already: every slot has the turn of its last packet. */
static void start_late(struct tern_ring *ring, struct tern_ring_out *out, struct tern_ring_in *in, uint32_t before)
{
    uint32_t number = -before;
    out->head = out->consumed = in->next = in->published = in->owned = ring->consumed = number;
    for (uint32_t i = 1; i <= ring->slot_count; i++)
        tern_ring_slot(ring, out->mask, number - i)->turn = number - i + 1;
}

static bool send_one(struct tern_ring_out *out, uint32_t id, uint32_t length)
{
    void *room;
    if (!tern_ring_reserve(out, length, &room))
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
    tern_ring_open_in(in, ring);
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
        while (sent < total && send_one(&out, sent, length)) {
            sent++;
            length = random_length(out.payload_max);
        }
        while (taken < sent && (sent == total || random_length(4) > 0)) {
            REQUIRE(take_one(&in, taken), "packet %u of %u sent is not there", taken, sent);
            taken++;
        }
        if (taken == sent && sent < total) {
            REQUIRE(!take_one(&in, taken), "packet %u comes before it was sent", taken);
            REQUIRE(send_one(&out, sent, out.payload_max), "no room for %u bytes although all is consumed", out.payload_max);
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
        while (!send_one(&out, sent, length))
            sched_yield();
    }
    pthread_join(taker, NULL);
    tern_ring_close_out(&out);
    free(ring);
}

int main(void)
{
    static const uint64_t sizes[] = {4096, 32 * 1024, 256 * 1024};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (int round = 0; round < 8; round++)
            pass(sizes[i]);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        pass_between_threads(sizes[i]);
    return 0;
}
