/* SPDX-License-Identifier: BSD-3-Clause */
/* Each rank gets a line in words, without what differs between ranks that are in the same place:
 * the time, the peer, the process. Ranks with equal lines are a group. So a job of any size takes a
 * page, as long as its ranks are in few places. */
#include "mpirun/where/where_groups.h"

#include <stdlib.h>
#include <string.h>

#include "mpirun/base/strings.h"

enum { GROUPS_SHOWN = 16, LIST_BYTES = 70, LACKING_SHOWN = 4 };

/* A rank in a group. */
struct member {
    int rank;
    const struct tern_where_verb *verb;
    char *words;
    uint64_t comm; /* tells communicators with equal words apart; 0: they need not be */
};

/* Ranks in the same place: members first to first + count - 1. */
struct group {
    int first, count;
};

static int by_words(const void *a, const void *b)
{
    const struct member *one = a, *other = b;
    int order = strcmp(one->words, other->words);
    if (!order)
        order = (one->verb > other->verb) - (one->verb < other->verb);
    if (!order)
        order = (one->comm > other->comm) - (one->comm < other->comm);
    return order ? order : (one->rank > other->rank) - (one->rank < other->rank);
}

static int by_size(const void *a, const void *b)
{
    const struct group *one = a, *other = b;
    int order = (one->count < other->count) - (one->count > other->count);
    return order ? order : (one->first > other->first) - (one->first < other->first);
}

/* Appends "0-16,18,20-30", as far as there is room for it. */
static void list_members(struct tern_where_text *text, const struct member *members, int count)
{
    size_t start = text->used;
    for (int i = 0, last; i < count; i = last + 1) {
        for (last = i; last + 1 < count && members[last + 1].rank == members[last].rank + 1; last++)
            ;
        if (text->used - start > LIST_BYTES) {
            tern_where_add(text, ",...");
            return;
        }
        tern_where_add(text, "%s%d", i ? "," : "", members[i].rank);
        if (last > i)
            tern_where_add(text, "%c%d", last > i + 1 ? '-' : ',', members[last].rank);
    }
}

static bool waits_for_same(const struct tern_wait_record *a, const struct tern_wait_record *b)
{
    const struct tern_awaited *one = &a->awaited[0], *other = &b->awaited[0];
    return one->rank == other->rank && one->world == other->world && one->job == other->job;
}

/* Appends for whom the members of a group wait. */
static void add_peers(struct tern_where_text *text, const struct tern_where_rank *ranks,
                      const struct member *members, int count)
{
    const struct tern_wait_record *record = tern_where_wait_of(ranks, members[0].rank);
    bool same = true, same_bytes = true;
    char rank[TERN_WHERE_RANK_TEXT];
    if (!record || (record->kind != TERN_WAIT_RECV && record->kind != TERN_WAIT_SEND))
        return;
    for (int i = 1; i < count; i++) {
        const struct tern_wait_record *other = tern_where_wait_of(ranks, members[i].rank);
        same &= other && waits_for_same(other, record);
        same_bytes &= other && other->bytes == record->bytes;
    }
    const struct tern_awaited *first = &record->awaited[0];
    if (!same)
        tern_where_add(text, ", for different ranks");
    else if (first->rank == TERN_WHERE_ANY || first->world >= 0)
        tern_where_add(text, ", for %s", tern_where_rank_of(first, rank));
    if (same && first->world >= 0 && first->rank != first->world)
        tern_where_add(text, " (%d there)", first->rank);
    if (same_bytes && record->bytes >= 0 && first->tag >= TERN_WHERE_ANY)
        tern_where_add(text, ", %lld bytes%s", (long long)record->bytes,
                       record->kind == TERN_WAIT_RECV ? " at most" : "");
}

/* Appends how long the members have waited, or how much of a processor they use. */
static void add_measures(struct tern_where_text *text, const struct tern_where_rank *ranks,
                         const struct member *members, int count)
{
    uint32_t least_s = UINT32_MAX, most_s = 0;
    int least = 1 << 30, most = 0;
    const struct tern_wait_record *first = tern_where_wait_of(ranks, members[0].rank);
    for (int i = 0; i < count; i++) {
        const struct tern_where *where = &ranks[members[i].rank].where;
        least_s = where->waited_s < least_s ? where->waited_s : least_s;
        most_s = where->waited_s > most_s ? where->waited_s : most_s;
        least = where->cpu_permille < least ? where->cpu_permille : least;
        most = where->cpu_permille > most ? where->cpu_permille : most;
    }
    if (first && least_s < most_s)
        tern_where_add(text, ", for %u to %u s", least_s, most_s);
    else if (first)
        tern_where_add(text, ", for %u s", most_s);
    else if (members[0].verb == &tern_where_computes && most / 10 > least / 10)
        tern_where_add(text, ", %d to %d %% of a processor", least / 10, most / 10);
    else if (members[0].verb == &tern_where_computes)
        tern_where_add(text, ", %d %% of a processor", most / 10);
}

/* Appends how many ranks of the communicator are in the same collective. */
static void add_missing(struct tern_where_text *text, const struct tern_where_rank *ranks,
                        const struct member *members, int count)
{
    const struct tern_wait_record *record = tern_where_wait_of(ranks, members[0].rank);
    if (tern_where_waits_for_all(record) && record->comm_size > count)
        tern_where_add(text, " (%d of its %d ranks)", count, record->comm_size);
}

static void add_group(struct tern_where_text *text, const struct tern_where_rank *ranks,
                      const struct member *members, int count)
{
    const struct tern_where_rank *only = count == 1 ? &ranks[members[0].rank] : NULL;
    tern_where_add(text, "\n    %6d rank%s %s %s", count, count == 1 ? "" : "s",
                   count == 1 ? members[0].verb->one : members[0].verb->many, members[0].words);
    add_missing(text, ranks, members, count);
    add_peers(text, ranks, members, count);
    if (members[0].verb != &tern_where_has && ranks[members[0].rank].seen)
        add_measures(text, ranks, members, count);
    tern_where_add(text, ": ");
    list_members(text, members, count);
    if (only && only->seen && only->state != TERN_RANK_ENDED)
        tern_where_add(text, " (host %.100s, pid %d)", only->host, (int)only->where.pid);
}

/* Returns true if the rank belongs to the communicator of the wait, as far as known. */
static bool is_of_comm(const struct tern_wait_record *record, int rank)
{
    for (int i = 0; i < record->run_count && i < TERN_MEMBERS_SHOWN; i++) {
        const struct tern_members *run = &record->members[i];
        int64_t from = (int64_t)rank - run->first, stride = run->stride ? run->stride : 1;
        if (from % stride == 0 && from / stride >= 0 && from / stride < run->count)
            return true;
    }
    return false;
}

/* Returns true if the rank waits in a later collective of the communicator, so it has been in the
 * one of `record`. */
static bool is_further(const struct tern_where_rank *ranks, int rank,
                       const struct tern_wait_record *record)
{
    const struct tern_wait_record *other = tern_where_wait_of(ranks, rank);
    return other && other->kind == TERN_WAIT_COLLECTIVE && record->kind == TERN_WAIT_COLLECTIVE &&
           other->comm_id == record->comm_id && other->members_hash == record->members_hash &&
           other->number > record->number;
}

/* Returns true if ranks may leave the collective before all have come. */
static bool lets_ranks_leave(const char *procedure)
{
    static const char *const parts[] = {"cast", "Gather", "Igather", "Scatter", "Iscatter", "scan",
                                        "Scan", "eighbor"};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (strstr(procedure, parts[i]))
            return true;
    return (strstr(procedure, "MPI_Reduce") || strstr(procedure, "Ireduce")) &&
           !strstr(procedure, "_scatter");
}

/* Returns true if one of the members waits for a message of the rank. */
static bool is_awaited(const struct tern_where_rank *ranks, const struct member *members, int count,
                       int rank)
{
    for (int i = 0; i < count; i++) {
        const struct tern_wait_record *record = tern_where_wait_of(ranks, members[i].rank);
        if (record && !record->awaited[0].job && record->awaited[0].world == rank)
            return true;
    }
    return false;
}

/* Appends which ranks a collective lacks. If it lacks one rank of all, the chains name it. Returns
 * true if it has appended something. */
static bool add_lacking(struct tern_where_text *text, const struct tern_where_rank *ranks,
                        const struct member *members, int count, int size)
{
    const struct tern_wait_record *record = tern_where_wait_of(ranks, members[0].rank);
    int lacking = 0;
    if (!tern_where_waits_for_all(record) || record->comm_size <= count)
        return false;
    bool leaves = record->kind == TERN_WAIT_COLLECTIVE && lets_ranks_leave(record->procedure);
    struct member *others = tern_must_alloc((size_t)(size - count + 1) * sizeof *others);
    for (int rank = 0, next = 0; rank < size; rank++)
        if (next < count && members[next].rank == rank)
            next++;
        else if (is_of_comm(record, rank) && !is_further(ranks, rank, record) &&
                 (!leaves || is_awaited(ranks, members, count, rank)))
            others[lacking++].rank = rank;
    bool told = lacking > 1 ||
                (lacking && (record->comm_size != size || record->kind != TERN_WAIT_COLLECTIVE));
    if (told && record->kind == TERN_WAIT_COLLECTIVE)
        tern_where_add(text, "\n    %s, number %lld on %s, lacks rank%s ", record->procedure,
                       (long long)record->number, tern_where_comm_of(record),
                       lacking > 1 ? "s" : "");
    else if (told)
        tern_where_add(text, "\n    %s, %s, lacks rank%s ", record->procedure,
                       tern_where_comm_of(record), lacking > 1 ? "s" : "");
    if (told)
        list_members(text, others, lacking);
    if (told && record->run_count > TERN_MEMBERS_SHOWN)
        tern_where_add(text, ",...");
    free(others);
    return told;
}

static struct member *make_members(const struct tern_where_rank *ranks, int size)
{
    struct member *members = tern_must_alloc((size_t)size * sizeof *members);
    for (int rank = 0; rank < size; rank++) {
        char words[TERN_WHERE_LINE];
        members[rank].rank = rank;
        tern_where_describe(&ranks[rank], &members[rank].verb, words, sizeof words);
        members[rank].words = tern_must_copy(words);
        const struct tern_wait_record *record = tern_where_wait_of(ranks, rank);
        /* messages on communicators with one name are one place */
        bool one = tern_where_waits_for_all(record) || (record && !*record->comm);
        members[rank].comm = one ? record->members_hash : 0;
    }
    qsort(members, (size_t)size, sizeof *members, by_words);
    return members;
}

void tern_where_add_groups(struct tern_where_text *text, const struct tern_where_rank *ranks,
                           int size)
{
    struct member *members = make_members(ranks, size);
    struct group *groups = tern_must_alloc((size_t)size * sizeof *groups);
    int count = 0, hidden = 0;
    for (int i = 0; i < size; i++) {
        const struct member *before = i ? &members[i - 1] : NULL;
        if (!before || before->verb != members[i].verb || before->comm != members[i].comm ||
            strcmp(before->words, members[i].words))
            groups[count++].first = i;
        groups[count - 1].count++;
    }
    qsort(groups, (size_t)count, sizeof *groups, by_size);
    for (int i = 0; i < count; i++) {
        if (i < GROUPS_SHOWN)
            add_group(text, ranks, &members[groups[i].first], groups[i].count);
        else
            hidden += groups[i].count;
    }
    if (hidden)
        tern_where_add(text, "\n    %6d rank%s in %d further places", hidden,
                       hidden == 1 ? "" : "s", count - GROUPS_SHOWN);
    for (int i = 0, shown = 0; i < count && shown < LACKING_SHOWN; i++)
        shown += add_lacking(text, ranks, &members[groups[i].first], groups[i].count, size);
    free(groups);
    for (int i = 0; i < size; i++)
        free(members[i].words);
    free(members);
}
