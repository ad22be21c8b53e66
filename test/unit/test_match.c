/* SPDX-License-Identifier: BSD-3-Clause */

/* Matching against the definition: two plain lists searched from the front (MPI-4.1 section 3.5, order). */

#include "lib/pml/match.h"

#include <check.h>
#include <stdlib.h>

enum { STEPS = 200000, MOST = 400, SOURCES = 5, TAGS = 6 };

static struct tern_context contexts[2] = {{.lane = tern_lanes}, {.lane = tern_lanes}};

/* The naive queues, oldest first. */
static struct tern_pml_request *posted[MOST];
static struct tern_unexpected *messages[MOST];
static int posted_count, message_count;

static bool takes(int source, int tag, const struct tern_packet *packet)
{
    return (source == MPI_ANY_SOURCE || source == packet->source) && (tag == packet->tag || (tag == MPI_ANY_TAG && packet->tag >= 0));
}

static void drop(void **list, int *count, int at)
{
    (*count)--;
    for (int i = at; i < *count; i++)
        list[i] = list[i + 1];
}

static int random_source(void)
{
    return rand() % 4 == 0 ? MPI_ANY_SOURCE : rand() % SOURCES;
}

/* Any tag, an ordinary one, or an internal one below MPI_ANY_TAG. */
static int random_tag(bool wild)
{
    if (wild && rand() % 4 == 0)
        return MPI_ANY_TAG;
    return rand() % 8 == 0 ? -10 - rand() % 2 : rand() % TAGS;
}

/* A receive: takes the oldest message that fits, or is posted. */
static void receive(void)
{
    struct tern_context *context = &contexts[rand() % 2];
    int source = random_source(), tag = random_tag(true), at = 0;
    while (at < message_count && (messages[at]->context != context || !takes(source, tag, &messages[at]->packet)))
        at++;
    struct tern_unexpected *found = tern_match_unexpected(context, source, tag);
    if (at < message_count) {
        ck_assert_ptr_eq(found, messages[at]);
        tern_match_remove(found);
        free(found);
        drop((void **)messages, &message_count, at);
        return;
    }
    ck_assert_ptr_null(found);
    if (posted_count == MOST)
        return;
    struct tern_pml_request *request = calloc(1, sizeof *request);
    request->context = context;
    request->rank = source;
    request->tag = tag;
    tern_match_post(request);
    posted[posted_count++] = request;
}

/* A message: goes to the oldest receive that takes it, or is kept. */
static void arrive(void)
{
    struct tern_context *context = &contexts[rand() % 2];
    struct tern_packet packet = {.kind = TERN_PACKET_EAGER, .source = rand() % SOURCES, .tag = random_tag(false)};
    int at = 0;
    while (at < posted_count && (posted[at]->context != context || !takes(posted[at]->rank, posted[at]->tag, &packet)))
        at++;
    struct tern_pml_request *request = tern_match_posted(context, packet.source, packet.tag);
    if (at < posted_count) {
        ck_assert_ptr_eq(request, posted[at]);
        ck_assert(!request->posted);
        free(request);
        drop((void **)posted, &posted_count, at);
        return;
    }
    ck_assert_ptr_null(request);
    if (message_count == MOST)
        return;
    struct tern_unexpected *message = calloc(1, sizeof *message);
    message->context = context;
    message->packet = packet;
    tern_match_add(message);
    messages[message_count++] = message;
}

static void withdraw(void)
{
    if (!posted_count)
        return;
    int at = rand() % posted_count;
    tern_match_withdraw(posted[at]);
    free(posted[at]);
    drop((void **)posted, &posted_count, at);
}

static void empty_all(void)
{
    while (posted_count) {
        tern_match_withdraw(posted[--posted_count]);
        free(posted[posted_count]);
    }
    for (int i = 0; i < 2; i++)
        for (struct tern_unexpected *message; (message = tern_match_any(&contexts[i]));) {
            tern_match_remove(message);
            free(message);
            message_count--;
        }
    ck_assert_int_eq(message_count, 0);
    ck_assert_uint_eq(tern_lanes->posted.items, 0);
    ck_assert_uint_eq(tern_lanes->unexpected.items, 0);
    ck_assert_uint_eq(contexts[0].posted_wild, 0);
    ck_assert_uint_eq(contexts[1].posted_wild, 0);
    tern_match_finalize(tern_lanes);
}

/* Phases lean to one side, so that either queue grows long. */
START_TEST(agrees_with_plain_lists)
{
    srand(_i + 1);
    for (int step = 0; step < STEPS; step++) {
        int lean = step / 1000 % 3, dice = rand() % 10;
        if (dice == 0)
            withdraw();
        else if (dice < (lean == 0 ? 8 : lean == 1 ? 3 : 5))
            receive();
        else
            arrive();
        ck_assert_uint_eq(tern_lanes->posted.items, posted_count);
        ck_assert_uint_eq(tern_lanes->unexpected.items, message_count);
    }
    empty_all();
}
END_TEST

/* A hundred thousand different tags: the tables grow, and shrink to what is in use. */
START_TEST(finds_any_of_many_tags)
{
    enum { MANY = 100000 };
    for (int tag = 0; tag < MANY; tag++) {
        struct tern_unexpected *message = calloc(1, sizeof *message);
        message->context = &contexts[0];
        message->packet = (struct tern_packet){.kind = TERN_PACKET_EAGER, .source = 1, .tag = tag};
        tern_match_add(message);
    }
    for (int tag = MANY - 1; tag >= 0; tag--) {
        struct tern_unexpected *message = tern_match_unexpected(&contexts[0], tag & 1 ? 1 : MPI_ANY_SOURCE, tag);
        ck_assert_ptr_nonnull(message);
        ck_assert_int_eq(message->packet.tag, tag);
        tern_match_remove(message);
        free(message);
    }
    empty_all();
}
END_TEST

START_TEST(finds_an_announced_message_by_its_number)
{
    struct tern_peer peers[2] = {{.rank = 0}, {.rank = 1}};
    for (int i = 0; i < 10; i++) {
        struct tern_unexpected *message = calloc(1, sizeof *message);
        message->context = &contexts[0];
        message->from = &peers[i & 1];
        message->packet = (struct tern_packet){.kind = TERN_PACKET_RENDEZVOUS, .source = i & 1, .tag = 3, .id = 100 + i / 2};
        tern_match_add(message);
    }
    for (int i = 9; i >= 0; i--) {
        struct tern_unexpected *message = tern_match_announced(&contexts[0], &peers[i & 1], 100 + i / 2);
        ck_assert_ptr_nonnull(message);
        ck_assert_ptr_eq(message->from, &peers[i & 1]);
        ck_assert_uint_eq(message->packet.id, 100 + i / 2);
        tern_match_remove(message);
        free(message);
        ck_assert_ptr_null(tern_match_announced(&contexts[0], &peers[i & 1], 100 + i / 2));
    }
    empty_all();
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("match");
    TCase *tests = tcase_create("queues");
    tcase_set_timeout(tests, 60);
    tcase_add_loop_test(tests, agrees_with_plain_lists, 0, 5);
    tcase_add_test(tests, finds_any_of_many_tags);
    tcase_add_test(tests, finds_an_announced_message_by_its_number);
    suite_add_tcase(suite, tests);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed != 0;
}
