/* SPDX-License-Identifier: BSD-3-Clause */
/* Each rank gets a line in words, without what differs between ranks that are in the same place:
 * the time, the peer, the process. Ranks with equal lines are a group. So a job of any size takes a
 * page, as long as its ranks are in few places. */
#include "mpirun/where/where_table.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mpirun/base/strings.h"

enum {
    ANY = -1, /* MPI_ANY_SOURCE, MPI_ANY_TAG */
    LINE = 400,
    GROUPS_SHOWN = 16,
    LIST_BYTES = 70,
    CIRCLE_SHOWN = 8,
    CHAINS_SHOWN = 3,
    LACKING_SHOWN = 4,
    SEVERAL_SHOWN = 6,
    UNASKED_SHOWN = 6,
    UNHEARD_SHOWN = 6,
    BUSY_PERMILLE = 300,
};

/* A growing text. */
struct text {
    char *bytes;
    size_t used, room;
};

static __attribute__((format(printf, 2, 3))) void add(struct text *text, const char *format, ...)
{
    va_list args;
    if (text->room - text->used < 2 * LINE) {
        text->room = 2 * text->room + 4 * LINE;
        text->bytes = tern_must_grow(text->bytes, text->room);
    }
    va_start(args, format);
    int n = vsnprintf(text->bytes + text->used, 2 * LINE, format, args);
    va_end(args);
    text->used += n < 2 * LINE ? (size_t)n : 2 * LINE - 1;
}

/* ---- one rank in words ---- */

static const char *comm_name(const char *name)
{
    return *name ? name : "a communicator without a name";
}

/* what windows are called that the user has not named (lib/mpi/win.c) */
static const char nameless[] = "a window";

/* Returns the name of the communicator of a wait. Without a name, its size and id tell it from
 * others; all its ranks have the same id. Valid until the next call. */
static const char *comm_of(const struct tern_wait_record *record)
{
    static char text[100];
    if (strcmp(record->comm, nameless) == 0 && record->comm_id) {
        snprintf(text, sizeof text, "a window without a name (id %llx)",
                 (unsigned long long)record->comm_id);
        return text;
    }
    if (*record->comm || !record->comm_id)
        return comm_name(record->comm);
    snprintf(text, sizeof text, "a communicator of %d ranks without a name (id %llx)",
             record->comm_size, (unsigned long long)record->comm_id);
    return text;
}

/* Writes "tag 7, ". The library's own tags, below ANY, mean nothing to a user. */
static void name_tag(int tag, char *words, size_t room)
{
    if (tag == ANY)
        snprintf(words, room, "any tag, ");
    else if (tag > ANY)
        snprintf(words, room, "tag %d, ", tag);
    else
        *words = '\0';
}

enum { RANK_TEXT = 48 };

/* Writes "rank 3", or "rank 3 of job 2". Returns `text`. */
static const char *rank_of(const struct tern_awaited *awaited, char text[RANK_TEXT])
{
    if (awaited->world < 0)
        snprintf(text, RANK_TEXT, "%s", awaited->rank == ANY ? "any rank" : "a rank");
    else if (!awaited->job)
        snprintf(text, RANK_TEXT, "rank %d", awaited->world);
    else if (awaited->job > 0)
        snprintf(text, RANK_TEXT, "rank %d of job %d", awaited->world, awaited->job);
    else
        snprintf(text, RANK_TEXT, "rank %d of another job", awaited->world);
    return text;
}

/* Writes who has the lock that a rank waits for. */
static void name_holder(const struct tern_wait_record *record, char *words, size_t room)
{
    const struct tern_awaited *taker = &record->awaited[0];
    char rank[RANK_TEXT];
    if (taker->world >= 0)
        rank_of(taker, rank);
    else
        snprintf(rank, sizeof rank, "another rank");
    if (record->number > 1)
        snprintf(words, room, "which %lld ranks share; %s took it last",
                 (long long)record->number, rank);
    else
        snprintf(words, room, "which %s holds%s", rank,
                 record->number == 1   ? ", shared"
                 : record->number == 0 ? ", exclusive"
                                       : "");
}

/* Writes what partitioned communication lacks: "3 of 4 partitions lack its own MPI_Pready, ". */
static void name_partitions(const struct tern_awaited *awaited, char *words, size_t room)
{
    bool sends = awaited->kind == TERN_WAIT_SEND;
    *words = '\0';
    if (awaited->lacking < 0)
        snprintf(words, room, "the sender has not called MPI_Psend_init, ");
    else if (awaited->lacking)
        snprintf(words, room, "%d of %d partitions lack %s, ", awaited->lacking,
                 awaited->partitions,
                 sends ? "its own MPI_Pready" : "the sender's MPI_Pready, or are on their way");
    else if (awaited->partitions)
        snprintf(words, room, "all partitions are ready, ");
}

/* Writes what a rank waits for, except the peer: "in MPI_Recv, tag 7, MPI_COMM_WORLD". */
static void describe_wait(const struct tern_wait_record *record, char *words, size_t room)
{
    char tag[24], requests[60] = "", partitions[100];
    int n;
    const char *procedure = *record->procedure ? record->procedure : "a procedure of MPI";
    name_tag(record->awaited[0].tag, tag, sizeof tag);
    name_partitions(&record->awaited[0], partitions, sizeof partitions);
    if (record->requests > 1)
        snprintf(requests, sizeof requests, " (%d requests), the first of them", record->requests);
    switch (record->kind) {
    case TERN_WAIT_RECV:
    case TERN_WAIT_SEND:
        snprintf(words, room, "in %s%s, %s%s%s%s", procedure, requests,
                 record->requests && record->kind == TERN_WAIT_SEND ? "to send, " : "", partitions,
                 tag, comm_of(record));
        break;
    case TERN_WAIT_COLLECTIVE:
        snprintf(words, room, "in %s%s, number %lld on %s", procedure, requests,
                 (long long)record->number, comm_of(record));
        break;
    case TERN_WAIT_LOCK:
        n = snprintf(words, room, "in %s, for %s lock of rank %d's part of %s%s, ", procedure,
                     record->exclusive ? "an exclusive" : "a shared", record->awaited[0].rank,
                     strcmp(record->comm, nameless) ? "window " : "", comm_of(record));
        name_holder(record, words + n, room - (size_t)n);
        break;
    case TERN_WAIT_PORT:
        snprintf(words, room, "in %s, %s", procedure, record->comm);
        break;
    default:
        snprintf(words, room, "in %s%s", procedure, requests);
    }
}

/* A verb for one rank and for several. */
struct verb {
    const char *one, *many;
};
static const struct verb waits = {"waits", "wait"}, is_stopped = {"is stopped", "are stopped"},
                         computes = {"computes", "compute"}, sleeps = {"sleeps", "sleep"},
                         is_in_mpi = {"is busy", "are busy"}, is = {"is", "are"},
                         tests = {"tests in vain", "test in vain"},
                         has = {"has", "have"};

/* Returns true if the rank may sleep in MPI, where it tells of its wait only after a while. */
static bool may_wait(const struct tern_where *where)
{
    return where->state == 'S' && (strncmp(where->place, "in futex", 8) == 0 ||
                                   strncmp(where->place, "in epoll_wait", 13) == 0);
}

/* Returns what a rank that does not wait is in, as far as known. */
static const char *surroundings(const struct tern_where_rank *rank)
{
    bool ours = rank->state == TERN_RANK_IN_MPI && rank->where.is_ours;
    if (ours && may_wait(&rank->where))
        return "outside MPI, or for a moment in it";
    if (ours && rank->where.state == 'R' && !*rank->where.place)
        return "outside MPI, or in a loop of tests or probes";
    return rank->state == TERN_RANK_FINALIZED ? "after MPI_Finalize"
           : rank->state != TERN_RANK_IN_MPI  ? rank->job_in_mpi ? "before MPI_Init" : "without MPI"
           : rank->where.is_ours              ? "outside MPI"
                                              : "in a program with another MPI library";
}

static void describe_outside(const struct tern_where_rank *rank, const struct verb **ret_verb,
                             char *words, size_t room)
{
    const struct tern_where *where = &rank->where;
    bool busy = where->state == 'R' || where->cpu_permille >= BUSY_PERMILLE;
    if (where->state == 'X' || where->state == 'Z') {
        *ret_verb = &is;
        snprintf(words, room, "about to end, or not visible here");
    } else if (where->is_ours && strstr(where->place, "(libmpi.so")) {
        *ret_verb = &is_in_mpi;
        snprintf(words, room, "in MPI (a loop of tests or probes?)");
    } else {
        *ret_verb = busy ? &computes : &sleeps;
        snprintf(words, room, "%s%s%s%s", surroundings(rank), *where->place ? ", " : "",
                 where->place, where->state == 'D' ? ", for a disk or a driver" : "");
    }
}

/* Describes where a rank is. Ranks in the same place get equal words and the same verb. */
static void describe(const struct tern_where_rank *rank, const struct verb **ret_verb, char *words,
                     size_t room)
{
    char wait[LINE / 2] = "";
    if (rank->state == TERN_RANK_ENDED) {
        *ret_verb = &has;
        snprintf(words, room, "ended");
    } else if (rank->state == TERN_RANK_NOT_STARTED) {
        *ret_verb = &is;
        snprintf(words, room, "not started yet");
    } else if (!rank->seen) {
        *ret_verb = &is;
        snprintf(words, room, "not seen: host %.100s has not answered", rank->host);
    } else if (rank->where.state == 'T' || rank->where.state == 't') {
        *ret_verb = &is_stopped;
        if (rank->where.waits)
            describe_wait(&rank->where.record, wait, sizeof wait);
        snprintf(words, room, "by %s, %s", rank->where.state == 't' ? "a debugger" : "a signal",
                 *wait ? wait : surroundings(rank));
    } else if (rank->where.waits) {
        *ret_verb = rank->where.record.tests ? &tests : &waits;
        describe_wait(&rank->where.record, words, room);
    } else {
        describe_outside(rank, ret_verb, words, room);
    }
}

/* ---- groups ---- */

/* A rank in a group. */
struct member {
    int rank;
    const struct verb *verb;
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
static void list_members(struct text *text, const struct member *members, int count)
{
    size_t start = text->used;
    for (int i = 0, last; i < count; i = last + 1) {
        for (last = i; last + 1 < count && members[last + 1].rank == members[last].rank + 1; last++)
            ;
        if (text->used - start > LIST_BYTES) {
            add(text, ",...");
            return;
        }
        add(text, "%s%d", i ? "," : "", members[i].rank);
        if (last > i)
            add(text, "%c%d", last > i + 1 ? '-' : ',', members[last].rank);
    }
}

static const struct tern_wait_record *wait_of(const struct tern_where_rank *ranks, int rank)
{
    return ranks[rank].seen && ranks[rank].where.waits && ranks[rank].state != TERN_RANK_ENDED
               ? &ranks[rank].where.record
               : NULL;
}

static bool waits_for_same(const struct tern_wait_record *a, const struct tern_wait_record *b)
{
    const struct tern_awaited *one = &a->awaited[0], *other = &b->awaited[0];
    return one->rank == other->rank && one->world == other->world && one->job == other->job;
}

/* Appends for whom the members of a group wait. */
static void add_peers(struct text *text, const struct tern_where_rank *ranks,
                      const struct member *members, int count)
{
    const struct tern_wait_record *record = wait_of(ranks, members[0].rank);
    bool same = true, same_bytes = true;
    char rank[RANK_TEXT];
    if (!record || (record->kind != TERN_WAIT_RECV && record->kind != TERN_WAIT_SEND))
        return;
    for (int i = 1; i < count; i++) {
        const struct tern_wait_record *other = wait_of(ranks, members[i].rank);
        same &= other && waits_for_same(other, record);
        same_bytes &= other && other->bytes == record->bytes;
    }
    const struct tern_awaited *first = &record->awaited[0];
    if (!same)
        add(text, ", for different ranks");
    else if (first->rank == ANY || first->world >= 0)
        add(text, ", for %s", rank_of(first, rank));
    if (same && first->world >= 0 && first->rank != first->world)
        add(text, " (%d there)", first->rank);
    if (same_bytes && record->bytes >= 0 && first->tag >= ANY)
        add(text, ", %lld bytes%s", (long long)record->bytes,
            record->kind == TERN_WAIT_RECV ? " at most" : "");
}

/* Appends how long the members have waited, or how much of a processor they use. */
static void add_measures(struct text *text, const struct tern_where_rank *ranks,
                         const struct member *members, int count)
{
    uint32_t least_s = UINT32_MAX, most_s = 0;
    int least = 1 << 30, most = 0;
    const struct tern_wait_record *first = wait_of(ranks, members[0].rank);
    for (int i = 0; i < count; i++) {
        const struct tern_where *where = &ranks[members[i].rank].where;
        least_s = where->waited_s < least_s ? where->waited_s : least_s;
        most_s = where->waited_s > most_s ? where->waited_s : most_s;
        least = where->cpu_permille < least ? where->cpu_permille : least;
        most = where->cpu_permille > most ? where->cpu_permille : most;
    }
    if (first && least_s < most_s)
        add(text, ", for %u to %u s", least_s, most_s);
    else if (first)
        add(text, ", for %u s", most_s);
    else if (members[0].verb == &computes && most / 10 > least / 10)
        add(text, ", %d to %d %% of a processor", least / 10, most / 10);
    else if (members[0].verb == &computes)
        add(text, ", %d %% of a processor", most / 10);
}

/* Returns true if the rank waits until all ranks of a communicator have come. */
static bool waits_for_all(const struct tern_wait_record *record)
{
    return record && (record->kind == TERN_WAIT_COLLECTIVE || record->run_count > 0);
}

/* Appends how many ranks of the communicator are in the same collective. */
static void add_missing(struct text *text, const struct tern_where_rank *ranks,
                        const struct member *members, int count)
{
    const struct tern_wait_record *record = wait_of(ranks, members[0].rank);
    if (waits_for_all(record) && record->comm_size > count)
        add(text, " (%d of its %d ranks)", count, record->comm_size);
}

static void add_group(struct text *text, const struct tern_where_rank *ranks,
                      const struct member *members, int count)
{
    const struct tern_where_rank *only = count == 1 ? &ranks[members[0].rank] : NULL;
    add(text, "\n    %6d rank%s %s %s", count, count == 1 ? "" : "s",
        count == 1 ? members[0].verb->one : members[0].verb->many, members[0].words);
    add_missing(text, ranks, members, count);
    add_peers(text, ranks, members, count);
    if (members[0].verb != &has && ranks[members[0].rank].seen)
        add_measures(text, ranks, members, count);
    add(text, ": ");
    list_members(text, members, count);
    if (only && only->seen && only->state != TERN_RANK_ENDED)
        add(text, " (host %.100s, pid %d)", only->host, (int)only->where.pid);
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
    const struct tern_wait_record *other = wait_of(ranks, rank);
    return other && other->kind == TERN_WAIT_COLLECTIVE && record->kind == TERN_WAIT_COLLECTIVE &&
           other->comm_id == record->comm_id && other->members_hash == record->members_hash &&
           other->number > record->number;
}

/* Appends which ranks a collective lacks. If it lacks one rank of all, the chains name it. Returns
 * true if it has appended something. */
static bool add_lacking(struct text *text, const struct tern_where_rank *ranks,
                        const struct member *members, int count, int size)
{
    const struct tern_wait_record *record = wait_of(ranks, members[0].rank);
    int lacking = 0;
    if (!waits_for_all(record) || record->comm_size <= count)
        return false;
    struct member *others = tern_must_alloc((size_t)(size - count + 1) * sizeof *others);
    for (int rank = 0, next = 0; rank < size; rank++)
        if (next < count && members[next].rank == rank)
            next++;
        else if (is_of_comm(record, rank) && !is_further(ranks, rank, record))
            others[lacking++].rank = rank;
    bool told = lacking > 1 || (lacking && (record->comm_size != size ||
                                            record->kind != TERN_WAIT_COLLECTIVE));
    if (told && record->kind == TERN_WAIT_COLLECTIVE)
        add(text, "\n    %s, number %lld on %s, lacks rank%s ", record->procedure,
            (long long)record->number, comm_of(record), lacking > 1 ? "s" : "");
    else if (told)
        add(text, "\n    %s, %s, lacks rank%s ", record->procedure, comm_of(record),
            lacking > 1 ? "s" : "");
    if (told)
        list_members(text, others, lacking);
    if (told && record->run_count > TERN_MEMBERS_SHOWN)
        add(text, ",...");
    free(others);
    return told;
}

static void add_groups(struct text *text, const struct tern_where_rank *ranks,
                       const struct member *members, int size)
{
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
        add(text, "\n    %6d rank%s in %d further places", hidden, hidden == 1 ? "" : "s",
            count - GROUPS_SHOWN);
    for (int i = 0, shown = 0; i < count && shown < LACKING_SHOWN; i++)
        shown += add_lacking(text, ranks, &members[groups[i].first], groups[i].count, size);
    free(groups);
}

/* ---- several requests ---- */

static void add_several(struct text *text, int rank, const struct tern_wait_record *record)
{
    char name[RANK_TEXT], tag[24], partitions[100];
    add(text, "\n    rank %d %s for %s", rank, record->tests ? "tests" : "waits",
        record->any ? "any of: " : "");
    for (int i = 0; i < record->awaited_count; i++) {
        const struct tern_awaited *awaited = &record->awaited[i];
        name_tag(awaited->tag, tag, sizeof tag);
        name_partitions(awaited, partitions, sizeof partitions);
        add(text, "%s%s%s", i ? "; " : "",
            awaited->kind == TERN_WAIT_SEND ? "a receive by " : "", rank_of(awaited, name));
        if (awaited->kind == TERN_WAIT_COLLECTIVE)
            add(text, " (collective)");
        else if (*tag) /* which ends in ", " */
            add(text, ", %s%.*s", partitions, (int)strlen(tag) - 2, tag);
    }
    if (record->requests > record->awaited_count)
        add(text, "; and %d more", record->requests - record->awaited_count);
}

static void add_all_several(struct text *text, const struct tern_where_rank *ranks, int size)
{
    int shown = 0;
    for (int rank = 0; rank < size; rank++) {
        const struct tern_wait_record *record = wait_of(ranks, rank);
        if (record && record->requests > 1 && record->awaited_count && shown++ < SEVERAL_SHOWN)
            add_several(text, rank, record);
    }
    if (shown > SEVERAL_SHOWN)
        add(text, "\n    and %d more ranks wait for several requests", shown - SEVERAL_SHOWN);
}

/* ---- who waits for whom ---- */

/* Returns the rank without which a wait does not end, or -1. `i`: which of those in the record. */
static int awaited_rank(const struct tern_wait_record *record, int size, int i)
{
    const struct tern_awaited *awaited = &record->awaited[i];
    bool own = awaited->kind == TERN_WAIT_SEND && awaited->lacking > 0;
    return i < record->awaited_count && !record->any && !record->tests && !own && !awaited->job &&
                   awaited->world >= 0 && awaited->world < size
               ? awaited->world
               : -1;
}

/* Which of the ranks in a record is followed. A rank may wait for several. */
struct choice {
    int which; /* -1: none */
    int next;  /* that rank, or -1 */
};

/* Returns the first awaited rank for which `leads` is true; without it, the first one. */
static struct choice choose(const struct tern_wait_record *record, int size, const bool *leads)
{
    for (int i = 0; record && i < TERN_AWAITED_SHOWN; i++) {
        int next = awaited_rank(record, size, i);
        if (next >= 0 && (!leads || leads[next]))
            return (struct choice){i, next};
    }
    return (struct choice){-1, -1};
}

/* Sets leads[rank] to true if its waits lead to a circle: takes away the ranks that wait for none
 * of those that are left, until no such rank is left. */
static void find_circles(const struct tern_where_rank *ranks, int size, bool *leads)
{
    enum { MOST = TERN_AWAITED_SHOWN };
    /* for each rank: the first edge that leads to it; for each edge: the next one to that rank */
    int *first = tern_must_alloc((size_t)size * sizeof *first);
    int *next = tern_must_alloc((size_t)size * MOST * sizeof *next);
    int *open = tern_must_alloc((size_t)size * sizeof *open); /* edges of a rank to those left */
    int *stack = tern_must_alloc((size_t)size * sizeof *stack), depth = 0;
    for (int rank = 0; rank < size; rank++)
        first[rank] = -1;
    for (int rank = 0; rank < size; rank++) {
        const struct tern_wait_record *record = wait_of(ranks, rank);
        for (int i = 0; record && i < MOST; i++) {
            int to = awaited_rank(record, size, i);
            if (to < 0)
                continue;
            next[rank * MOST + i] = first[to];
            first[to] = rank * MOST + i;
            open[rank]++;
        }
        leads[rank] = true;
    }
    for (int rank = 0; rank < size; rank++)
        if (!open[rank])
            stack[depth++] = rank;
    while (depth) {
        int gone = stack[--depth];
        leads[gone] = false;
        for (int edge = first[gone]; edge >= 0; edge = next[edge])
            if (!--open[edge / MOST])
                stack[depth++] = edge / MOST;
    }
    free(stack);
    free(open);
    free(next);
    free(first);
}

/* Chooses for each rank whom to follow: if there is a way to a circle, that one. */
static struct choice *choose_all(const struct tern_where_rank *ranks, int size)
{
    struct choice *choices = tern_must_alloc((size_t)size * sizeof *choices);
    bool *leads = tern_must_alloc((size_t)size * sizeof *leads);
    find_circles(ranks, size, leads);
    for (int rank = 0; rank < size; rank++)
        choices[rank] = choose(wait_of(ranks, rank), size, leads[rank] ? leads : NULL);
    free(leads);
    return choices;
}

/* Appends "rank 0 waits in MPI_Recv for rank 1, tag 7, MPI_COMM_WORLD". */
static void add_link(struct text *text, const struct tern_where_rank *ranks, int rank,
                     struct choice choice)
{
    const struct tern_wait_record *record = wait_of(ranks, rank);
    char tag[24], words[LINE];
    if (record->kind == TERN_WAIT_LOCK) {
        describe_wait(record, words, sizeof words);
        add(text, "rank %d waits %s", rank, words);
        return;
    }
    name_tag(record->awaited[choice.which].tag, tag, sizeof tag);
    add(text, "rank %d waits in %s for rank %d, ", rank,
        *record->procedure ? record->procedure : "MPI", choice.next);
    if (record->kind == TERN_WAIT_COLLECTIVE)
        add(text, "number %lld, ", (long long)record->number);
    else
        add(text, "%s", tag);
    add(text, "%s", comm_of(record));
}

static void add_circle(struct text *text, const struct tern_where_rank *ranks,
                       const struct choice *choices, int start, int length)
{
    int rank = start;
    add(text, "\n    a circle of %d rank%s: ", length, length == 1 ? "" : "s");
    for (int i = 0; i < length && i < CIRCLE_SHOWN; i++) {
        add(text, "%s", i ? "; " : "");
        add_link(text, ranks, rank, choices[rank]);
        rank = choices[rank].next;
    }
    if (length > CIRCLE_SHOWN)
        add(text, "; ... up to rank %d again", start);
}

/* Where the waits of a rank lead in the end. */
struct chain {
    int last; /* the rank at the end; in a circle: its lowest rank; -1: not known yet */
    bool circle;
    int length; /* of the circle that begins here; 0: none does */
};

/* Follows the waits of `rank`, and notes where they lead for all ranks on the way. `path` has room
 * for all ranks. */
static void follow(const struct choice *choices, int rank, struct chain *chains, int *path,
                   int *step_of)
{
    int length = 0, at = rank;
    while (at >= 0 && chains[at].last < 0 && !step_of[at]) {
        path[length++] = at;
        step_of[at] = length;
        at = choices[at].next;
    }
    struct chain end = {.last = path[length - 1]};
    if (at >= 0 && chains[at].last >= 0) {
        end = (struct chain){.last = chains[at].last, .circle = chains[at].circle};
    } else if (at >= 0) {
        int lowest = at;
        for (int i = step_of[at] - 1; i < length; i++)
            lowest = path[i] < lowest ? path[i] : lowest;
        end = (struct chain){.last = lowest, .circle = true};
        chains[lowest].length = length - step_of[at] + 1;
    }
    for (int i = 0; i < length; i++) {
        chains[path[i]].last = end.last;
        chains[path[i]].circle = end.circle;
        step_of[path[i]] = 0;
    }
}

/* Appends the ranks for which most others wait, directly or not. */
static void add_ends(struct text *text, const struct tern_where_rank *ranks, int size,
                     const struct chain *chains)
{
    int *counts = tern_must_alloc((size_t)size * sizeof *counts);
    for (int rank = 0; rank < size; rank++)
        counts[chains[rank].last] += chains[rank].last != rank && !chains[rank].circle;
    for (int shown = 0; shown < CHAINS_SHOWN; shown++) {
        const struct verb *verb;
        char words[LINE], name[RANK_TEXT];
        int most = 0;
        for (int rank = 1; rank < size; rank++)
            most = counts[rank] > counts[most] ? rank : most;
        if (!counts[most])
            break;
        describe(&ranks[most], &verb, words, sizeof words);
        add(text, "\n    %d rank%s in the end for rank %d, which %s %.200s", counts[most],
            counts[most] == 1 ? " waits" : "s wait", most, verb->one, words);
        const struct tern_wait_record *record = wait_of(ranks, most);
        if (record && record->awaited[0].job)
            add(text, ", for %s", rank_of(&record->awaited[0], name));
        counts[most] = 0;
    }
    free(counts);
}

/* Returns what a rank has sent and the receiver's host does not acknowledge, or NULL. A stopped
 * rank does not look whether it does. */
static const struct tern_wait_record *unheard_of(const struct tern_where_rank *ranks, int rank)
{
    const struct tern_wait_record *record = wait_of(ranks, rank);
    bool stopped = ranks[rank].where.state == 'T' || ranks[rank].where.state == 't';
    return record && record->unheard_bytes > 0 && !stopped ? record : NULL;
}

/* Returns true if a message between ranks of a circle may be on its way: then the circle is no
 * deadlock. */
static bool may_open(const struct tern_where_rank *ranks, int size, const struct choice *choices,
                     const struct chain *chains, int start, int length)
{
    int rank = start;
    for (int i = 0; i < length; i++) {
        const struct tern_wait_record *record = unheard_of(ranks, rank);
        int to = record ? record->unheard_world : -1;
        if (to >= 0 && to < size && chains[to].circle && chains[to].last == start)
            return true;
        rank = choices[rank].next;
    }
    return false;
}

static void add_chains(struct text *text, const struct tern_where_rank *ranks, int size)
{
    struct choice *choices = choose_all(ranks, size);
    struct chain *chains = tern_must_alloc((size_t)size * sizeof *chains);
    int *path = tern_must_alloc((size_t)size * sizeof *path);
    int *step_of = tern_must_alloc((size_t)size * sizeof *step_of), circles = 0;
    for (int rank = 0; rank < size; rank++)
        chains[rank].last = -1;
    for (int rank = 0; rank < size; rank++)
        if (chains[rank].last < 0)
            follow(choices, rank, chains, path, step_of);
    for (int rank = 0; rank < size; rank++)
        if (chains[rank].length &&
            !may_open(ranks, size, choices, chains, rank, chains[rank].length) &&
            circles++ < CHAINS_SHOWN)
            add_circle(text, ranks, choices, rank, chains[rank].length);
    if (circles > CHAINS_SHOWN)
        add(text, "\n    and %d more circles", circles - CHAINS_SHOWN);
    add_ends(text, ranks, size, chains);
    free(step_of);
    free(path);
    free(chains);
    free(choices);
}

/* ---- messages on their way ---- */

static void add_unheard(struct text *text, const struct tern_where_rank *ranks, int size, int rank,
                        const struct tern_wait_record *record)
{
    int to = record->unheard_world;
    add(text, "\n    %lld bytes from rank %d have not been acknowledged by the host of ",
        (long long)record->unheard_bytes, rank);
    if (to >= 0 && to < size)
        add(text, "rank %d (%.100s)", to, ranks[to].host);
    else
        add(text, "%s", "a rank of another job");
    add(text, " for %u s: does the network between them work?", ranks[rank].where.unheard_s);
}

static void add_all_unheard(struct text *text, const struct tern_where_rank *ranks, int size)
{
    int shown = 0;
    for (int rank = 0; rank < size; rank++) {
        const struct tern_wait_record *record = unheard_of(ranks, rank);
        if (record && shown++ < UNHEARD_SHOWN)
            add_unheard(text, ranks, size, rank, record);
    }
    if (shown > UNHEARD_SHOWN)
        add(text, "\n    and bytes from %d more ranks", shown - UNHEARD_SHOWN);
}

/* ---- messages that nobody has asked for ---- */

static void add_unasked(struct text *text, int rank, const struct tern_wait_record *record)
{
    const struct tern_unasked *first = &record->unasked[0];
    add(text,
        "\n    rank %d has not asked for a message that has arrived: from rank %d, tag %d, "
        "%lld bytes, %s",
        rank, first->world >= 0 ? first->world : first->source, first->tag, (long long)first->bytes,
        comm_name(first->comm));
    if (record->kind == TERN_WAIT_RECV && record->awaited_count == 1 &&
        record->awaited[0].tag > ANY && record->awaited[0].tag != first->tag)
        add(text, "; it waits for tag %d", record->awaited[0].tag);
    if (record->unasked_count > 1)
        add(text, "; and for %u more", record->unasked_count - 1);
}

static void add_all_unasked(struct text *text, const struct tern_where_rank *ranks, int size)
{
    int shown = 0;
    for (int rank = 0; rank < size; rank++) {
        const struct tern_wait_record *record = wait_of(ranks, rank);
        if (record && record->unasked_count && shown++ < UNASKED_SHOWN)
            add_unasked(text, rank, record);
    }
    if (shown > UNASKED_SHOWN)
        add(text, "\n    and %d more ranks have messages that they have not asked for",
            shown - UNASKED_SHOWN);
}

char *tern_where_table(const struct tern_where_rank *ranks, int size)
{
    struct text text = {0};
    struct member *members = tern_must_alloc((size_t)size * sizeof *members);
    for (int rank = 0; rank < size; rank++) {
        char words[LINE];
        members[rank].rank = rank;
        describe(&ranks[rank], &members[rank].verb, words, sizeof words);
        members[rank].words = tern_must_copy(words);
        const struct tern_wait_record *record = wait_of(ranks, rank);
        /* messages on communicators with one name are one place */
        bool one = waits_for_all(record) || (record && !*record->comm);
        members[rank].comm = one ? record->members_hash : 0;
    }
    qsort(members, (size_t)size, sizeof *members, by_words);
    add(&text, "%s", "");
    add_groups(&text, ranks, members, size);
    add_all_several(&text, ranks, size);
    add_all_unheard(&text, ranks, size);
    add_chains(&text, ranks, size);
    add_all_unasked(&text, ranks, size);
    for (int i = 0; i < size; i++)
        free(members[i].words);
    free(members);
    return text.bytes;
}
