/* SPDX-License-Identifier: BSD-3-Clause */

/* Compares what the ranks of a communicator are about to do, and says what differs. Pure
 * functions. */

#include "lib/mpi/check/check.h"
#include "lib/mpi/check/check_record.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A fact as one rank states it. */
struct statement {
    uint64_t key, value;
    int place;
    const char *text;
};

static void append(char *text, size_t room, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
static void append(char *text, size_t room, const char *format, ...)
{
    size_t length = strlen(text);
    va_list args;
    va_start(args, format);
    vsnprintf(text + length, room - length, format, args);
    va_end(args);
}

/* Returns the rank of a place in its group. */
static int rank_of(const struct tern_record *any, int place)
{
    return place < any->local ? place : place - any->local;
}

void tern_check_name_ranks(const struct tern_record *any, const int places[], int count, char *text,
                           size_t room)
{
    enum { MOST = 40 };
    bool groups = any->local != any->members;
    append(text, room, count == 1 ? "rank " : "ranks ");
    for (int i = 0, said = 0; i < count; i++, said++) {
        bool first_group = places[i] < any->local;
        int last = i;
        while (last + 1 < count && places[last + 1] == places[last] + 1 &&
               (places[last + 1] < any->local) == first_group)
            last++;
        if (said == MOST) {
            append(text, room, ", ... (%d in all)", count);
            return;
        }
        append(text, room, "%s%d", i ? ", " : "", rank_of(any, places[i]));
        if (last - i >= 3) {
            append(text, room, " to %d", rank_of(any, places[last]));
            i = last;
        }
        if (groups && (i + 1 == count || (places[i + 1] < any->local) != first_group))
            append(text, room, " of group %c", first_group ? 'A' : 'B');
    }
}

static int compare(const void *a, const void *b)
{
    const struct statement *x = a, *y = b;
    if (x->key != y->key)
        return x->key < y->key ? -1 : 1;
    if (x->value != y->value)
        return x->value < y->value ? -1 : 1;
    return x->place < y->place ? -1 : x->place > y->place;
}

/* A party: the statements with one key and one value. */
struct party {
    const struct statement *first;
    int count;
};

/* Orders parties by size, smallest first: people look for the few ranks that differ. */
static int compare_parties(const void *a, const void *b)
{
    const struct party *x = a, *y = b;
    if (x->count != y->count)
        return x->count < y->count ? -1 : 1;
    return x->first->place > y->first->place ? -1 : x->first->place < y->first->place;
}

/* Writes "rank 3 called MPI_Bcast with root 1, ranks 0, 1, 2 with root 0 on MPI_COMM_WORLD". */
static void describe(const struct tern_record *any, const struct statement *all, int count,
                     const char *procedure, char *text, size_t room)
{
    enum { MOST = 6 };
    struct party parties[MOST];
    int party_count = 0, *places = malloc((size_t)count * sizeof *places);
    text[0] = 0;
    for (int i = 0; i < count; i++) {
        if (i == 0 || all[i].value != all[i - 1].value) {
            if (party_count == MOST)
                break;
            parties[party_count++] = (struct party){&all[i], 0};
        }
        parties[party_count - 1].count++;
    }
    qsort(parties, (size_t)party_count, sizeof *parties, compare_parties);
    for (int i = 0; i < party_count && places; i++) {
        int n = 0;
        for (int k = 0; k < parties[i].count; k++)
            if (n == 0 || places[n - 1] != parties[i].first[k].place)
                places[n++] = parties[i].first[k].place;
        append(text, room, i ? ", " : "");
        tern_check_name_ranks(any, places, n, text, room);
        if (!procedure)
            append(text, room, i ? " %s" : " called %s", parties[i].first->text);
        else if (i == 0)
            append(text, room, " called %s with %s", procedure, parties[i].first->text);
        else
            append(text, room, " with %s", parties[i].first->text);
    }
    append(text, room, " on %s", any->comm_name);
    if (any->local != any->members)
        append(text, room, " (group A: %d ranks, group B: %d)", any->local,
               any->members - any->local);
    free(places);
}

/* Returns the other end of an edge that only one end states, if the record of that end has arrived;
 * else -1. */
static int lonely_end(const struct tern_record *const records[], const struct statement *one)
{
    int from = (int)(one->key >> 24 & (TERN_FACT_RANKS - 1)),
        to = (int)(one->key & (TERN_FACT_RANKS - 1));
    int other = one->place == from ? to : from;
    return one->key >> 60 == TERN_FACT_EDGE && records[other] ? other : -1;
}

/* Returns true if the statement is about data that match every signature. Sorted, such statements
 * come first among those with their key. */
static bool matches_any(const struct statement *one)
{
    uint64_t kind = one->key >> 60;
    return (kind == TERN_FACT_DATA || kind == TERN_FACT_EDGE) && one->value == TERN_SIGNATURE_ANY;
}

/* Finds the first key with two values among the sorted statements, or the first edge that only one
 * end states, and describes it. Returns true if there is none. */
static bool agree(const struct tern_record *const records[], const struct statement *all, int count,
                  const char *procedure, char *text, size_t room)
{
    for (int i = 0, end; i < count; i = end) {
        const struct tern_record *any = records[all[i].place];
        bool same = true;
        int first = i; /* the first that has to agree */
        for (end = i + 1; end < count && all[end].key == all[i].key; end++)
            if (matches_any(&all[first]))
                first = end;
            else
                same = same && all[end].value == all[first].value;
        int other = end == i + 1 ? lonely_end(records, &all[i]) : -1;
        if (same && other < 0)
            continue;
        describe(any, all + first, end - first, procedure, text, room);
        if (other >= 0)
            append(text, room, "; rank %d has no such neighbour", other);
        return false;
    }
    return true;
}

static uint64_t hash(const char *text)
{
    uint64_t h = 0xcbf29ce484222325u;
    for (; *text; text++)
        h = (h ^ (unsigned char)*text) * 0x100000001b3u;
    return h;
}

bool tern_check_judge(const struct tern_record *const records[], int members, char *text,
                      size_t room)
{
    const char *procedure = "";
    size_t facts = 0;
    int count = 0;
    text[0] = 0;
    for (int i = 0; i < members; i++)
        if (records[i]) {
            procedure = records[i]->procedure;
            facts += (size_t)records[i]->fact_count;
        }
    struct statement *all = malloc((facts + (size_t)members + 1) * sizeof *all);
    if (!all)
        return true;
    for (int i = 0; i < members; i++)
        if (records[i])
            all[count++] = (struct statement){0, hash(records[i]->procedure), i,
                                              records[i]->procedure};
    qsort(all, (size_t)count, sizeof *all, compare);
    bool same = agree(records, all, count, NULL, text, room);
    if (same) {
        count = 0;
        for (int i = 0; i < members; i++)
            for (int k = 0; records[i] && k < records[i]->fact_count; k++) {
                const struct tern_fact *fact = &records[i]->facts[k];
                all[count++] = (struct statement){fact->key, fact->value, i, fact->text};
            }
        qsort(all, (size_t)count, sizeof *all, compare);
        same = agree(records, all, count, procedure, text, room);
    }
    free(all);
    return same;
}
