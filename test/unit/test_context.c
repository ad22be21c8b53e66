/* SPDX-License-Identifier: BSD-3-Clause */

/* Context ids never run out: they wrap, pass over those that are open or kept for later, and never are those of
 * MPI_COMM_WORLD and the other communicators that need no agreement. What a context takes for ranks that nobody talks to; what may go straight to
 * a receive of it. */

#include "lib/pml/context.h"
#include "lib/pml/lane.h"
#include "lib/pml/pml_request.h"
#include "lib/rte/rte.h"
#include "random.h"
#include "suite.h"

#include <check.h>
#include <malloc.h>
#include <stdlib.h>

enum { OPEN = 3, LEAST = 32 };
static const uint64_t ROUND = (uint64_t)1 << 27;

static size_t heap_bytes(void)
{
#if __GLIBC_PREREQ(2, 33)
    struct mallinfo2 info = mallinfo2();
    return info.uordblks + info.hblkhd;
#else /* enough for what is measured here, some MiB */
    struct mallinfo info = mallinfo();
    return (unsigned)info.uordblks + (unsigned)info.hblkhd;
#endif
}

/* A job of a million ranks, of whom we talk to one. */
START_TEST(ranks_that_nobody_talks_to_take_an_address_and_two_numbers)
{
    enum { RANKS = 1 << 20, EACH = sizeof(void *) + 2 * sizeof(uint16_t) };
    static const struct tern_run all = {.stride = 1, .count = RANKS};
    static struct tern_context context;
    tern_lanes_init();
    size_t before = heap_bytes();
    struct tern_peers *peers = tern_peers_new(RANKS, &all, 1);
    ck_assert_int_eq(tern_context_open(&context, 32, 0, peers, NULL), 0);
    size_t taken = heap_bytes() - before;
    ck_assert_uint_le(taken, (size_t)RANKS * EACH + 16384);
    ck_assert_ptr_null(tern_peer_newest());
    struct tern_peer *peer = tern_context_peer(&context, 77777);
    ck_assert(peer && tern_peer_is(peer, (struct tern_process){0, 77777}));
    ck_assert_ptr_eq(tern_context_peer(&context, 77777), peer);
    ck_assert_ptr_eq(tern_context_known_peer(&context, 77777), peer);
    ck_assert_ptr_null(tern_context_known_peer(&context, 77778));
    ck_assert(tern_peer_newest() == peer && !peer->all_next);
    tern_context_close(&context);
    tern_peers_release(peers);
    tern_peer_free_all();
}
END_TEST

/* What a byte mover asks when a packet comes in pieces. An announcement is no message yet, and an answer never: taken for one they
 * would complete the receive with their own bytes. */
START_TEST(only_a_message_may_go_straight_to_its_receive)
{
    static const struct tern_run two = {.stride = 1, .count = 2};
    static struct tern_context context;
    char in[64];
    struct tern_cursor to;
    struct tern_request *request;
    tern_lanes_init();
    struct tern_peers *peers = tern_peers_new(2, &two, 1);
    ck_assert_int_eq(tern_context_open(&context, 0, 0, peers, NULL), 0);
    struct tern_peer *from = tern_context_peer(&context, 1);
    for (int kind = 1; kind <= TERN_PACKET_CREDIT; kind++) {
        bool is_message = kind == TERN_PACKET_EAGER || kind == TERN_PACKET_EAGER_SYNC;
        struct tern_packet packet = {.kind = (uint8_t)kind, .source = 1, .seq = context.recv_seq[1]};
        ck_assert_int_eq(tern_pml_irecv(&context, in, sizeof in, &tern_type_bytes, 1, 0, &request), 0);
        void *owner = tern_pml_place(from, &packet, 32, &to);
        ck_assert_ptr_eq(owner, is_message ? (void *)request : NULL);
        if (!owner)
            request->kind->cancel(request);
        request->kind->release(request);
    }
    tern_context_close(&context);
    tern_peers_release(peers);
    tern_peer_free_all();
}
END_TEST

START_TEST(a_lost_peer_keeps_the_first_reason_and_leaves_nothing)
{
    enum { ROUNDS = 1000 };
    tern_lanes_init();
    size_t before = heap_bytes();
    for (int round = 0; round < ROUNDS; round++) {
        struct tern_peer *peer = tern_peer_get(0, 0, 7);
        char text[] = "the first reason";
        ck_assert(tern_peer_lose(peer, text));
        text[4] = 'X';
        ck_assert(!tern_peer_lose(peer, "another one"));
        ck_assert_str_eq(peer->lost, "the first reason");
        tern_peer_free_all();
    }
    ck_assert_uint_lt(heap_bytes() - before, ROUNDS * sizeof "the first reason");
}
END_TEST

START_TEST(ids_wrap_and_pass_over_open_ones)
{
    static struct tern_context contexts[OPEN];
    uint64_t open[OPEN], first, id;
    static const struct tern_run self = {.count = 1};
    struct tern_peers *peers = tern_peers_new(1, &self, 1);
    tern_rte.rank = 5;
    tern_lanes_init();
    first = tern_context_new_id();
    ck_assert_uint_ge(first, LEAST);
    for (int i = 0; i < OPEN; i++) {
        open[i] = tern_context_new_id();
        /* one as point to point, the others as collective contexts */
        ck_assert_int_eq(tern_context_open(&contexts[i], open[i] + (i > 0), 0, peers, NULL), 0);
    }
    uint64_t count = 1 + OPEN;
    do {
        id = tern_context_new_id();
        if (id % 2 || (id & (2 * ROUND - 1)) < LEAST || id == open[0] || id == open[1] || id == open[2])
            ck_abort_msg("id %#lx after %lu others", (long)id, (long)count);
        count++;
    } while (id != first && count < 3 * ROUND);
    ck_assert_uint_eq(id, first);
    ck_assert_uint_gt(count, ROUND - 2 * LEAST); /* all others came in between */
    ck_assert_uint_gt(tern_context_new_id(), open[OPEN - 1]);
    for (int i = 0; i < OPEN; i++)
        tern_context_close(&contexts[i]);
    tern_peers_release(peers);
}
END_TEST

/* Against a plain table: what holds each number. */
enum { FIRST = 16, LIMIT = 300, RANGES = 12, MOST = 64 };
static bool opened[LIMIT], kept[LIMIT];

static bool is_opened(uint32_t number)
{
    return opened[number];
}

static bool has_room(uint32_t count)
{
    uint32_t row = 0;
    for (uint32_t number = FIRST; number < LIMIT && row < count; number++)
        row = opened[number] || kept[number] ? 0 : row + 1;
    return row == count;
}

static void drop(struct tern_id_range *range)
{
    for (uint32_t number = range->first; number < range->first + range->count; number++)
        kept[number] = false;
    tern_ids_drop(range);
}

START_TEST(no_number_is_given_out_twice_at_a_time)
{
    static struct tern_id_range ranges[RANGES];
    struct tern_ids ids;
    uint32_t full = 0, taken = 0;
    tern_ids_init(&ids, FIRST, LIMIT, is_opened);
    seed = 7;
    for (int step = 0; step < 200000; step++) {
        struct tern_id_range *range = &ranges[choose(0, RANGES - 1)];
        uint32_t count = (uint32_t)choose(1, choose(1, MOST)), one = (uint32_t)choose(FIRST, LIMIT - 1);
        opened[one] = false;
        drop(range);
        bool keep = choose(0, 2), room = has_room(count), ascends = !ids.wrapped;
        uint32_t next = ids.next, first = tern_ids_take(&ids, count, keep ? range : NULL);
        /* until all have been given out once none comes again, even if it is free */
        ck_assert(!ascends || ids.wrapped || first == next);
        ck_assert_int_eq(first != 0, room);
        full += !first;
        taken += first != 0;
        for (uint32_t number = first; first && number < first + count; number++) {
            ck_assert(number >= FIRST && number < LIMIT);
            ck_assert_msg(!opened[number] && !kept[number], "number %u was held", number);
            *(keep ? &kept[number] : &opened[number]) = true;
        }
    }
    ck_assert_uint_gt(full, 1000);
    ck_assert_uint_gt(taken, 1000);
}
END_TEST

/* Ids that a communicator keeps for its duplicates. */
START_TEST(kept_ids_are_passed_over_when_ids_wrap)
{
    static struct tern_id_range range;
    enum { COUNT = 4096 };
    tern_rte.rank = 5;
    tern_lanes_init();
    uint64_t first = tern_context_new_ids(COUNT, &range), id, before = first;
    bool wrapped = false;
    for (uint64_t count = 0; !wrapped || before < first + 4 * (uint64_t)COUNT; count++) {
        id = tern_context_new_ids(1024, NULL);
        ck_assert(id >= first + 2 * (uint64_t)COUNT || id + 2 * 1024 <= first);
        ck_assert_uint_lt(count, ROUND / 1024 + 100);
        wrapped |= id < before;
        before = id;
    }
    tern_ids_drop(&range);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("context");
    TCase *tests = suite_case(suite, "context");
    tcase_set_timeout(tests, 600);
    tcase_add_test(tests, ranks_that_nobody_talks_to_take_an_address_and_two_numbers);
    tcase_add_test(tests, only_a_message_may_go_straight_to_its_receive);
    tcase_add_test(tests, a_lost_peer_keeps_the_first_reason_and_leaves_nothing);
    tcase_add_test(tests, ids_wrap_and_pass_over_open_ones);
    tcase_add_test(tests, no_number_is_given_out_twice_at_a_time);
    tcase_add_test(tests, kept_ids_are_passed_over_when_ids_wrap);
    return suite_run(suite);
}
