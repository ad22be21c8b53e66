/* SPDX-License-Identifier: BSD-3-Clause */
#include "mpirun/where/where_words.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "mpirun/base/strings.h"

enum { BUSY_PERMILLE = 300 };

void tern_where_add(struct tern_where_text *text, const char *format, ...)
{
    va_list args;
    if (text->room - text->used < 2 * TERN_WHERE_LINE) {
        text->room = 2 * text->room + 4 * TERN_WHERE_LINE;
        text->bytes = tern_must_grow(text->bytes, text->room);
    }
    va_start(args, format);
    int n = vsnprintf(text->bytes + text->used, 2 * TERN_WHERE_LINE, format, args);
    va_end(args);
    text->used += n < 2 * TERN_WHERE_LINE ? (size_t)n : 2 * TERN_WHERE_LINE - 1;
}

const struct tern_wait_record *tern_where_wait_of(const struct tern_where_rank *ranks, int rank)
{
    return ranks[rank].seen && ranks[rank].where.waits && ranks[rank].state != TERN_RANK_ENDED
               ? &ranks[rank].where.record
               : NULL;
}

bool tern_where_waits_for_all(const struct tern_wait_record *record)
{
    return record && (record->kind == TERN_WAIT_COLLECTIVE || record->run_count > 0);
}

const struct tern_wait_record *tern_where_unheard_of(const struct tern_where_rank *ranks, int rank)
{
    const struct tern_wait_record *record = tern_where_wait_of(ranks, rank);
    bool stopped = ranks[rank].where.state == 'T' || ranks[rank].where.state == 't';
    return record && record->unheard_bytes > 0 && !stopped ? record : NULL;
}

const char *tern_where_comm_name(const char *name)
{
    return *name ? name : "a communicator without a name";
}

/* what windows are called that the user has not named (lib/mpi/win/win.c) */
static const char nameless[] = "a window";

const char *tern_where_comm_of(const struct tern_wait_record *record)
{
    static char text[100];
    if (strcmp(record->comm, nameless) == 0 && record->comm_id) {
        snprintf(text, sizeof text, "a window without a name (id %llx)",
                 (unsigned long long)record->comm_id);
        return text;
    }
    if (*record->comm || !record->comm_id)
        return tern_where_comm_name(record->comm);
    snprintf(text, sizeof text, "a communicator of %d rank%s without a name (id %llx)",
             record->comm_size, record->comm_size == 1 ? "" : "s",
             (unsigned long long)record->comm_id);
    return text;
}

void tern_where_name_tag(int tag, char *words, size_t room)
{
    if (tag == TERN_WHERE_ANY)
        snprintf(words, room, "any tag, ");
    else if (tag > TERN_WHERE_ANY)
        snprintf(words, room, "tag %d, ", tag);
    else
        *words = '\0';
}

const char *tern_where_rank_of(const struct tern_awaited *awaited, char text[TERN_WHERE_RANK_TEXT])
{
    if (awaited->world < 0)
        snprintf(text, TERN_WHERE_RANK_TEXT, "%s",
                 awaited->rank == TERN_WHERE_ANY ? "any rank" : "a rank");
    else if (!awaited->job)
        snprintf(text, TERN_WHERE_RANK_TEXT, "rank %d", awaited->world);
    else if (awaited->job > 0)
        snprintf(text, TERN_WHERE_RANK_TEXT, "rank %d of job %d", awaited->world, awaited->job);
    else
        snprintf(text, TERN_WHERE_RANK_TEXT, "rank %d of another job", awaited->world);
    return text;
}

/* Writes who has the lock that a rank waits for. */
static void name_holder(const struct tern_wait_record *record, char *words, size_t room)
{
    const struct tern_awaited *taker = &record->awaited[0];
    char rank[TERN_WHERE_RANK_TEXT];
    if (taker->world >= 0)
        tern_where_rank_of(taker, rank);
    else
        snprintf(rank, sizeof rank, "another rank");
    if (record->number > 1)
        snprintf(words, room, "which %lld ranks share; %s took it last", (long long)record->number,
                 rank);
    else
        snprintf(words, room, "which %s holds%s", rank,
                 record->number == 1   ? ", shared"
                 : record->number == 0 ? ", exclusive"
                                       : "");
}

void tern_where_name_partitions(const struct tern_awaited *awaited, char *words, size_t room)
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

void tern_where_describe_wait(const struct tern_wait_record *record, char *words, size_t room)
{
    char tag[24], requests[60] = "", partitions[100];
    int n;
    const char *procedure = *record->procedure ? record->procedure : "a procedure of MPI";
    tern_where_name_tag(record->awaited[0].tag, tag, sizeof tag);
    tern_where_name_partitions(&record->awaited[0], partitions, sizeof partitions);
    if (record->requests > 1)
        snprintf(requests, sizeof requests, " (%d requests), the first of them", record->requests);
    switch (record->kind) {
    case TERN_WAIT_RECV:
    case TERN_WAIT_SEND:
        snprintf(words, room, "in %s%s, %s%s%s%s", procedure, requests,
                 record->requests && record->kind == TERN_WAIT_SEND ? "to send, " : "", partitions,
                 tag, tern_where_comm_of(record));
        break;
    case TERN_WAIT_COLLECTIVE:
        snprintf(words, room, "in %s%s, number %lld on %s", procedure, requests,
                 (long long)record->number, tern_where_comm_of(record));
        break;
    case TERN_WAIT_LOCK:
        n = snprintf(words, room, "in %s, for %s lock of rank %d's part of %s%s, ", procedure,
                     record->exclusive ? "an exclusive" : "a shared", record->awaited[0].rank,
                     strcmp(record->comm, nameless) ? "window " : "", tern_where_comm_of(record));
        name_holder(record, words + n, room - (size_t)n);
        break;
    case TERN_WAIT_PORT:
        snprintf(words, room, "in %s, %s", procedure, record->comm);
        break;
    default:
        snprintf(words, room, "in %s%s", procedure, requests);
    }
}

static const struct tern_where_verb waits = {"waits", "wait"},
                                    is_stopped = {"is stopped", "are stopped"},
                                    sleeps = {"sleeps", "sleep"},
                                    is_in_mpi = {"is busy", "are busy"}, is = {"is", "are"},
                                    tests = {"tests in vain", "test in vain"};
const struct tern_where_verb tern_where_computes = {"computes", "compute"};
const struct tern_where_verb tern_where_has = {"has", "have"};

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

static bool is_busy(const struct tern_where *where)
{
    return where->state == 'R' || where->cpu_permille >= BUSY_PERMILLE;
}

static void describe_outside(const struct tern_where_rank *rank,
                             const struct tern_where_verb **ret_verb, char *words, size_t room)
{
    const struct tern_where *where = &rank->where;
    if (where->state == 'X' || where->state == 'Z') {
        *ret_verb = &is;
        snprintf(words, room, "about to end, or not visible here");
    } else if (where->is_ours && strstr(where->place, "(libmpi.so")) {
        *ret_verb = &is_in_mpi;
        snprintf(words, room, "in MPI (a loop of tests or probes?)");
    } else {
        *ret_verb = is_busy(where) ? &tern_where_computes : &sleeps;
        snprintf(words, room, "%s%s%s%s", surroundings(rank), *where->place ? ", " : "",
                 where->place, where->state == 'D' ? ", for a disk or a driver" : "");
    }
}

bool tern_where_works_beside(const struct tern_where *where)
{
    return where->waits && tern_wait_is_beside(&where->record) && is_busy(where);
}

/* Says what the first thread does while another one waits. */
static void describe_beside(const struct tern_where *where, char *words, size_t room)
{
    if (tern_wait_is_beside(&where->record))
        snprintf(words, room, " (in a second thread; the first one %s%s%s)",
                 is_busy(where) ? "computes" : "sleeps", *where->place ? ", " : "", where->place);
}

void tern_where_describe(const struct tern_where_rank *rank,
                         const struct tern_where_verb **ret_verb, char *words, size_t room)
{
    char wait[TERN_WHERE_LINE / 2] = "";
    if (rank->state == TERN_RANK_ENDED) {
        *ret_verb = &tern_where_has;
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
            tern_where_describe_wait(&rank->where.record, wait, sizeof wait);
        snprintf(words, room, "by %s, %s", rank->where.state == 't' ? "a debugger" : "a signal",
                 *wait ? wait : surroundings(rank));
    } else if (rank->where.waits) {
        *ret_verb = rank->where.record.tests ? &tests : &waits;
        tern_where_describe_wait(&rank->where.record, words, room);
        describe_beside(&rank->where, words + strlen(words), room - strlen(words));
    } else {
        describe_outside(rank, ret_verb, words, room);
    }
}
