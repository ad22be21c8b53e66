/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_IDS_H
#define TERN_IDS_H

/*
 * Numbers for the ids of contexts that this process makes (lib/pml/context.c), handed out in
 * ranges.
 *
 * A range is a run of numbers that follow each other. Ranges are handed out in ascending order from
 * `least` on, and after `limit` from `least` again. Until that first happens every number is new.
 * From then on a number is handed out only if no living range holds the number and no open context
 * uses it. So no two living ranges and open contexts of this process ever share a number.
 */

#include "lib/util/base/list.h"

#include <stdbool.h>
#include <stdint.h>

/* A range of numbers that its owner keeps for later. All zero: no range. */
struct tern_id_range {
    struct tern_list_node link; /* in the list of living ranges */
    uint32_t first, count;
};

/* The numbers of a process. */
struct tern_ids {
    /* `next`: the first number that may be handed out. `limit`: one past the last number. */
    uint32_t next, least, limit;
    bool wrapped;                /* numbers from `least` on are being handed out again */
    struct tern_list_node ranges;     /* the living ranges */
    bool (*in_use)(uint32_t number); /* Returns true if an open context uses the number. */
};

/* Prepares `ids` to hand out the numbers least .. limit - 1. */
void tern_ids_init(struct tern_ids *ids, uint32_t least, uint32_t limit,
                   bool (*in_use)(uint32_t number));

/* Hands out `count` consecutive numbers. Returns the first one, or 0 if no `count` consecutive
 * numbers are free. `range` keeps the numbers until tern_ids_drop. If `range` is NULL the numbers
 * are not kept: then the caller opens a context with each of them at once. */
uint32_t tern_ids_take(struct tern_ids *ids, uint32_t count, struct tern_id_range *range);

/* Goes on with the number `next`, which is in the range of `ids`. The numbers in between were not
 * handed out; all numbers from now on are looked up. */
void tern_ids_jump(struct tern_ids *ids, uint32_t next);

/* Ends a range. Does nothing if the range is all zero. */
void tern_ids_drop(struct tern_id_range *range);

#endif
