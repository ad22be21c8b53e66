/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/btl/tcp/search.h"

#include "lib/node/doorbell.h"
#include "lib/btl/card.h"
#include "lib/btl/secret.h"
#include "lib/btl/tcp/arrivals.h"
#include "lib/btl/tcp/clock.h"
#include "lib/btl/tcp/connecting.h"
#include "lib/btl/tcp/dial.h"
#include "lib/btl/tcp/listener.h"
#include "lib/btl/tcp/framing.h"
#include "lib/rte/jobs.h"
#include "lib/rte/rte.h"
#include "lib/util/base/error.h"
#include "lib/util/net/launcher.h"
#include "lib/util/base/list.h"
#include "lib/util/base/log.h"
#include "lib/settings/param.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    /* until the next address is tried: for the peer's system to answer a connect ... */
    CONNECT_MS = 30,
    ANSWER_MS = 250,  /* ... and then for the peer to say who it is */
    ROUND_MS = 700,   /* between two rounds through all addresses */
    ASK_MS = 1000,    /* until the peer is asked to call us, if its system answers nothing */
    CROSSED_MS = 500, /* for the peer's own call to arrive */
    CLAIM_MS = 1000,  /* in which the peer is told that our call takes precedence over its own */
    /* wait for the peer's next program, at first; doubled each time, up to LATER_MOST_MS */
    LATER_MS = 10,
    LATER_MOST_MS = 500,
    PATIENCE_MS = 20 * 1000, /* after which we print for whom we wait */
    TEXT_MOST = 1000,
};

/* WAITING: our calls have failed, and the peer has not given up yet. */
enum search_state { FETCHING, PAUSING, CALLING, WAITING, FAILED, OVER };

/* How many rounds may end with each result. NO_WAY: nothing will change. REFUSED: a program that
 * starts meanwhile changes it. CLOSED: a flood of strangers may cause it now and then. CROWDED:
 * lasts as long as the rank computes. If the rank has died, the launcher ends us. */
static const int rounds_most[] = {[TERN_TCP_NO_WAY] = 1,
                                  [TERN_TCP_REFUSED] = 4,
                                  [TERN_TCP_CLOSED] = 60,
                                  [TERN_TCP_CROWDED] = INT_MAX};

/* The search for a peer. */
struct tern_tcp_search {
    struct tern_list_node in_progress; /* if `listed` */
    bool listed;
    enum search_state state;
    struct tern_tcp_contact *contact;
    struct tern_rte_fetch fetch;
    struct tern_tcp_address *theirs; /* the peer's addresses; NULL: not known yet */
    struct tern_tcp_pair pairs[TERN_TCP_ADDRESSES_MAX];
    int pair_count, next_pair;
    /* bit i: the connection of pair i was accepted, and the answer is awaited */
    uint64_t answering;
    int round;          /* number of rounds that have ended */
    enum tern_tcp_miss miss; /* the worst result in this round */
    uint64_t next_at_ms; /* when the next pair is tried */
    uint64_t since_ms;  /* when the first was tried; 0: not yet */
    /* since when the peer is known to run an earlier program than ours; 0: it does not */
    uint64_t behind_since_ms;
    int later_ms; /* current wait for its next program */
    bool told; /* it was printed that we wait for the peer */
    bool asked;          /* the peer was asked to call us */
    char why[400];       /* for each address, what happened there */
};

static struct tern_list_node searches = {&searches, &searches};
static struct tern_tcp_contact **buckets;
static uint32_t bucket_mask, contact_count;

/* ---- the table ---- */

static uint32_t hash(struct tern_process process, uint8_t tag)
{
    return process.rank * 2654435761u ^ process.job * 2246822519u ^ tag * 40503u;
}

static void grow_buckets(void)
{
    uint32_t size = buckets ? (bucket_mask + 1) * 2 : 16;
    struct tern_tcp_contact **larger = calloc(size, sizeof *larger);
    if (!larger)
        return; /* then chains grow longer */
    for (uint32_t i = 0; buckets && i <= bucket_mask; i++)
        for (struct tern_tcp_contact *contact = buckets[i], *next; contact; contact = next) {
            next = contact->next;
            struct tern_tcp_contact **bucket =
                &larger[hash(contact->process, contact->tag) & (size - 1)];
            contact->next = *bucket;
            *bucket = contact;
        }
    free(buckets);
    buckets = larger;
    bucket_mask = size - 1;
}

struct tern_tcp_contact *tern_tcp_search_of(struct tern_process process, uint8_t tag)
{
    if (!buckets || contact_count > bucket_mask)
        grow_buckets();
    if (!buckets)
        return NULL;
    struct tern_tcp_contact **bucket = &buckets[hash(process, tag) & bucket_mask];
    for (struct tern_tcp_contact *contact = *bucket; contact; contact = contact->next)
        if (contact->process.rank == process.rank && contact->process.job == process.job &&
            contact->tag == tag)
            return contact;
    struct tern_tcp_contact *contact = calloc(1, sizeof *contact);
    if (!contact)
        return NULL;
    contact->process = process;
    contact->tag = tag;
    contact->next = *bucket;
    *bucket = contact;
    contact_count++;
    return contact;
}

/* ---- a search ---- */

static void list_search(struct tern_tcp_search *search)
{
    if (!search->listed)
        tern_list_append(&searches, &search->in_progress);
    search->listed = true;
}

static void unlist_search(struct tern_tcp_search *search)
{
    if (search->listed)
        tern_list_remove(&search->in_progress);
    search->listed = false;
}

static void free_search(struct tern_tcp_contact *contact)
{
    struct tern_tcp_search *search = contact->search;
    contact->search = NULL;
    unlist_search(search);
    free(search->theirs);
    free(search);
}

static void describe_failure(const struct tern_tcp_contact *contact, char *text, size_t room)
{
    char host[256], process[TERN_PROCESS_TEXT];
    tern_process_host(contact->process.job, contact->process.rank, host, sizeof host);
    snprintf(text, room, "rank %u on host %s cannot connect to %s on host %s: %s", tern_rte.rank,
             tern_rte.host,
             tern_process_text(contact->process.job, contact->process.rank, process), host,
             contact->search->why);
}

/* Tells the peer by the launcher. Returns false if the launcher passes nothing on, as to a peer of
 * another job. */
static bool tell(const struct tern_tcp_search *search, enum tern_unreached how)
{
    const struct tern_tcp_contact *contact = search->contact;
    char text[TEXT_MOST];
    if (contact->process.job)
        return false;
    describe_failure(contact, text, sizeof text);
    return tern_rte_tell_unreached(contact->process.rank, how, tern_tcp_lanes_of(contact->tag),
                                   text);
}

/* Fails the search, and tells the peer, which may only wait to receive. */
static void fail(struct tern_tcp_search *search, const char *why)
{
    const struct tern_tcp_contact *contact = search->contact;
    char text[TEXT_MOST];
    search->state = FAILED;
    if (why != search->why)
        snprintf(search->why, sizeof search->why, "%s", why);
    describe_failure(contact, text, sizeof text);
    tern_tcp_lose(contact->process, tern_tcp_lanes_of(contact->tag), text);
    tell(search, TERN_UNREACHED_LOST);
}

/* Waits for the peer to run our program. All ranks of a job that run several MPI programs in turn
 * run equally many, so a rank that is behind will come. If it cannot, the launcher ends the job. */
static void await_program(struct tern_tcp_search *search)
{
    uint64_t now = tern_tcp_now_ms();
    search->later_ms = search->later_ms ? search->later_ms * 2 : LATER_MS;
    if (search->later_ms > LATER_MOST_MS)
        search->later_ms = LATER_MOST_MS;
    if (!search->behind_since_ms)
        search->behind_since_ms = now;
    else if (now - search->behind_since_ms > PATIENCE_MS && !search->told) {
        search->told = true;
        tern_log("waiting for rank %u to start its MPI program number %u; this rank runs its "
                 "program of that number already",
                 search->contact->process.rank, tern_rte_program());
    }
    search->state = PAUSING;
    search->next_at_ms = now + (uint64_t)search->later_ms;
}

/* Index of our address from which a connection last succeeded, or -1. It is tried first: where one
 * host is reached, others probably are. */
static int good_own = -1;

static void put_good_first(struct tern_tcp_pair *pairs, int count)
{
    int front = 0;
    for (int i = 0; i < count; i++) {
        struct tern_tcp_pair pair = pairs[i];
        if (pair.own < 0 || pair.own != good_own)
            continue;
        memmove(&pairs[front + 1], &pairs[front], (size_t)(i - front) * sizeof *pairs);
        pairs[front++] = pair;
    }
}

/* Reads the peer's card, and lists the pairs to try. */
static void read_card(struct tern_tcp_search *search, const struct tern_card *card, size_t length)
{
    struct tern_tcp_address list[TERN_TCP_ADDRESSES_MAX];
    struct tern_process process = search->contact->process;
    size_t record_length = 0;
    const void *record = tern_card_part(card, length, "tcp", &record_length);
    int count = record ? tern_tcp_record_read(record, record_length, card->own, list) : -1;
    free(search->theirs);
    search->theirs = count > 0 ? malloc((size_t)count * sizeof *list) : NULL;
    if (!search->theirs) {
        fail(search, count < 0 ? "the addresses that it published are from another version of this "
                                 "library; use one version on all hosts"
                               : "it has published no address");
        return;
    }
    memcpy(search->theirs, list, (size_t)count * sizeof *list);
    search->pair_count =
        tern_tcp_pair(tern_tcp_door.own, tern_tcp_door.own_count, list, count,
                      tern_process_is_here(process.job, process.rank), search->pairs);
    put_good_first(search->pairs, search->pair_count);
    if (search->pair_count == 0)
        fail(search, "this host can reach none of its addresses: the families (IPv4, IPv6) differ "
                     "(see btl_tcp_if_include and btl_tcp_if_exclude)");
}

/* Handles the result of the fetch: the peer's addresses, or an error. */
static void read_addresses(struct tern_tcp_search *search)
{
    struct tern_rte_fetch *fetch = &search->fetch;
    /* the server of another node knows what the rank's earlier program has published, and does not
     * wait for the next */
    if (fetch->error && tern_rte_program() > 1)
        await_program(search);
    else if (fetch->error)
        fail(search, fetch->text);
    else
        read_card(search, fetch->value, fetch->length);
    free(fetch->value);
    fetch->value = NULL;
}

static void begin_calling(struct tern_tcp_search *search)
{
    search->state = CALLING;
    search->next_pair = 0;
    search->next_at_ms = 0;
    search->miss = TERN_TCP_NO_WAY;
    search->why[0] = 0;
    if (!search->since_ms)
        search->since_ms = tern_tcp_now_ms();
}

/* Takes the addresses of a peer of another job from its introduction. */
static void begin_with_introduction(struct tern_tcp_search *search)
{
    struct tern_process process = search->contact->process;
    const struct tern_introduction *introduction =
        tern_introduction_of(process.job, process.rank);
    size_t length = 0;
    const struct tern_card *card =
        introduction ? tern_introduction_card(introduction, &length) : NULL;
    search->state = OVER;
    if (card)
        read_card(search, card, length);
    else
        fail(search, "the two were not introduced to each other");
    if (search->state == OVER)
        begin_calling(search);
}

static void begin_fetching(struct tern_tcp_search *search, bool anew)
{
    if (search->contact->process.job) {
        begin_with_introduction(search);
        return;
    }
    search->state = FETCHING;
    search->fetch.notify = tern_doorbell_ring_self;
    int rc = tern_rte_seek(search->contact->process.rank, anew, &search->fetch);
    if (rc)
        fail(search, tern_error_text(rc));
}

static void say_patience(struct tern_tcp_search *search, uint64_t now)
{
    char host[256], text[TERN_PROCESS_TEXT];
    struct tern_process process = search->contact->process;
    if (search->told || now - search->since_ms < PATIENCE_MS)
        return;
    search->told = true;
    tern_process_host(process.job, process.rank, host, sizeof host);
    tern_process_text(process.job, process.rank, text);
    if (search->state == WAITING)
        tern_log("waiting for a connection from %s on host %s, because this rank cannot connect: "
                 "%s", text, host, search->why);
    else
        tern_log("still trying to connect to %s on host %s: %s", text, host, search->why);
}

/* Ends our own calls: all have failed for good. The peer may still call us. */
static void give_up_calling(struct tern_tcp_search *search)
{
    search->state = WAITING;
    if (!tell(search, TERN_UNREACHED_GAVE_UP) || search->contact->they_gave_up)
        fail(search, search->why);
}

/* Ends a round: all addresses were tried. Accepted connections stay open, because the peer may be
 * computing. If some of the others failed in a way that may pass, all addresses are tried again. */
static void end_round(struct tern_tcp_search *search, uint64_t now)
{
    if (!search->asked)
        search->asked = tell(search, TERN_UNREACHED_CALL);
    if (search->round + 1 < rounds_most[search->miss]) {
        say_patience(search, now);
        search->round = search->miss == TERN_TCP_CROWDED ? 1 : search->round + 1;
        search->state = PAUSING;
        search->next_at_ms = now + ROUND_MS;
    /* else the next progress looks again */
    } else if (search->contact->calls == 0 && !search->contact->arriving) {
        give_up_calling(search);
    }
}

/* Returns true if the peer's system has answered nothing, and the peer was not asked to call us. */
static bool is_unanswered(const struct tern_tcp_search *search)
{
    return search->state == CALLING && !search->asked && !search->answering &&
           search->contact->connecting > 0;
}

static void go_on_calling(struct tern_tcp_search *search, uint64_t now)
{
    struct tern_tcp_contact *contact = search->contact;
    if (contact->links & 1) {
        search->state = OVER;
        return;
    }
    if (is_unanswered(search) && now >= search->since_ms + ASK_MS)
        search->asked = tell(search, TERN_UNREACHED_CALL);
    if (now < search->next_at_ms)
        return;
    if (!contact->process.job && !tern_secret()) {
        if (tern_secret_failure())
            fail(search, tern_secret_failure());
        return;
    }
    while (search->next_pair < search->pair_count && search->answering >> search->next_pair & 1)
        search->next_pair++;
    if (search->next_pair < search->pair_count) {
        search->next_at_ms = now + CONNECT_MS;
        tern_tcp_dial(contact, &search->pairs[search->next_pair++], 0);
    } else if (contact->connecting == 0) {
        end_round(search, now);
    }
}

static int go_on(struct tern_tcp_search *search, uint64_t now)
{
    int count = 0;
    if (search->state == FETCHING && __atomic_load_n(&search->fetch.done, __ATOMIC_ACQUIRE)) {
        search->state = OVER;
        read_addresses(search);
        if (search->state == OVER)
            begin_calling(search);
        count++;
    }
    if (search->state == PAUSING && now >= search->next_at_ms && search->answering &&
        !search->behind_since_ms)
        begin_calling(search); /* the open calls already know their addresses */
    else if (search->state == PAUSING && now >= search->next_at_ms)
        begin_fetching(search, search->round > 0);
    if (search->state == CALLING)
        go_on_calling(search, now);
    if (search->state == WAITING)
        say_patience(search, now);
    if (search->state == FAILED)
        unlist_search(search);
    else if (search->state == OVER)
        free_search(search->contact);
    return count;
}

int tern_tcp_searches_go_on(uint64_t now_ms)
{
    int count = 0;
    for (struct tern_list_node *at = searches.next, *next; at != &searches; at = next) {
        next = at->next;
        count += go_on(TERN_CONTAINER(at, struct tern_tcp_search, in_progress), now_ms);
    }
    return count;
}

/* Returns the earlier time of two that are to come; 0 or a time that has passed: none. */
static uint64_t earlier(uint64_t due_ms, uint64_t at_ms, uint64_t now_ms)
{
    return at_ms > now_ms && (!due_ms || at_ms < due_ms) ? at_ms : due_ms;
}

uint64_t tern_tcp_searches_due_ms(uint64_t now_ms)
{
    uint64_t due_ms = 0;
    for (struct tern_list_node *at = searches.next; at != &searches; at = at->next) {
        const struct tern_tcp_search *search =
            TERN_CONTAINER(at, struct tern_tcp_search, in_progress);
        if (search->state == PAUSING || search->state == CALLING)
            due_ms = earlier(due_ms, search->next_at_ms, now_ms);
        if (is_unanswered(search))
            due_ms = earlier(due_ms, search->since_ms + ASK_MS, now_ms);
        if (search->state == WAITING && !search->told)
            due_ms = earlier(due_ms, search->since_ms + PATIENCE_MS, now_ms);
    }
    return due_ms;
}

static int cannot_reach(const struct tern_tcp_contact *contact)
{
    char text[TEXT_MOST];
    describe_failure(contact, text, sizeof text);
    return tern_error(TERN_ERR_UNREACHABLE, "%s", text);
}

int tern_tcp_search_begin(struct tern_tcp_contact *contact)
{
    struct tern_tcp_search *search = contact->search;
    if (search && search->state == FAILED)
        return cannot_reach(contact);
    if ((search && search->state != OVER) || contact->links & 1)
        return 0;
    if (!search && !(search = calloc(1, sizeof *search)))
        return tern_error(TERN_ERR_NO_MEM, "no memory to connect to rank %u",
                          contact->process.rank);
    search->contact = contact;
    contact->search = search;
    list_search(search);
    search->round = 0;
    search->answering = 0;
    search->since_ms = 0;
    search->asked = false;
    if (contact->arriving) { /* most likely the link will be there after this time */
        search->state = PAUSING;
        search->next_at_ms = tern_tcp_now_ms() + CROSSED_MS;
    } else {
        begin_fetching(search, false);
    }
    return search->state == FAILED ? cannot_reach(contact) : 0;
}

void tern_tcp_search_heed(struct tern_tcp_contact *contact, enum tern_unreached how)
{
    contact->they_gave_up = how == TERN_UNREACHED_GAVE_UP;
    if (contact->search && contact->search->state == WAITING && contact->they_gave_up)
        fail(contact->search, contact->search->why);
    else if (contact->search && contact->search->state == FAILED)
        tell(contact->search, TERN_UNREACHED_LOST);
    else
        tern_tcp_search_begin(contact);
}

bool tern_tcp_search_is_called(const struct tern_tcp_contact *contact)
{
    const struct tern_tcp_search *search = contact->search;
    return search && search->state == CALLING && !search->asked &&
           tern_tcp_now_ms() - search->since_ms < CLAIM_MS;
}

/* ---- results of calls ---- */

const struct tern_tcp_address *tern_tcp_search_address(const struct tern_tcp_contact *contact,
                                                        const struct tern_tcp_pair *pair)
{
    return &contact->search->theirs[pair->theirs];
}

static void note_end(struct tern_tcp_search *search, const struct tern_tcp_pair *pair)
{
    search->answering &= ~(1ull << (pair - search->pairs));
}

void tern_tcp_search_missed(struct tern_tcp_contact *contact, const struct tern_tcp_pair *pair,
                             enum tern_tcp_miss miss, const char *reason)
{
    struct tern_tcp_search *search = contact->search;
    if (search->miss < miss)
        search->miss = miss;
    const struct tern_tcp_address *theirs = tern_tcp_search_address(contact, pair);
    char address[TERN_TCP_TEXT];
    size_t used = strlen(search->why);
    snprintf(search->why + used, sizeof search->why - used, "%s%s (%s): %s", used ? "; " : "",
             tern_tcp_text(theirs, address), theirs->interface, reason);
    note_end(search, pair);
    search->next_at_ms = 0; /* try the next one at once */
}

void tern_tcp_search_connected(struct tern_tcp_contact *contact, const struct tern_tcp_pair *pair)
{
    contact->search->answering |= 1ull << (pair - contact->search->pairs);
    contact->search->next_at_ms = tern_tcp_now_ms() + ANSWER_MS;
}

void tern_tcp_search_crossed(struct tern_tcp_contact *contact, const struct tern_tcp_pair *pair)
{
    tern_tcp_search_repeat(contact, pair);
    contact->search->next_at_ms = tern_tcp_now_ms() + CROSSED_MS;
}

void tern_tcp_search_repeat(struct tern_tcp_contact *contact, const struct tern_tcp_pair *pair)
{
    note_end(contact->search, pair);
    contact->search->next_pair = 0;
    contact->search->next_at_ms = 0;
}

void tern_tcp_search_runs(struct tern_tcp_contact *contact, uint32_t program)
{
    struct tern_tcp_search *search = contact->search;
    if (program < tern_rte_program()) {
        await_program(search);
        return;
    }
    snprintf(
        search->why, sizeof search->why,
        "it runs its MPI program number %u already, and this rank still runs number %u",
        program, tern_rte_program());
    fail(search, search->why);
}

void tern_tcp_search_differs(struct tern_tcp_contact *contact, const char *parameter, int here,
                              int there)
{
    struct tern_tcp_search *search = contact->search;
    snprintf(search->why, sizeof search->why,
             "%s is %d on rank %u, but %d on the other rank; set the same value on all "
             "ranks", parameter, here,
             tern_rte.rank, there);
    fail(search, search->why);
}

void tern_tcp_search_widen(struct tern_tcp_contact *contact,
                            const struct tern_tcp_pair *first)
{
    const struct tern_tcp_search *search = contact->search;
    const char *own_used[TERN_TCP_LINKS_MAX], *theirs_used[TERN_TCP_LINKS_MAX];
    const struct tern_tcp_pair *pairs[TERN_TCP_LINKS_MAX] = {first};
    int count = 1, links_per_pair = (int)tern_param_int("btl_tcp_links");
    good_own = first->own;
    own_used[0] = first->own >= 0 ? tern_tcp_door.own[first->own].interface : "";
    theirs_used[0] = search->theirs[first->theirs].interface;
    bool apart = first->own >= 0 &&
                 !tern_process_is_here(contact->process.job, contact->process.rank);
    for (int i = 0; apart && i < search->pair_count && count < TERN_TCP_LINKS_MAX; i++) {
        const struct tern_tcp_pair *pair = &search->pairs[i];
        if (pair->own < 0)
            continue;
        bool fresh = true;
        for (int j = 0; j < count; j++)
            fresh &= strcmp(own_used[j], tern_tcp_door.own[pair->own].interface) != 0 &&
                     strcmp(theirs_used[j], search->theirs[pair->theirs].interface) != 0;
        if (!fresh)
            continue;
        own_used[count] = tern_tcp_door.own[pair->own].interface;
        theirs_used[count] = search->theirs[pair->theirs].interface;
        pairs[count++] = pair;
    }
    uint8_t index = 1;
    for (int turn = 0; turn < links_per_pair; turn++)
        for (int i = turn == 0; i < count && index < TERN_TCP_LINKS_MAX; i++)
            tern_tcp_dial(contact, pairs[i], index++);
}

void tern_tcp_search_found(struct tern_tcp_contact *contact)
{
    contact->they_gave_up = false;
    if (contact->search && contact->search->state != FETCHING) /* a fetch must end first */
        contact->search->state = OVER;
}

/* ---- the end ---- */

/* Frees the search. A fetch by PMIx may complete at any time or never: then PMIx keeps the
 * memory. */
static void give_up(struct tern_tcp_search *search)
{
    if (tern_rte_forget(&search->fetch)) {
        free(search->fetch.done ? search->fetch.value : NULL);
        free_search(search->contact);
        return;
    }
    unlist_search(search);
    search->contact->search = NULL;
}

void tern_tcp_searches_pause(void)
{
    for (struct tern_list_node *at = searches.next, *next; at != &searches; at = next) {
        next = at->next;
        struct tern_tcp_search *search = TERN_CONTAINER(at, struct tern_tcp_search, in_progress);
        if (search->state == CALLING || search->state == PAUSING || search->state == WAITING)
            search->state = OVER;
        else if (search->state == FETCHING)
            give_up(search);
    }
}

void tern_tcp_searches_free(void)
{
    tern_tcp_searches_pause();
    for (uint32_t i = 0; buckets && i <= bucket_mask; i++)
        for (struct tern_tcp_contact *contact = buckets[i], *next; contact; contact = next) {
            next = contact->next;
            if (contact->search)
                free_search(contact);
            free(contact);
        }
    free(buckets);
    buckets = NULL;
    contact_count = 0;
}
