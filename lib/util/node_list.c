/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/util/node_list.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NONE = -1 };

/* The next rank of the node after `rank`, or `ranks`. */
static uint32_t next_of(const uint32_t *node_of, uint32_t ranks, uint32_t node, uint32_t rank)
{
    while (rank < ranks && node_of[rank] != node)
        rank++;
    return rank;
}

/* The run that begins with `first`, which is the node's; returns the node's next rank after it. */
static uint32_t write_run(FILE *out, const uint32_t *node_of, uint32_t ranks, uint32_t node,
                          uint32_t first)
{
    uint32_t last = first, next = next_of(node_of, ranks, node, first + 1);
    uint32_t step = next - first;
    while (next < ranks && next - last == step) {
        last = next;
        next = next_of(node_of, ranks, node, last + 1);
    }
    fprintf(out, "%u", first);
    if (last > first)
        fprintf(out, "-%u", last);
    if (last > first && step > 1)
        fprintf(out, "/%u", step);
    return next;
}

char *tern_node_list_write(const uint32_t *node_of, uint32_t ranks, uint32_t nodes)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    if (!out)
        return NULL;
    for (uint32_t node = 0; node < nodes; node++) {
        uint32_t rank = next_of(node_of, ranks, node, 0);
        if (node)
            fputc(';', out);
        while (rank < ranks) {
            rank = write_run(out, node_of, ranks, node, rank);
            if (rank < ranks)
                fputc(',', out);
        }
    }
    if (fclose(out)) {
        free(text);
        return NULL;
    }
    return text;
}

/* A number below `end`, after the character `before` if that is not 0. */
static bool read_number(const char **at, char before, uint32_t end, uint32_t *ret)
{
    const char *text = *at;
    if (before && *text++ != before)
        return false;
    if (*text < '0' || *text > '9')
        return false;
    char *after;
    unsigned long number = strtoul(text, &after, 10);
    if (number >= end)
        return false;
    *at = after;
    *ret = (uint32_t)number;
    return true;
}

bool tern_node_list_read(const char *text, uint32_t ranks, int32_t *ret_lowest)
{
    uint32_t found = 0;
    int32_t lowest = NONE;
    for (uint32_t rank = 0; rank < ranks; rank++)
        ret_lowest[rank] = NONE;
    for (const char *at = text; *at;) {
        uint32_t first, last, step = 1;
        if (!read_number(&at, 0, ranks, &first))
            return false;
        last = first;
        if (*at == '-' && (!read_number(&at, '-', ranks, &last) || last <= first))
            return false;
        if (*at == '/' && (!read_number(&at, '/', ranks, &step) || step == 0))
            return false;
        if (lowest == NONE)
            lowest = (int32_t)first;
        for (uint64_t rank = first; rank <= last; rank += step, found++) {
            if (ret_lowest[rank] != NONE || (int32_t)rank < lowest)
                return false;
            ret_lowest[rank] = lowest;
        }
        if (*at == ';')
            lowest = NONE;
        else if (*at && *at != ',')
            return false;
        if (*at && !*++at)
            return false;
    }
    return found == ranks;
}
