/* SPDX-License-Identifier: BSD-3-Clause */

/* How a peer is sought: which of its addresses are called when, what ends the search, and which words of the peer matter. The calls are
 * the test's own: it says what becomes of each. Also what becomes of the job's secret, which a call needs. */

#include "lib/btl/secret.c"

#include "lib/node/doorbell.h"
#include "lib/btl/card.h"
#include "lib/btl/tcp/dial.h"
#include "lib/btl/tcp/listener.h"
#include "lib/btl/tcp/lane_links.h"
#include "lib/rte/rte.h"
#include "lib/util/net/launcher.h"
#include "suite.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { OWN = 0, PEER = 1, TAG = 0, ADDRESSES = 3, ROUND_MS = 700 };

static struct {
    uint64_t now_ms;
    struct tern_tcp_contact *contact;
    const struct tern_tcp_pair *open[ADDRESSES]; /* the call to each address of the peer, or NULL */
    int called[ADDRESSES];                       /* how often */
    int addresses;                               /* that the peer has */
    bool lost;                                   /* the lanes have been told so */
    bool passed_on;                              /* the launcher passes on what we tell the peer */
    int told[TERN_UNREACHED_GAVE_UP + 1];        /* how often the peer was told so */
    bool launcher_has_none;                      /* the launcher gives no secret: rank 0 publishes it */
    struct tern_rte_fetch *fetch;                /* the question for rank 0's secret */
} at;

/* ---- in place of the rest of the library ---- */

struct tern_rte tern_rte = {.job = "job", .rank = OWN, .size = 2, .local_size = 1, .host = "here"};
struct tern_tcp_door tern_tcp_door = {.fd = -1};

uint64_t tern_tcp_now_ms(void)
{
    return at.now_ms;
}

bool tern_rte_secret(char *text, size_t room)
{
    memset(text, '7', room - 1);
    text[room - 1] = 0;
    return !at.launcher_has_none;
}

int tern_rte_fetch(uint32_t rank, const char *key, bool anew, struct tern_rte_fetch *fetch)
{
    ck_assert(rank == 0 && *key && !anew && !at.fetch); /* it is asked for once */
    at.fetch = fetch;
    return 0;
}

int tern_rte_put(const char *key, const void *value, size_t length)
{
    (void)key, (void)value, (void)length;
    return 0;
}

void tern_doorbell_ring_self(void)
{
}

int64_t tern_rte_local_rank(uint32_t rank)
{
    return rank == OWN ? 0 : -1;
}

void tern_rte_host_of(uint32_t rank, char *name, size_t room)
{
    snprintf(name, room, "host%u", rank);
}

uint32_t tern_rte_program(void)
{
    return 1;
}

bool tern_rte_forget(struct tern_rte_fetch *fetch)
{
    return fetch->rank == PEER;
}

bool tern_rte_tell_unreached(uint32_t rank, enum tern_unreached how, uint32_t lanes,
                             const char *text)
{
    ck_assert(rank == PEER && lanes == 1u << TAG && *text);
    at.told[how] += at.passed_on;
    return at.passed_on;
}

uint32_t tern_tcp_lanes_of(uint32_t index)
{
    return 1u << index;
}

void tern_tcp_lose(struct tern_process process, uint32_t lanes, const char *text)
{
    ck_assert(process.job == 0 && process.rank == PEER && lanes == 1u << TAG && *text);
    at.lost = true;
}

static struct tern_tcp_address address(int index)
{
    return (struct tern_tcp_address){.family = 4, .port = 1, .bytes = {10, (unsigned char)index, 0, 1}, .interface = "eth0"};
}

int tern_rte_seek(uint32_t rank, bool anew, struct tern_rte_fetch *fetch)
{
    struct tern_card *card = calloc(1, sizeof *card);
    struct tern_tcp_address list[ADDRESSES];
    (void)anew;
    for (int i = 0; i < at.addresses; i++)
        list[i] = address(i);
    char record[TERN_CARD_MOST - sizeof(struct tern_card_head)];
    size_t length = tern_tcp_record_write(list, at.addresses, record, sizeof record);
    size_t size = tern_card_write(card->bytes, "tcp", record, length);
    card->own = 1; /* the port */
    fetch->value = card;
    fetch->length = sizeof card->own + size;
    fetch->error = 0;
    fetch->rank = rank;
    fetch->done = true;
    return 0;
}

void tern_tcp_dial(struct tern_tcp_contact *contact, const struct tern_tcp_pair *pair, uint8_t index)
{
    int where = tern_tcp_search_address(contact, pair)->bytes[1];
    ck_assert(index == 0 && !at.open[where]); /* never two calls to one address */
    at.open[where] = pair;
    at.called[where]++;
    contact->calls++;
    contact->connecting++;
}

/* ---- what happens ---- */

static void begin(int addresses)
{
    tern_tcp_searches_free();
    memset(&at, 0, sizeof at);
    memset(&secret, 0, sizeof secret);
    at.now_ms = 1000000;
    at.addresses = addresses;
    tern_tcp_door.own[0] = (struct tern_tcp_address){.family = 4, .port = 2, .bytes = {10, 0, 0, 2}, .prefix = 8, .interface = "eth0"};
    tern_tcp_door.own_count = 1;
    at.contact = tern_tcp_search_of((struct tern_process){0, PEER}, TAG);
    ck_assert_int_eq(tern_tcp_search_begin(at.contact), 0);
}

static void miss(int where, enum tern_tcp_miss how)
{
    const struct tern_tcp_pair *pair = at.open[where];
    at.open[where] = NULL;
    tern_tcp_search_missed(at.contact, pair, how, "it is not there");
    at.contact->calls--;
    at.contact->connecting--;
}

/* Time goes by, in which each call to the first `refusing` addresses is refused at once. */
static void pass(unsigned ms, int refusing)
{
    for (unsigned i = 0; i <= ms; i += 10) {
        tern_tcp_searches_go_on(at.now_ms);
        for (int where = 0; where < refusing; where++)
            if (at.open[where])
                miss(where, TERN_TCP_REFUSED);
        at.now_ms += 10;
    }
}

/* ---- what must come of it ---- */

START_TEST(a_search_goes_on_while_the_peer_s_own_call_is_arriving)
{
    begin(1);
    pass(0, 0);
    at.contact->arriving = 1;
    miss(0, TERN_TCP_NO_WAY);
    pass(30000, 0);
    ck_assert(!at.lost);
    at.contact->arriving = 0; /* it brings no link */
    pass(10, 0);
    ck_assert(at.lost);
}
END_TEST

START_TEST(a_link_ends_the_search)
{
    begin(1);
    pass(0, 0);
    at.contact->links = 1; /* the peer's call has brought one */
    pass(10, 0);
    ck_assert(!at.contact->search && !at.lost);
}
END_TEST

START_TEST(the_peer_is_asked_to_call_when_a_round_has_failed)
{
    begin(2);
    at.passed_on = true;
    pass(0, 0);
    miss(0, TERN_TCP_REFUSED);
    ck_assert_int_eq(at.told[TERN_UNREACHED_CALL], 0);
    pass(30000, 2);
    ck_assert_int_eq(at.told[TERN_UNREACHED_CALL], 1);
    ck_assert_int_eq(at.told[TERN_UNREACHED_GAVE_UP], 1);
    ck_assert(!at.lost); /* the peer may still come */
    at.contact->links = 1;
    tern_tcp_search_found(at.contact);
    pass(10, 0);
    ck_assert(!at.contact->search && !at.lost && !at.told[TERN_UNREACHED_LOST]);
}
END_TEST

START_TEST(a_search_fails_when_both_have_given_up)
{
    for (int first = 0; first < 2; first++) {
        begin(1);
        at.passed_on = true;
        if (first)
            tern_tcp_search_heed(at.contact, TERN_UNREACHED_GAVE_UP);
        pass(first ? 100 : 30000, 1);
        ck_assert(!at.lost);
        if (first)
            pass(30000, 1);
        else
            tern_tcp_search_heed(at.contact, TERN_UNREACHED_GAVE_UP);
        ck_assert(at.lost);
        ck_assert_int_eq(at.told[TERN_UNREACHED_GAVE_UP], 1);
        ck_assert_int_ge(at.told[TERN_UNREACHED_LOST], 1);
    }
}
END_TEST

START_TEST(a_peer_that_asks_is_called)
{
    begin(1);
    at.contact->links = 1;
    pass(10, 0);
    at.contact->links = 0; /* nobody seeks the peer */
    at.passed_on = true;
    tern_tcp_search_heed(at.contact, TERN_UNREACHED_CALL);
    pass(0, 0);
    ck_assert_int_eq(at.called[0], 1);
    miss(0, TERN_TCP_NO_WAY);
    pass(100, 0);
    ck_assert_int_eq(at.told[TERN_UNREACHED_GAVE_UP], 1);
    ck_assert(!at.lost);
}
END_TEST

/* Answers the question for the secret. `value` NULL: with the error NOT_FOUND. */
static void answer(const void *value, size_t length)
{
    if (value && (at.fetch->value = malloc(length)))
        memcpy(at.fetch->value, value, length);
    at.fetch->length = length;
    at.fetch->error = value ? 0 : TERN_ERR_OTHER;
    snprintf(at.fetch->text, sizeof at.fetch->text, "NOT_FOUND");
    at.fetch->done = true;
}

static void begin_without_secret(void)
{
    begin(1);
    at.launcher_has_none = true;
    pass(30000, 1);
    ck_assert(at.fetch && !at.lost);
    ck_assert_int_eq(at.called[0], 0); /* nobody is called before the secret is there */
}

START_TEST(a_call_waits_for_the_secret)
{
    unsigned char bytes[TERN_SECRET_BYTES] = {1, 2, 3};
    begin_without_secret();
    ck_assert(!tern_secret_failure() && !tern_secret_drops_visitors());
    answer(bytes, sizeof bytes);
    pass(0, 0);
    ck_assert(!at.lost);
    ck_assert_int_eq(at.called[0], 1);
    ck_assert_mem_eq(tern_secret(), bytes, sizeof bytes);
    ck_assert(!tern_secret_failure());
}
END_TEST

START_TEST(a_secret_that_never_comes_ends_the_search)
{
    for (int wrong_length = 0; wrong_length < 2; wrong_length++) {
        begin_without_secret();
        answer(wrong_length ? "short" : NULL, 5);
        pass(10, 0);
        ck_assert(at.lost);
        ck_assert_int_eq(at.called[0], 0);
        ck_assert(!tern_secret() && tern_secret_drops_visitors());
        ck_assert(strstr(tern_secret_failure(), wrong_length ? "length" : "NOT_FOUND"));
        ck_assert(strstr(tern_secret_failure(), "btl"));
    }
}
END_TEST

START_TEST(a_launcher_that_passes_nothing_on_ends_the_search)
{
    begin(1);
    pass(30000, 1);
    ck_assert(at.lost);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("contact");
    TCase *tests = suite_case(suite, "contact");
    tcase_add_test(tests, a_search_goes_on_while_the_peer_s_own_call_is_arriving);
    tcase_add_test(tests, a_link_ends_the_search);
    tcase_add_test(tests, the_peer_is_asked_to_call_when_a_round_has_failed);
    tcase_add_test(tests, a_search_fails_when_both_have_given_up);
    tcase_add_test(tests, a_peer_that_asks_is_called);
    tcase_add_test(tests, a_call_waits_for_the_secret);
    tcase_add_test(tests, a_secret_that_never_comes_ends_the_search);
    tcase_add_test(tests, a_launcher_that_passes_nothing_on_ends_the_search);
    return suite_run(suite);
}
