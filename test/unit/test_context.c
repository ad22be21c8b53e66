/* SPDX-License-Identifier: BSD-3-Clause */

/* Context ids never run out: they wrap, pass over those that are open, and never are those of MPI_COMM_WORLD and the
 * other communicators that need no agreement. What a context takes for ranks that nobody talks to; what may go straight to
 * a receive of it. */

#include "lib/pml/context.h"
#include "lib/pml/lane.h"
#include "lib/pml/pml_request.h"
#include "lib/rte/rte.h"
#include "suite.h"

#include <check.h>
#include <malloc.h>
#include <stdlib.h>

enum { OPEN = 3, LEAST = 32 };
static const uint64_t ROUND = (uint64_t)1 << 27;

static size_t heap_bytes(void)
{
    struct mallinfo2 info = mallinfo2();
    return info.uordblks + info.hblkhd;
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

int main(void)
{
    Suite *suite = suite_create("context");
    TCase *tests = suite_case(suite, "context");
    tcase_set_timeout(tests, 600);
    tcase_add_test(tests, ranks_that_nobody_talks_to_take_an_address_and_two_numbers);
    tcase_add_test(tests, only_a_message_may_go_straight_to_its_receive);
    tcase_add_test(tests, a_lost_peer_keeps_the_first_reason_and_leaves_nothing);
    tcase_add_test(tests, ids_wrap_and_pass_over_open_ones);
    return suite_run(suite);
}
