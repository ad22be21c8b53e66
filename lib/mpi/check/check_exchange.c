/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * check_level full: ranks tell each other which collective they begin, and begin it only when all
 * have stated equal facts.
 *
 * Each rank sends its record to the judge, rank 0 of the communicator, over a context of its own
 * that all processes of the job share. When all records have arrived the judge compares them
 * (check_gather.c) and answers each rank: it permits the call, or says what differs. A blocking
 * call waits for the answer; a nonblocking call starts when it has the answer. The judge need not
 * be in a call of its own: progress takes in the records, whatever procedure the judge is in.
 *
 * A rank that has waited for check_patience seconds asks the judge who is missing. If the records
 * that have arrived already differ, the judge decides at once. Else the judge tells the first rank
 * that asks. That rank asks the missing ranks what they do, and reports it. A rank that does not
 * answer is not in MPI.
 *
 * If the judge and a rank cannot talk to each other (lib/pml/peer_lost.c), that rank is not
 * compared: it goes on, and the judge waits for the other ranks only. So all ranks begin the
 * collective, as without checks, and a rank that needs the lost rank gets an error there.
 */

#include "lib/mpi/check/check.h"
#include "lib/mpi/check/check_message.h"
#include "lib/mpi/check/check_record.h"
#include "lib/mpi/object/gate.h"
#include "lib/mpi/object/comm.h"
#include "lib/pml/lane.h"
#include "lib/pml/pml.h"
#include "lib/rte/rte.h"
#include "lib/util/base/error.h"
#include "lib/util/base/list.h"
#include "lib/util/base/log.h"
#include "lib/settings/param.h"
#include "lib/util/base/text.h"

#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* A call that waits may hold another lane. It shares with progress only what the mutex guards. */
static double patience_s;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

enum { DOING = 200 };

enum state { NOT_BEGUN, WAITING, GRANTED, REFUSED }; /* atomic: ask() has no lock */

struct permit {
    struct tern_permit permit;
    struct tern_list_node link; /* in `waiting` while WAITING */
    struct tern_record *record;
    struct tern_comm *comm; /* stays while the permit is in use, because its call holds it */
    bool sent;              /* true once the record is sent */
    enum state state;
    bool detached; /* true if nobody asks for the answer: the permit frees itself when answered */
    double since, patience_s;
    /* when the judge was asked who is missing; 0 if no question is open */
    double asked_at;
    /* The rest is only cleared when it is asked for. */
    struct tern_check_note missing; /* the judge's answer; count is 0 until it arrives */
    char doing[TERN_CHECK_MISSING_MOST][DOING];
    char text[TERN_CHECK_TEXT];
};
static struct tern_list_node waiting = {&waiting, &waiting};

static double now_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* --- the judge --- */

static void take_verdict(const struct tern_occasion *occasion, const char *text);

static void answer(const struct tern_record *record, const char *text)
{
    if (record->sender == (int32_t)tern_rte.rank) {
        take_verdict(&record->occasion, text);
        return;
    }
    struct tern_check_note note;
    note.occasion = record->occasion;
    note.place = record->place;
    note.count = 0;
    memset(note.places, 0, sizeof note.places);
    tern_text_copy(note.text, sizeof note.text, text);
    tern_check_send_note(&note, TERN_CHECK_VERDICT, record->sender);
}

static void take_record(const struct tern_record *record)
{
    if (!tern_gather_record(record, answer))
        tern_log("no memory to compare collectives; the other ranks will wait for this one");
}

static void take_who(const struct tern_check_note *note, int asker)
{
    struct tern_check_note missing = {.occasion = note->occasion};
    missing.count = tern_gather_missing(&note->occasion, note->place, answer,
                                        TERN_CHECK_MISSING_MOST, missing.places);
    if (missing.count)
        tern_check_send_note(&missing, TERN_CHECK_MISSING, asker);
}

/* --- the rank that waits --- */

static struct permit *permit_of(struct tern_permit *permit)
{
    return (struct permit *)permit;
}

static enum state state_of(const struct permit *permit)
{
    return __atomic_load_n(&permit->state, __ATOMIC_ACQUIRE);
}

static void set_state(struct permit *permit, enum state state)
{
    __atomic_store_n(&permit->state, state, __ATOMIC_RELEASE);
}

static struct permit *find_permit(const struct tern_occasion *occasion)
{
    for (struct tern_list_node *link = waiting.next; link != &waiting; link = link->next) {
        struct permit *permit = TERN_CONTAINER(link, struct permit, link);
        if (tern_occasion_same(&permit->record->occasion, occasion))
            return permit;
    }
    return NULL;
}

static void free_permit(struct permit *permit)
{
    free(permit->record);
    free(permit);
}

/* Ends the waiting. An empty `text` lets the rank go on. */
static void end_waiting(struct permit *permit, const char *text)
{
    tern_list_remove(&permit->link);
    tern_text_copy(permit->text, sizeof permit->text, text);
    if (!permit->detached) {
        set_state(permit, text[0] ? REFUSED : GRANTED);
        tern_lane_tell(tern_check_message_lane());
        return;
    }
    if (text[0])
        tern_log("%s: %s", permit->record->procedure, permit->text);
    free_permit(permit);
}

static void take_verdict(const struct tern_occasion *occasion, const char *text)
{
    struct permit *permit = find_permit(occasion);
    if (permit)
        end_waiting(permit, text);
}

static int world_rank(const struct permit *permit, int place)
{
    const struct tern_record *record = permit->record;
    const struct tern_comm *comm = permit->comm;
    /* true if this process is in the judge's group */
    bool ours_first = record->local == record->members || (record->place < record->local);
    const struct tern_group *first = ours_first ? comm->group : comm->remote_group;
    const struct tern_group *second = ours_first ? comm->remote_group : comm->group;
    struct tern_process process = place < record->local
                                      ? tern_group_process(first, place)
                                      : tern_group_process(second, place - record->local);
    return (int)process.rank;
}

static void take_missing(const struct tern_check_note *note)
{
    struct permit *permit = find_permit(&note->occasion);
    if (!permit || permit->detached)
        return;
    permit->missing = *note;
    permit->asked_at = now_s();
    for (int i = 0; i < note->count && i < TERN_CHECK_MISSING_MOST; i++) {
        struct tern_check_note where = {.occasion = note->occasion, .place = note->places[i]};
        tern_check_send_note(&where, TERN_CHECK_WHERE, world_rank(permit, note->places[i]));
    }
}

/* Writes where this rank is: "in MPI_Wait". If it waits for other ranks, too, adds in which
 * call. */
static void say_where(const struct tern_occasion *asked, char *text, size_t room)
{
    const struct permit *permit = NULL;
    for (struct tern_list_node *link = waiting.next; link != &waiting && !permit;
         link = link->next) {
        const struct permit *other = TERN_CONTAINER(link, struct permit, link);
        if (!other->detached && !tern_occasion_same(&other->record->occasion, asked))
            permit = other;
    }
    int length = snprintf(text, room, "in %s", tern_check_newest_procedure());
    if (!permit)
        return;
    const struct tern_record *record = permit->record;
    if (strcmp(record->procedure, tern_check_newest_procedure()) != 0)
        length += snprintf(text + length, room - (size_t)length, ", waits for others in %s",
                           record->procedure);
    const char *before = " with ";
    for (int i = 0; i < record->fact_count && (record->occasion.series & TERN_SERIES_OF_GROUP) &&
                    length < (int)room;
         i++, before = ", ")
        length +=
            snprintf(text + length, room - (size_t)length, "%s%s", before, record->facts[i].text);
    if (length < (int)room)
        snprintf(text + length, room - (size_t)length, " on %s", record->comm_name);
}

static void take_where(const struct tern_check_note *note, int asker)
{
    struct tern_check_note here = *note;
    say_where(&note->occasion, here.text, DOING);
    tern_check_send_note(&here, TERN_CHECK_HERE, asker);
}

static void take_here(const struct tern_check_note *note)
{
    struct permit *permit = find_permit(&note->occasion);
    for (int i = 0; permit && i < permit->missing.count && i < TERN_CHECK_MISSING_MOST; i++)
        if (permit->missing.places[i] == note->place)
            tern_text_copy(permit->doing[i], DOING, note->text);
}

/* Reports the missing ranks: "rank 2 (in MPI_Recv), rank 3 (not in MPI)". */
static void say_who_is_missing(const struct permit *permit)
{
    char text[2 * TERN_CHECK_TEXT] = "", ranks[100];
    const struct tern_record *record = permit->record;
    int shown = permit->missing.count < TERN_CHECK_MISSING_MOST ? permit->missing.count
                                                                : TERN_CHECK_MISSING_MOST;
    for (int i = 0; i < shown; i++) {
        ranks[0] = 0;
        tern_check_name_ranks(record, &permit->missing.places[i], 1, ranks, sizeof ranks);
        size_t length = strlen(text);
        snprintf(text + length, sizeof text - length, "%s%s (%s)", i ? ", " : "", ranks,
                 permit->doing[i][0] ? permit->doing[i] : "not in MPI");
    }
    if (permit->missing.count > shown) {
        size_t length = strlen(text);
        snprintf(text + length, sizeof text - length, " and %d more",
                 permit->missing.count - shown);
    }
    ranks[0] = 0;
    tern_check_name_ranks(record, &record->place, 1, ranks, sizeof ranks);
    if (!shown)
        snprintf(text, sizeof text,
                 "rank %d of MPI_COMM_WORLD, which compares the calls and is not in MPI",
                 record->judge);
    tern_log("%s waits in %s on %s for %s", ranks, record->procedure, record->comm_name, text);
}

/* Asks who is missing if the call has waited for long, and reports the answers. Called from time to
 * time for each waiting permit. */
static void look_at_the_clock(struct permit *permit)
{
    enum { ANSWER_S = 1 };
    double now = now_s();
    if (!permit->asked_at && now - permit->since >= permit->patience_s) {
        struct tern_check_note who = {.occasion = permit->record->occasion,
                                      .place = permit->record->place};
        permit->asked_at = now;
        permit->missing.count = 0;
        memset(permit->doing, 0, sizeof permit->doing);
        tern_check_send_note(&who, TERN_CHECK_WHO, permit->record->judge);
    } else if (permit->asked_at) {
        bool all = permit->missing.count != 0;
        for (int i = 0; i < permit->missing.count && i < TERN_CHECK_MISSING_MOST; i++)
            all = all && permit->doing[i][0];
        if (!all && now - permit->asked_at < ANSWER_S)
            return;
        if (permit->missing.count != TERN_SAID_BY_ANOTHER)
            say_who_is_missing(permit);
        permit->asked_at = 0;
        permit->patience_s = 2 * (now - permit->since);
    }
}

/* --- peers that are lost --- */

static void judge_without_lost(const struct permit *permit)
{
    int members = permit->record->members;
    bool *lost = calloc((size_t)members, sizeof *lost);
    for (int place = 0; lost && place < members; place++)
        lost[place] = tern_check_rank_is_lost(world_rank(permit, place));
    if (lost)
        tern_gather_without(&permit->record->occasion, lost, answer);
    free(lost);
}

static void heed_lost_peers(void)
{
    for (struct tern_list_node *link = waiting.next, *next; link != &waiting; link = next) {
        struct permit *permit = TERN_CONTAINER(link, struct permit, link);
        next = link->next;
        if (permit->record->judge == (int32_t)tern_rte.rank &&
            !permit->detached) /* if detached, its communicator may be gone */
            judge_without_lost(permit);
        else if (tern_check_rank_is_lost(permit->record->judge))
            end_waiting(permit, "");
    }
}

/* --- progress --- */

static void take(enum tern_check_tag tag, const void *bytes, int from)
{
    const struct tern_check_note *note = bytes;
    switch (tag) {
    case TERN_CHECK_RECORD: take_record(bytes); break;
    case TERN_CHECK_VERDICT: take_verdict(&note->occasion, note->text); break;
    case TERN_CHECK_WHO: take_who(note, from); break;
    case TERN_CHECK_MISSING: take_missing(note); break;
    case TERN_CHECK_WHERE: take_where(note, from); break;
    case TERN_CHECK_HERE: take_here(note); break;
    }
}

/* Sends the records of new permits and returns their number. The judge does not send its own
 * record: it may answer it at once, and with it others that wait. Their permits then leave the
 * list, so the search begins anew after each. */
static int send_records(void)
{
    int events = 0;
    for (struct tern_list_node *link = waiting.next; link != &waiting;) {
        struct permit *permit = TERN_CONTAINER(link, struct permit, link);
        const struct tern_record *record = permit->record;
        link = link->next;
        if (permit->sent)
            continue;
        permit->sent = true;
        events++;
        if (record->judge != record->sender) {
            tern_check_send_record(record, record->judge);
            continue;
        }
        take_record(record);
        link = waiting.next;
    }
    return events;
}

static int poll(struct tern_lane *lane)
{
    tern_check_receive_messages();
    pthread_mutex_lock(&mutex);
    int events = tern_check_reap_messages(take) + send_records();
    for (struct tern_list_node *link = waiting.next; link != &waiting; link = link->next) {
        struct permit *permit = TERN_CONTAINER(link, struct permit, link);
        if (!permit->detached)
            look_at_the_clock(permit);
    }
    if (lane->lost_peers)
        heed_lost_peers();
    pthread_mutex_unlock(&mutex);
    return events;
}

/* --- permits --- */

/* Gives the record its number in its series. Needs the mutex. */
static void take_number(struct permit *permit)
{
    struct tern_occasion *occasion = &permit->record->occasion;
    if (occasion->series == TERN_SERIES_COLLECTIVES)
        occasion->number = permit->comm->check_number++;
    else if (occasion->series == TERN_SERIES_STARTS_IN_ORDER)
        occasion->number = permit->comm->check_starts++;
    else if (occasion->series & TERN_SERIES_STARTS)
        occasion->number++;
}

static void begin(struct tern_permit *base)
{
    struct permit *permit = permit_of(base);
    permit->since = now_s();
    permit->patience_s = patience_s;
    permit->asked_at = 0;
    permit->sent = false;
    pthread_mutex_lock(&mutex);
    take_number(permit);
    permit->state = WAITING;
    tern_list_append(&waiting, &permit->link);
    pthread_mutex_unlock(&mutex);
}

static int ask(struct tern_permit *base)
{
    struct permit *permit = permit_of(base);
    enum state state = state_of(permit);
    if (state == WAITING)
        return TERN_ERR_AGAIN;
    return state == REFUSED ? tern_error(TERN_ERR_NOT_SAME, "%s", permit->text) : 0;
}

static void release(struct tern_permit *base)
{
    struct permit *permit = permit_of(base);
    pthread_mutex_lock(&mutex);
    permit->detached = permit->state == WAITING; /* the answer is still to arrive */
    bool last = !permit->detached;
    pthread_mutex_unlock(&mutex);
    if (last)
        free_permit(permit);
}

struct tern_permit *tern_permit_new(struct tern_record *record, struct tern_comm *comm,
                                    bool detached)
{
    struct permit *permit = malloc(sizeof *permit);
    if (!permit) {
        free(record);
        return NULL;
    }
    memset(permit, 0, offsetof(struct permit, missing));
    permit->text[0] = 0;
    permit->permit = (struct tern_permit){begin, ask, release};
    permit->record = record;
    permit->comm = comm;
    permit->detached = detached;
    return &permit->permit;
}

int tern_permit_wait(struct tern_permit *permit)
{
    struct tern_waiter waiter = {0};
    int rc;
    begin(permit);
    while ((rc = ask(permit)) == TERN_ERR_AGAIN)
        tern_wait(&waiter);
    return rc;
}

/* --- start and end --- */

int tern_check_open(void)
{
    if (!tern_check_full() || tern_check_message_lane())
        return 0;
    patience_s = (double)tern_param_int("check_patience");
    return tern_check_open_messages(poll);
}
