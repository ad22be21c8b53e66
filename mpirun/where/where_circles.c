/* SPDX-License-Identifier: BSD-3-Clause */
#include "mpirun/where/where_circles.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mpirun/base/strings.h"
#include "mpirun/where/where_words.h"

enum { WAITS_MOST = 2000, LINE = 120, CIRCLES_SHOWN = 3, LINKS_SHOWN = 8 };

/* ---- as text ---- */

/* Returns the record of a rank that does not go on without the ranks that it names, or NULL. */
static const struct tern_wait_record *needs(const struct tern_where_rank *rank)
{
    const struct tern_wait_record *record = &rank->where.record;
    return rank->seen && rank->where.waits && rank->state != TERN_RANK_ENDED && !record->any &&
                   !record->tests && !tern_where_works_beside(&rank->where)
               ? record
               : NULL;
}

char *tern_where_write_waits(const struct tern_where_rank *ranks, int size, int job)
{
    char *text = tern_must_alloc((size_t)WAITS_MOST * LINE + 1);
    size_t used = 0;
    int count = 0;
    bool across = false;
    for (int rank = 0; rank < size; rank++) {
        const struct tern_wait_record *record = needs(&ranks[rank]);
        for (int i = 0; record && i < record->awaited_count && count < WAITS_MOST; i++) {
            const struct tern_awaited *awaited = &record->awaited[i];
            bool own = awaited->kind == TERN_WAIT_SEND && awaited->lacking > 0;
            if (awaited->world < 0 || awaited->job < 0 || own)
                continue;
            across |= awaited->job > 0;
            used += (size_t)snprintf(text + used, LINE, "%d %d %d %d %d %.39s\n", job, rank,
                                     awaited->job ? awaited->job : job, awaited->world,
                                     record->kind == TERN_WAIT_COLLECTIVE ? -2 : awaited->tag,
                                     *record->procedure ? record->procedure : "MPI");
            count++;
        }
    }
    if (!across)
        text[0] = '\0';
    return text;
}

void tern_where_read_waits(struct tern_where_waits *waits, const char *text)
{
    for (const char *end; (end = strchr(text, '\n')); text = end + 1) {
        struct tern_where_wait wait = {0};
        char line[LINE];
        if (end - text >= LINE)
            continue;
        memcpy(line, text, (size_t)(end - text));
        line[end - text] = '\0';
        if (sscanf(line, "%d %d %d %d %d %39[^\n]", &wait.job, &wait.rank, &wait.for_job,
                   &wait.for_rank, &wait.tag, wait.procedure) != 6)
            continue;
        if (waits->count == waits->room) {
            waits->room = 2 * waits->room + 64;
            waits->list =
                tern_must_grow(waits->list, (size_t)waits->room * sizeof *waits->list);
        }
        waits->list[waits->count++] = wait;
    }
}

/* ---- circles ---- */

static int compare(int a, int b)
{
    return (a > b) - (a < b);
}

/* Compares for qsort: by the rank that waits; of one rank, its waits for other jobs come first. */
static int by_waiting(const void *a, const void *b)
{
    const struct tern_where_wait *one = a, *other = b;
    int order = compare(one->job, other->job);
    order = order ? order : compare(one->rank, other->rank);
    order = order ? order : compare(one->for_job == one->job, other->for_job == other->job);
    order = order ? order : compare(one->for_job, other->for_job);
    return order ? order : compare(one->for_rank, other->for_rank);
}

/* Returns the first wait of a rank that is not gone, or NULL. */
static struct tern_where_wait *wait_of(const struct tern_where_waits *waits, int job, int rank)
{
    int low = 0, high = waits->count;
    while (low < high) {
        int middle = (low + high) / 2;
        const struct tern_where_wait *wait = &waits->list[middle];
        bool before = wait->job < job || (wait->job == job && wait->rank < rank);
        low = before ? middle + 1 : low;
        high = before ? high : middle;
    }
    for (; low < waits->count && waits->list[low].job == job && waits->list[low].rank == rank;
         low++)
        if (!waits->list[low].gone)
            return &waits->list[low];
    return NULL;
}

/* Takes away all waits that lead to no circle. */
static void keep_circles(struct tern_where_waits *waits)
{
    for (bool changed = true; changed;) {
        changed = false;
        for (int i = 0; i < waits->count; i++) {
            struct tern_where_wait *wait = &waits->list[i];
            if (!wait->gone && !wait_of(waits, wait->for_job, wait->for_rank))
                wait->gone = changed = true;
        }
    }
}

/* Appends a link of a circle. Returns the new text. */
static char *add_link(char *text, const struct tern_where_wait *wait, bool first)
{
    char tag[24] = "";
    if (wait->tag >= 0)
        snprintf(tag, sizeof tag, ", tag %d", wait->tag);
    char *more = tern_must_format("%s%srank %d of job %d waits in %s for rank %d of job %d%s", text,
                                  first ? "\n    a circle across jobs: " : "; ", wait->rank,
                                  wait->job, wait->procedure, wait->for_rank, wait->for_job, tag);
    free(text);
    return more;
}

/* Appends the circle to which a wait belongs, if its ranks are of several jobs. The waits on it are
 * gone afterwards. */
static char *add_circle(char *text, struct tern_where_waits *waits,
                        struct tern_where_wait *start, int *shown)
{
    bool across = false;
    int links = 0;
    struct tern_where_wait *wait = start;
    do {
        across |= wait->job != wait->for_job;
        wait = wait_of(waits, wait->for_job, wait->for_rank);
    } while (wait != start);
    if (across && ++*shown <= CIRCLES_SHOWN) {
        do {
            if (links < LINKS_SHOWN)
                text = add_link(text, wait, !links);
            links++;
            wait = wait_of(waits, wait->for_job, wait->for_rank);
        } while (wait != start);
        if (links > LINKS_SHOWN) {
            char *more = tern_must_format("%s; ... %d more", text, links - LINKS_SHOWN);
            free(text);
            text = more;
        }
    }
    /* without its first link the circle is none, and what led to it leads nowhere */
    start->gone = true;
    return text;
}

char *tern_where_circles(struct tern_where_waits *waits)
{
    char *text = tern_must_copy("");
    int shown = 0;
    if (waits->count)
        qsort(waits->list, (size_t)waits->count, sizeof *waits->list, by_waiting);
    for (keep_circles(waits); shown < CIRCLES_SHOWN; keep_circles(waits)) {
        struct tern_where_wait *wait = NULL;
        for (int i = 0; i < waits->count && !wait; i++)
            wait = waits->list[i].gone ? NULL : &waits->list[i];
        if (!wait)
            break;
        /* after as many steps as there are waits, one is surely on a circle */
        for (int i = 0; i < waits->count; i++)
            wait = wait_of(waits, wait->for_job, wait->for_rank);
        text = add_circle(text, waits, wait, &shown);
    }
    return text;
}
