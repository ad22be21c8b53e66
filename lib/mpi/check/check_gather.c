/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The judge's records: gathers them by occasion until all ranks that must call have sent theirs.
 * Then compares them and answers each rank.
 *
 * Calls of part of a communicator (MPI_Comm_create_group) name the ranks that take part. Ranks that
 * name different groups or tags end up in different gatherings, and would wait for each other for
 * ever. So two gatherings are at odds if each awaits a rank that has arrived in the other, and both
 * are refused. If a rank has threads this proves nothing, because another of its threads may still
 * call. A refused gathering stays until all ranks that it awaited have arrived, here or there. So
 * the last of them is not left waiting.
 */

#include "lib/mpi/check/check_record.h"
#include "lib/util/base/list.h"
#include "lib/util/base/text.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct gathering {
    struct tern_list_node link;
    struct tern_occasion occasion;
    int members, awaited, arrived;
    bool decided;
    /* number of the dispute in which this gathering was refused; 0 if none */
    int dispute;
    /* place + 1 of the rank that reports who is missing; 0 if no rank has asked yet */
    int asker;
    const struct tern_record *any; /* the first record that arrived */
    /* the decision; empty if all records agree */
    char text[TERN_CHECK_TEXT];
    struct tern_record *records[]; /* by place */
};
static struct tern_list_node gatherings = {&gatherings, &gatherings};
static int disputes;

static struct gathering *gathering_of(struct tern_list_node *link)
{
    return TERN_CONTAINER(link, struct gathering, link);
}

/* Finds the gathering of an occasion that has (`arrived`) or lacks a record of this place. */
static struct gathering *find(const struct tern_occasion *occasion, int place, bool arrived)
{
    for (struct tern_list_node *link = gatherings.next; link != &gatherings; link = link->next) {
        struct gathering *gathering = gathering_of(link);
        if (tern_occasion_same(&gathering->occasion, occasion) &&
            arrived == (gathering->records[place] != NULL))
            return gathering;
    }
    return NULL;
}

static struct gathering *new_gathering(const struct tern_record *record)
{
    size_t records = (size_t)record->members * sizeof(struct tern_record *);
    struct gathering *gathering = malloc(sizeof *gathering + records);
    if (!gathering)
        return NULL;
    memset(gathering, 0, offsetof(struct gathering, text));
    gathering->text[0] = 0;
    memset(gathering->records, 0, records);
    gathering->occasion = record->occasion;
    gathering->members = record->members;
    gathering->awaited = record->awaited ? record->awaited : record->members;
    tern_list_append(&gatherings, &gathering->link);
    return gathering;
}

static void end_gathering(struct gathering *gathering)
{
    tern_list_remove(&gathering->link);
    for (int i = 0; i < gathering->members; i++)
        free(gathering->records[i]);
    free(gathering);
}

/* Adds a copy of a record. Returns false if there is no memory. */
static bool add(struct gathering *gathering, const struct tern_record *record)
{
    struct tern_record *copy = malloc(tern_record_bytes(record));
    if (!copy)
        return false;
    memcpy(copy, record, tern_record_bytes(record));
    gathering->records[record->place] = copy;
    gathering->any = gathering->any ? gathering->any : copy;
    gathering->arrived++;
    return true;
}

static bool judge(struct tern_record *const records[], int members, char text[TERN_CHECK_TEXT])
{
    return tern_check_judge((const struct tern_record *const *)records, members, text,
                            TERN_CHECK_TEXT);
}

static void decide(struct gathering *gathering, const char *text, tern_answer *answer)
{
    gathering->decided = true;
    tern_text_copy(gathering->text, sizeof gathering->text, text);
    for (int i = 0; i < gathering->members; i++)
        if (gathering->records[i])
            answer(gathering->records[i], gathering->text);
}

/* ---- calls of part of a communicator ---- */

/* Returns true if a rank that `here` waits for has arrived in `there`. */
static bool misses_one_of(const struct gathering *here, const struct gathering *there)
{
    for (int i = 0; i < here->members; i++)
        if (there->records[i] && !here->records[i] && !there->records[i]->threads &&
            tern_record_awaits(here->any, i))
            return true;
    return false;
}

static bool at_odds(const struct gathering *a, const struct gathering *b)
{
    return a != b && a->occasion.comm == b->occasion.comm &&
           (b->occasion.series & TERN_SERIES_OF_GROUP) && misses_one_of(a, b) &&
           misses_one_of(b, a);
}

/* Lets ranks that were refused in one gathering of a dispute count as arrived in the others. */
static void excuse(int dispute)
{
    for (struct tern_list_node *link = gatherings.next, *next; link != &gatherings; link = next) {
        struct gathering *here = gathering_of(link);
        next = link->next;
        for (struct tern_list_node *l = gatherings.next;
             here->dispute == dispute && l != &gatherings; l = l->next) {
            const struct gathering *there = gathering_of(l);
            for (int i = 0; there->dispute == dispute && i < here->members; i++)
                if (there->records[i] && !here->records[i] && tern_record_awaits(here->any, i))
                    add(here, there->records[i]);
        }
    }
}

static void end_dispute(int dispute)
{
    excuse(dispute);
    for (struct tern_list_node *link = gatherings.next, *next; link != &gatherings; link = next) {
        struct gathering *gathering = gathering_of(link);
        next = link->next;
        if (gathering->dispute == dispute && gathering->arrived == gathering->awaited)
            end_gathering(gathering);
    }
}

static void refuse(struct gathering *gathering, int dispute, const char *text, tern_answer *answer)
{
    if (!gathering->decided)
        decide(gathering, text, answer);
    gathering->dispute = dispute;
}

/* Refuses the gathering and those it is at odds with. Returns the number of the dispute, or 0 if
 * there is none. */
static int refuse_if_at_odds(struct gathering *gathering, tern_answer *answer)
{
    struct tern_record **all = calloc((size_t)gathering->members, sizeof *all);
    char text[TERN_CHECK_TEXT];
    int odd = 0;
    for (struct tern_list_node *link = gatherings.next; all && link != &gatherings;
         link = link->next) {
        const struct gathering *other = gathering_of(link);
        if (other != gathering && !at_odds(gathering, other))
            continue;
        odd += other != gathering;
        for (int i = 0; i < gathering->members; i++)
            all[i] = all[i] ? all[i] : other->records[i];
    }
    bool refused = odd && !judge(all, gathering->members, text);
    free(all);
    if (!refused)
        return 0;
    disputes++;
    for (struct tern_list_node *link = gatherings.next; link != &gatherings; link = link->next)
        if (at_odds(gathering, gathering_of(link)))
            refuse(gathering_of(link), disputes, text, answer);
    refuse(gathering, disputes, text, answer);
    return disputes;
}

/* ---- records and questions that arrive ---- */

bool tern_gather_record(const struct tern_record *record, tern_answer *answer)
{
    struct gathering *gathering = find(&record->occasion, record->place, false);
    char text[TERN_CHECK_TEXT];
    if (!gathering)
        gathering = new_gathering(record);
    if (!gathering || !add(gathering, record))
        return false;
    int dispute = gathering->dispute;
    if (gathering->decided)
        answer(record, gathering->text);
    else if (gathering->arrived == gathering->awaited)
        decide(gathering, judge(gathering->records, gathering->members, text) ? "" : text, answer);
    else if (record->awaited)
        dispute = refuse_if_at_odds(gathering, answer);
    if (dispute)
        end_dispute(dispute);
    else if (gathering->arrived == gathering->awaited)
        end_gathering(gathering);
    return true;
}

int tern_gather_missing(const struct tern_occasion *occasion, int place, tern_answer *answer,
                        int most, int32_t places[])
{
    struct gathering *gathering = find(occasion, place, true);
    char text[TERN_CHECK_TEXT];
    int count = 0;
    if (!gathering || gathering->decided)
        return 0;
    if (!judge(gathering->records, gathering->members, text)) {
        decide(gathering, text, answer);
        return 0;
    }
    if (!gathering->asker)
        gathering->asker = place + 1;
    if (gathering->asker != place + 1)
        return TERN_SAID_BY_ANOTHER;
    for (int i = 0; i < gathering->members; i++)
        if (!gathering->records[i] && tern_record_awaits(gathering->any, i) && count++ < most)
            places[count - 1] = i;
    return count;
}

static bool misses_only(const struct gathering *gathering, const bool lost[])
{
    for (int i = 0; i < gathering->members; i++)
        if (!gathering->records[i] && !lost[i] && tern_record_awaits(gathering->any, i))
            return false;
    return true;
}

void tern_gather_without(const struct tern_occasion *occasion, const bool lost[],
                         tern_answer *answer)
{
    for (struct tern_list_node *link = gatherings.next, *next; link != &gatherings; link = next) {
        struct gathering *gathering = gathering_of(link);
        char text[TERN_CHECK_TEXT];
        next = link->next;
        if (!tern_occasion_same(&gathering->occasion, occasion) || gathering->decided ||
            !misses_only(gathering, lost))
            continue;
        decide(gathering, judge(gathering->records, gathering->members, text) ? "" : text, answer);
        end_gathering(gathering);
    }
}

void tern_gather_forget(void)
{
    while (!tern_list_empty(&gatherings))
        end_gathering(gathering_of(gatherings.next));
}
