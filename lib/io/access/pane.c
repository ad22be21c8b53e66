/* SPDX-License-Identifier: BSD-3-Clause */

/* What an aggregator has of its window in one round; see the header. */

#include "lib/io/access/pane.h"

#include "lib/io/access/covered.h"
#include "lib/util/base/error.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int64_t smaller(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

int tern_pane_make(struct tern_pane *pane, int ranks, int64_t bytes)
{
    pane->ranks = ranks;
    pane->sources = calloc((size_t)ranks, sizeof *pane->sources);
    pane->buffer = malloc((size_t)bytes);
    pane->covered = malloc(tern_covered_bytes(bytes));
    if (!pane->covered) {
        free(pane->buffer);
        pane->buffer = NULL;
    }
    return pane->sources ? 0 : TERN_ERR_NO_MEM;
}

void tern_pane_drop(struct tern_pane *pane)
{
    for (int r = 0; pane->sources && r < pane->ranks; r++)
        free(pane->sources[r].series);
    free(pane->sources);
    free(pane->buffer);
    free(pane->covered);
    free(pane->data);
    *pane = (struct tern_pane){0};
}

/* ---- room ---- */

/* Makes room for the series of a rank. */
static bool make_room_of(struct tern_pane_source *source)
{
    if (source->head.series > source->room) {
        free(source->series);
        source->series = malloc((size_t)source->head.series * sizeof *source->series);
        source->room = source->series ? source->head.series : 0;
    }
    return source->head.series <= source->room;
}

static void make_no_room(struct tern_pane *pane)
{
    for (int r = 0; r < pane->ranks; r++) {
        free(pane->sources[r].series);
        pane->sources[r].series = NULL;
        pane->sources[r].room = 0;
        pane->sources[r].data = NULL;
    }
    free(pane->data);
    pane->data = NULL;
    pane->data_room = 0;
}

bool tern_pane_make_room(struct tern_pane *pane)
{
    int64_t total = 0;
    bool room = true;
    for (int r = 0; r < pane->ranks; r++) {
        room = room && make_room_of(&pane->sources[r]);
        total += pane->sources[r].head.bytes;
    }
    if (room && total > pane->data_room) {
        free(pane->data);
        pane->data = malloc((size_t)total);
        pane->data_room = pane->data ? total : 0;
    }
    if (!room || total > pane->data_room) {
        make_no_room(pane);
        return false;
    }
    for (int64_t r = 0, at = 0; r < pane->ranks; at += pane->sources[r++].head.bytes)
        pane->sources[r].data = pane->data + at;
    return true;
}

/* ---- access ---- */

static void fail(struct tern_pane *pane, int error)
{
    pane->error = error;
    snprintf(pane->text, sizeof pane->text, "%s", tern_error_text(error));
}

/* Returns false, with the error noted, if the pane has no buffer. */
static bool has_buffer(struct tern_pane *pane)
{
    if (!pane->buffer)
        fail(pane, tern_error(TERN_ERR_NO_MEM, "no memory for the buffer of a collective access to "
                                               "a file; make cb_buffer_size smaller"));
    return pane->buffer;
}

/* Copies the runs of a series between packed data and the window, `count` of them. */
static void copy_series(const struct tern_series *s, int64_t count, char *window, char *data,
                        bool writes)
{
    char *at = window + s->at;
    if (s->bytes == 8) { /* doubles are what most programs have */
        for (int64_t i = 0; i < count; i++, at += s->stride, data += 8)
            memcpy(writes ? at : data, writes ? data : at, 8);
        return;
    }
    for (int64_t i = 0; i < count; i++, at += s->stride, data += s->bytes)
        memcpy(writes ? at : data, writes ? data : at, (size_t)s->bytes);
}

void tern_pane_write(struct tern_pane *pane, const struct tern_access *access)
{
    int64_t from = 0, to = 0, length = pane->end - pane->begin;
    pane->error = 0;
    if (!has_buffer(pane))
        return;
    memset(pane->covered, 0, tern_covered_bytes(length));
    for (int r = 0; r < pane->ranks; r++) {
        char *data = pane->sources[r].data;
        for (int64_t i = 0; i < pane->sources[r].head.series; i++) {
            struct tern_series s = pane->sources[r].series[i];
            s.at -= pane->begin;
            copy_series(&s, s.count, pane->buffer, data, true);
            tern_covered_add(pane->covered, s.at, s.bytes, s.stride, s.count);
            data += s.bytes * s.count;
        }
    }
    while (tern_covered_next(pane->covered, length, &from, &to)) {
        int error = tern_access_write(access, pane->buffer + from, to - from, pane->begin + from);
        if (error) {
            fail(pane, error);
            return;
        }
        from = to;
    }
}

/* Returns how many of a source's bytes lie before `end`, and packs them. */
static int64_t pack_for(const struct tern_pane_source *source, char *window, int64_t begin,
                        int64_t end)
{
    char *data = source->data;
    for (int64_t i = 0; i < source->head.series; i++) {
        struct tern_series s = source->series[i];
        int64_t whole = s.count;
        if (s.at + (s.count - 1) * s.stride + s.bytes > end) /* the file ends in this series */
            for (whole = 0; whole < s.count && s.at + whole * s.stride + s.bytes <= end;)
                whole++;
        struct tern_series rest = {s.at + whole * s.stride, end - (s.at + whole * s.stride), 0, 1};
        s.at -= begin;
        copy_series(&s, whole, window, data, false);
        data += whole * s.bytes;
        if (whole == s.count)
            continue;
        if (rest.bytes > 0) {
            rest.at -= begin;
            copy_series(&rest, 1, window, data, false);
            data += rest.bytes;
        }
        break;
    }
    return data - source->data;
}

/* Sets the part of the window that ranks want; false: no rank wants anything. */
static bool find_wanted(const struct tern_pane *pane, int64_t *ret_begin, int64_t *ret_end)
{
    int64_t begin = pane->end, end = pane->begin;
    for (int r = 0; r < pane->ranks; r++) {
        const struct tern_pane_source *source = &pane->sources[r];
        if (source->head.series == 0)
            continue;
        const struct tern_series *first = source->series, *last = first + source->head.series - 1;
        int64_t last_end = last->at + (last->count - 1) * last->stride + last->bytes;
        begin = smaller(begin, first->at);
        end = last_end > end ? last_end : end;
    }
    *ret_begin = begin;
    *ret_end = end;
    return begin < end;
}

void tern_pane_read(struct tern_pane *pane, const struct tern_access *access)
{
    int64_t begin, end, done = 0;
    pane->error = 0;
    for (int r = 0; r < pane->ranks; r++)
        pane->sources[r].ready = 0;
    if (!find_wanted(pane, &begin, &end) || !has_buffer(pane))
        return;
    int error = tern_access_read(access, pane->buffer + (begin - pane->begin), end - begin, begin,
                                 &done);
    if (error) {
        fail(pane, error);
        return;
    }
    for (int r = 0; r < pane->ranks; r++)
        pane->sources[r].ready =
            pack_for(&pane->sources[r], pane->buffer, pane->begin, begin + done);
}
