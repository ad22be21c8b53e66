/* SPDX-License-Identifier: BSD-3-Clause */
/* An agent sends a request for a card to mpirun, which passes it on to the rank's host. That host
 * answers when the rank has reported its card: at once in most cases. The answer holds the cards of
 * all ranks of that host that have reported, so a later request for another of them is answered
 * locally. Most bytes of a card are equal for the ranks of a host, and are stored once: the common
 * part.
 *
 * A rank may be a script that runs several programs, each with a card of its own. A request is for
 * the program with the same number as the asker's program, so the card of an earlier program is no
 * answer. */
#include "mpirun/serve/addresses.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

enum { OWN = offsetof(struct tern_card, bytes) };

/* The common part of some ranks' cards, in a list for each host. */
struct common {
    struct common *next;
    size_t size;
    char bytes[];
};

/* A request that waits for a card, from rank `asker` of this host (host < 0) or from another
 * host. */
struct wish {
    struct wish *next;
    int host, asker, program;
};

struct known {
    int program; /* number of the program that the card is of; 0: no card is known */
    uint64_t own;
    const struct common *common;
    struct wish *wishes;
};

static struct {
    const struct tern_job *job;
    bool is_agent;
    void (*send)(const struct tern_frame *frame);
    void (*answer)(int asker, int rank, const struct tern_card *card, size_t size);
    struct known *of;      /* by rank */
    struct common **commons; /* by host: list of common parts */
} cards;

void tern_cards_open(const struct tern_job *job, bool is_agent,
                     void (*send)(const struct tern_frame *frame),
                     void (*answer)(int asker, int rank, const struct tern_card *card, size_t size))
{
    cards.job = job;
    cards.is_agent = is_agent;
    cards.send = send;
    cards.answer = answer;
    cards.of = tern_must_alloc(job->map->size * sizeof *cards.of);
    cards.commons = tern_must_alloc(job->host_count * sizeof *cards.commons);
}

void tern_cards_close(void)
{
    for (int rank = 0; cards.job && rank < cards.job->map->size; rank++)
        for (struct wish *wish = cards.of[rank].wishes, *next; wish; wish = next) {
            next = wish->next;
            free(wish);
        }
    for (int host = 0; cards.job && host < cards.job->host_count; host++)
        for (struct common *common = cards.commons[host], *next; common; common = next) {
            next = common->next;
            free(common);
        }
    free(cards.of);
    free(cards.commons);
    cards.job = NULL;
}

static int host_of(int rank)
{
    return cards.job->map->places[rank].host;
}

static bool is_rank(int rank)
{
    return rank >= 0 && rank < cards.job->map->size;
}

/* Returns the common part with these bytes in the host's list; adds it if it is missing. */
static const struct common *common_of(int host, const char *bytes, size_t size)
{
    for (const struct common *common = cards.commons[host]; common; common = common->next)
        if (common->size == size && memcmp(common->bytes, bytes, size) == 0)
            return common;
    struct common *common = tern_must_alloc(sizeof *common + size);
    common->size = size;
    memcpy(common->bytes, bytes, size);
    common->next = cards.commons[host];
    return cards.commons[host] = common;
}

/* ---- a host's record: the common parts, then its ranks' cards ---- */

static void pack_record(struct tern_parcel *parcel)
{
    int here = cards.job->here, common_count = 0, card_count = 0;
    for (const struct common *common = cards.commons[here]; common; common = common->next)
        common_count++;
    tern_parcel_number(parcel, common_count);
    for (const struct common *common = cards.commons[here]; common; common = common->next)
        tern_parcel_blob(parcel, common->bytes, common->size);
    for (int rank = 0; rank < cards.job->map->size; rank++)
        card_count += host_of(rank) == here && cards.of[rank].program;
    tern_parcel_number(parcel, card_count);
    for (int rank = 0; rank < cards.job->map->size; rank++) {
        const struct known *known = &cards.of[rank];
        if (host_of(rank) != here || !known->program)
            continue;
        int index = 0;
        for (const struct common *common = cards.commons[here]; common != known->common;
             common = common->next)
            index++;
        tern_parcel_number(parcel, rank);
        tern_parcel_number(parcel, known->program);
        tern_parcel_number(parcel, (int64_t)known->own);
        tern_parcel_number(parcel, index);
    }
}

static void tell_host(int host)
{
    struct tern_parcel parcel = { 0 };
    pack_record(&parcel);
    cards.send(&(struct tern_frame){ .kind = TERN_FRAME_CARDS,
                                     .host = cards.is_agent ? cards.job->here : host,
                                     .value = cards.is_agent ? host : cards.job->here,
                                     .data = parcel.bytes,
                                     .size = (uint32_t)parcel.size });
    tern_parcel_free(&parcel);
}

static void tell_asker(int asker, int rank)
{
    const struct known *known = &cards.of[rank];
    struct tern_card card = { .own = known->own };
    memcpy(card.bytes, known->common->bytes, known->common->size);
    cards.answer(asker, rank, &card, OWN + known->common->size);
}

/* Answers the requests that have waited for the card of `rank`. */
static void fulfil(int rank)
{
    struct wish **link = &cards.of[rank].wishes;
    while (*link) {
        struct wish *wish = *link;
        if (wish->program > cards.of[rank].program) {
            link = &wish->next;
            continue;
        }
        *link = wish->next;
        if (wish->host >= 0)
            tell_host(wish->host);
        else if (cards.of[wish->asker].program ==
                 wish->program) /* if the asker has ended, its next program asks by itself */
            tell_asker(wish->asker, rank);
        free(wish);
    }
}

static void learn(int rank, int program, uint64_t own, const struct common *common)
{
    struct known *known = &cards.of[rank];
    known->program = program;
    known->own = own;
    known->common = common;
    fulfil(rank);
}

static void take_record(int host, const struct tern_frame *frame)
{
    struct tern_reader reader = { .at = frame->data, .left = frame->size };
    int common_count = tern_read_count(&reader, 0, 1 << 20, sizeof(int64_t));
    const struct common **commons = tern_must_alloc((common_count + 1) * sizeof *commons);
    for (int i = 0; i < common_count && !reader.bad; i++) {
        size_t size;
        const char *bytes = tern_read_blob(&reader, &size);
        if (reader.bad || size > TERN_CARD_MOST)
            reader.bad = true;
        else
            commons[i] = common_of(host, bytes, size);
    }
    int card_count = tern_read_count(&reader, 0, cards.job->map->size, 4 * sizeof(int64_t));
    for (int i = 0; i < card_count && !reader.bad; i++) {
        int rank = tern_read_int(&reader, 0, cards.job->map->size - 1);
        int program = tern_read_int(&reader, 1, INT32_MAX);
        uint64_t own = (uint64_t)tern_read_number(&reader);
        int index = tern_read_int(&reader, 0, common_count - 1);
        if (!reader.bad && host_of(rank) == host && program >= cards.of[rank].program)
            learn(rank, program, own, commons[index]);
    }
    free(commons);
}

/* ---- requests ---- */

/* Adds a request that waits. Returns true if no request for the same program was waiting before, so
 * that it must be sent. */
static bool add_wish(int rank, struct wish wish)
{
    bool asked = false;
    struct known *known = &cards.of[rank];
    for (const struct wish *other = known->wishes; other; other = other->next)
        asked |= other->program == wish.program;
    struct wish *new = tern_must_alloc(sizeof *new);
    *new = wish;
    new->next = known->wishes;
    known->wishes = new;
    return !asked;
}

static void ask(int owner, int asker_host, int rank, int program)
{
    struct tern_frame frame = { .kind = cards.is_agent ? TERN_FRAME_SEEK : TERN_FRAME_SOUGHT,
                                .host = cards.is_agent ? asker_host : owner,
                                .rank = rank,
                                .value = cards.is_agent ? 0 : asker_host,
                                .id = (uint64_t)program };
    cards.send(&frame);
}

int tern_cards_put(int rank, bool first, const struct tern_card *card, size_t size)
{
    int program = cards.of[rank].program + (first || !cards.of[rank].program);
    learn(rank, program, card->own, common_of(cards.job->here, card->bytes, size - OWN));
    return program;
}

int tern_cards_program(int rank)
{
    return cards.of[rank].program;
}

void tern_cards_seek(int asker, int rank)
{
    if (!is_rank(rank) || !cards.of[asker].program)
        return;
    int program = cards.of[asker].program, owner = host_of(rank);
    if (cards.of[rank].program >= program)
        tell_asker(asker, rank);
    else if (add_wish(rank, (struct wish){ .host = -1, .asker = asker, .program = program }) &&
             owner != cards.job->here)
        ask(owner, cards.job->here, rank, program);
}

/* Handles a request of another host for the card of a rank here. */
static void sought(int rank, int host, int program)
{
    if (cards.of[rank].program >= program)
        tell_host(host);
    else
        add_wish(rank, (struct wish){ .host = host, .program = program });
}

/* ---- frames ---- */

static bool is_host(int host)
{
    return host >= 0 && host < cards.job->host_count;
}

static void route_question(const struct tern_frame *frame)
{
    int owner = is_rank(frame->rank) ? host_of(frame->rank) : -1;
    if (owner == cards.job->here)
        sought(frame->rank, frame->host, (int)frame->id);
    else if (owner >= 0)
        ask(owner, frame->host, frame->rank, (int)frame->id);
}

static void route_record(const struct tern_frame *frame)
{
    struct tern_frame down = *frame;
    down.host = frame->value;
    down.value = frame->host;
    if (frame->value == cards.job->here)
        take_record(frame->host, frame);
    else if (is_host(frame->value))
        cards.send(&down);
}

bool tern_cards_received(const struct tern_frame *frame)
{
    if (!cards.job)
        return false;
    switch (frame->kind) {
    case TERN_FRAME_SEEK:
        if (!cards.is_agent)
            route_question(frame);
        return true;
    case TERN_FRAME_SOUGHT:
        if (cards.is_agent && is_rank(frame->rank) && host_of(frame->rank) == cards.job->here &&
            is_host(frame->value))
            sought(frame->rank, frame->value, (int)frame->id);
        return true;
    case TERN_FRAME_CARDS:
        if (!cards.is_agent)
            route_record(frame);
        else if (is_host(frame->value))
            take_record(frame->value, frame);
        return true;
    default:
        return false;
    }
}
