/* SPDX-License-Identifier: BSD-3-Clause */
#include "mpirun/where/where_chains.h"

#include <stdlib.h>
#include <string.h>

#include "mpirun/base/strings.h"

enum { CIRCLE_SHOWN = 8, CHAINS_SHOWN = 3 };

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

/* Returns the wait that keeps the whole rank, or NULL. */
static const struct tern_wait_record *wait_of(const struct tern_where_rank *ranks, int rank)
{
    return tern_where_works_beside(&ranks[rank].where) ? NULL : tern_where_wait_of(ranks, rank);
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
static void add_link(struct tern_where_text *text, const struct tern_where_rank *ranks, int rank,
                     struct choice choice)
{
    const struct tern_wait_record *record = tern_where_wait_of(ranks, rank);
    char tag[24], words[TERN_WHERE_LINE];
    if (record->kind == TERN_WAIT_LOCK) {
        tern_where_describe_wait(record, words, sizeof words);
        tern_where_add(text, "rank %d waits %s", rank, words);
        return;
    }
    tern_where_name_tag(record->awaited[choice.which].tag, tag, sizeof tag);
    tern_where_add(text, "rank %d waits in %s for rank %d, ", rank,
                   *record->procedure ? record->procedure : "MPI", choice.next);
    if (record->kind == TERN_WAIT_COLLECTIVE)
        tern_where_add(text, "number %lld, ", (long long)record->number);
    else
        tern_where_add(text, "%s", tag);
    tern_where_add(text, "%s", tern_where_comm_of(record));
}

static void add_circle(struct tern_where_text *text, const struct tern_where_rank *ranks,
                       const struct choice *choices, int start, int length)
{
    int rank = start;
    tern_where_add(text, "\n    a circle of %d rank%s: ", length, length == 1 ? "" : "s");
    for (int i = 0; i < length && i < CIRCLE_SHOWN; i++) {
        tern_where_add(text, "%s", i ? "; " : "");
        add_link(text, ranks, rank, choices[rank]);
        rank = choices[rank].next;
    }
    if (length > CIRCLE_SHOWN)
        tern_where_add(text, "; ... up to rank %d again", start);
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
static void add_ends(struct tern_where_text *text, const struct tern_where_rank *ranks, int size,
                     const struct chain *chains)
{
    int *counts = tern_must_alloc((size_t)size * sizeof *counts);
    for (int rank = 0; rank < size; rank++)
        counts[chains[rank].last] += chains[rank].last != rank && !chains[rank].circle;
    for (int shown = 0; shown < CHAINS_SHOWN; shown++) {
        const struct tern_where_verb *verb;
        char words[TERN_WHERE_LINE], name[TERN_WHERE_RANK_TEXT];
        int most = 0;
        for (int rank = 1; rank < size; rank++)
            most = counts[rank] > counts[most] ? rank : most;
        if (!counts[most])
            break;
        tern_where_describe(&ranks[most], &verb, words, sizeof words);
        tern_where_add(text, "\n    %d rank%s in the end for rank %d, which %s %.200s",
                       counts[most], counts[most] == 1 ? " waits" : "s wait", most, verb->one,
                       words);
        const struct tern_wait_record *record = tern_where_wait_of(ranks, most);
        if (record && record->awaited[0].job)
            tern_where_add(text, ", for %s", tern_where_rank_of(&record->awaited[0], name));
        counts[most] = 0;
    }
    free(counts);
}

/* Returns true if a message between ranks of a circle may be on its way: then the circle is no
 * deadlock. */
static bool may_open(const struct tern_where_rank *ranks, int size, const struct choice *choices,
                     const struct chain *chains, int start, int length)
{
    int rank = start;
    for (int i = 0; i < length; i++) {
        const struct tern_wait_record *record = tern_where_unheard_of(ranks, rank);
        int to = record ? record->unheard_world : -1;
        if (to >= 0 && to < size && chains[to].circle && chains[to].last == start)
            return true;
        rank = choices[rank].next;
    }
    return false;
}

void tern_where_add_chains(struct tern_where_text *text, const struct tern_where_rank *ranks,
                           int size)
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
        tern_where_add(text, "\n    and %d more circles", circles - CHAINS_SHOWN);
    add_ends(text, ranks, size, chains);
    free(step_of);
    free(path);
    free(chains);
    free(choices);
}
