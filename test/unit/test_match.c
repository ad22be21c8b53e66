/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Matching against the definition: two plain lists searched from the front (MPI-4.1 section 3.5, order).
 *
 *      test_match [random sequences] [the first one's seed]
 */

#include "lib/pml/match.h"
#include "suite.h"

#include <check.h>
#include <stdlib.h>

enum { SEQUENCES = 40, STEPS = 25000, MOST = 400, SOURCES = 5, TAGS = 6, LONGEST = 40 };

/* ck_assert tells the parent process of each line it passes: millions of them take far longer than what they assert. */
#define REQUIRE(condition)                                                                                             \
    do {                                                                                                               \
        if (!(condition))                                                                                              \
            ck_abort_msg("not true: %s", #condition);                                                                  \
    } while (0)

static struct tern_context contexts[2] = {{.lane = tern_lanes}, {.lane = tern_lanes}};

/* The naive queues, oldest first. Messages move in memory, so they are known by their ids. */
struct message {
    const struct tern_context *context;
    struct tern_packet packet;
};
static struct tern_pml_request *posted[MOST];
static struct message *messages[MOST];
static int posted_count, message_count;
static uint32_t ids;
static bool wildcards; /* do receives have any? */

static void open_contexts(void)
{
    for (int i = 0; i < 2; i++) {
        tern_list_init(&contexts[i].arrived[0]);
        tern_list_init(&contexts[i].arrived[1]);
        contexts[i].by_wildcards = false;
    }
}

/* Its length and bytes follow from its id. */
static struct tern_unexpected *add_message(struct tern_context *context, const struct tern_packet *packet)
{
    size_t length = packet->id % LONGEST;
    struct tern_unexpected *message = tern_unexpected_new(rand() % 4 ? context : NULL, length);
    message->context = context;
    message->packet = *packet;
    memset(message->payload, (int)packet->id, length);
    tern_match_add(message);
    return message;
}

static void take_message(struct tern_unexpected *message)
{
    REQUIRE(message->length == message->packet.id % LONGEST);
    for (uint32_t i = 0; i < message->length; i++)
        REQUIRE(message->payload[i] == (unsigned char)message->packet.id);
    tern_match_remove(message);
    tern_unexpected_free(message);
}

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
    return wildcards && rand() % 4 == 0 ? MPI_ANY_SOURCE : rand() % SOURCES;
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
    int source = random_source(), tag = random_tag(wildcards), at = 0;
    while (at < message_count && (messages[at]->context != context || !takes(source, tag, &messages[at]->packet)))
        at++;
    struct tern_unexpected *found = tern_match_unexpected(context, source, tag);
    if (at < message_count) {
        REQUIRE(found);
        REQUIRE(found->packet.id == messages[at]->packet.id);
        take_message(found);
        free(messages[at]);
        drop((void **)messages, &message_count, at);
        return;
    }
    REQUIRE(!found);
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
    struct tern_packet packet = {.kind = TERN_PACKET_EAGER, .source = rand() % SOURCES, .tag = random_tag(false), .id = ids++};
    int at = 0;
    while (at < posted_count && (posted[at]->context != context || !takes(posted[at]->rank, posted[at]->tag, &packet)))
        at++;
    struct tern_pml_request *request = tern_match_posted(context, &packet);
    if (at < posted_count) {
        REQUIRE(request == posted[at]);
        REQUIRE(!request->posted);
        free(request);
        drop((void **)posted, &posted_count, at);
        return;
    }
    REQUIRE(!request);
    if (message_count == MOST)
        return;
    add_message(context, &packet);
    struct message *message = malloc(sizeof *message);
    *message = (struct message){context, packet};
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
    int count = 0;
    while (posted_count) {
        tern_match_withdraw(posted[--posted_count]);
        free(posted[posted_count]);
    }
    for (int i = 0; i < 2; i++)
        for (struct tern_unexpected *message; (message = tern_match_any(&contexts[i]));) {
            take_message(message);
            count++;
        }
    REQUIRE(message_count == count);
    while (message_count)
        free(messages[--message_count]);
    REQUIRE(tern_lanes->posted.items == 0);
    REQUIRE(tern_lanes->unexpected.items == 0);
    REQUIRE(contexts[0].posted_wild == 0);
    REQUIRE(contexts[1].posted_wild == 0);
}

/* Phases lean to one side, so that either queue grows long. Wildcards come late. */
START_TEST(agrees_with_plain_lists)
{
    srand((unsigned)_i);
    open_contexts();
    int first_wildcard = rand() % STEPS;
    for (int step = 0; step < STEPS; step++) {
        wildcards = step >= first_wildcard;
        int lean = step / 1000 % 3, dice = rand() % 10;
        if (dice == 0)
            withdraw();
        else if (dice < (lean == 0 ? 8 : lean == 1 ? 3 : 5))
            receive();
        else
            arrive();
        REQUIRE(tern_lanes->posted.items == (uint64_t)posted_count);
        REQUIRE(tern_lanes->unexpected.items == (uint64_t)message_count);
    }
    empty_all();
}
END_TEST

/* A hundred thousand different tags: the tables grow, and shrink to what is in use. */
START_TEST(finds_any_of_many_tags)
{
    enum { MANY = 100000 };
    open_contexts();
    for (int tag = 0; tag < MANY; tag++)
        add_message(&contexts[0], &(struct tern_packet){.kind = TERN_PACKET_EAGER, .source = 1, .tag = tag});
    for (int tag = MANY - 1; tag >= 0; tag--) {
        struct tern_unexpected *message = tern_match_unexpected(&contexts[0], tag & 1 ? 1 : MPI_ANY_SOURCE, tag);
        REQUIRE(message);
        REQUIRE(message->packet.tag == tag);
        take_message(message);
    }
    REQUIRE(!tern_match_any(&contexts[0]));
    empty_all();
}
END_TEST

START_TEST(finds_an_announced_message_by_its_number)
{
    struct tern_peer peers[2] = {{.rank = 0}, {.rank = 1}};
    open_contexts();
    for (int i = 0; i < 10; i++) {
        struct tern_packet packet = {.kind = TERN_PACKET_RENDEZVOUS, .source = i & 1, .tag = 3, .id = 100 + i / 2};
        add_message(&contexts[0], &packet)->from = &peers[i & 1];
    }
    for (int i = 9; i >= 0; i--) {
        struct tern_unexpected *message = tern_match_announced(&contexts[0], &peers[i & 1], 100 + i / 2);
        ck_assert_ptr_nonnull(message);
        ck_assert_ptr_eq(message->from, &peers[i & 1]);
        ck_assert_uint_eq(message->packet.id, 100 + i / 2);
        take_message(message);
        ck_assert_ptr_null(tern_match_announced(&contexts[0], &peers[i & 1], 100 + i / 2));
    }
    empty_all();
}
END_TEST

int main(int argc, char **argv)
{
    int sequences = argc > 1 ? atoi(argv[1]) : SEQUENCES, first = argc > 2 ? atoi(argv[2]) : 1;
    Suite *suite = suite_create("match");
    TCase *tests = suite_case(suite, "queues");
    tcase_add_loop_test(tests, agrees_with_plain_lists, first, first + sequences);
    tcase_add_test(tests, finds_any_of_many_tags);
    tcase_add_test(tests, finds_an_announced_message_by_its_number);
    return suite_run(suite);
}
