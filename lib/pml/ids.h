/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_IDS_H
#define TERN_IDS_H

/*
 * Numbers for the ids of contexts that this process makes (lib/pml/context.c), handed out in
 * ranges.
 *
 * A range is a run of numbers that follow each other. Ranges are handed out in ascending order from
 * `least` on, and after `limit` from `least` again. Until that first happens every number is new.
 * From then on a number is handed out only if no living range holds it and no open context uses it.
 * So no two living ranges and open contexts of this process ever share a number.
 */

#include "lib/util/list.h"

#include <stdbool.h>
#include <stdint.h>

/* Belongs to whoever keeps the numbers for later; zero: no range. */
struct tern_id_range {
    struct tern_list_node link; /* in the list of living ranges */
    uint32_t first, count;
};

struct tern_ids {
    /* next: the first number that may be handed out; limit is never handed out */
    uint32_t next, least, limit;
    bool wrapped;                /* numbers have been handed out before */
    struct tern_list_node ranges;     /* the living ones */
    bool (*in_use)(uint32_t number); /* Does an open context use the number? */
};

void tern_ids_init(struct tern_ids *ids, uint32_t least, uint32_t limit,
                   bool (*in_use)(uint32_t number));

/* Hands out `count` numbers. Returns the first one, or 0 if there are not so many free ones in a
 * row. `range` keeps the numbers until it is dropped; NULL: they are not kept, for a context is
 * opened with them at once. */
uint32_t tern_ids_take(struct tern_ids *ids, uint32_t count, struct tern_id_range *range);

/* Ends a range; one that is zero is left alone. */
void tern_ids_drop(struct tern_id_range *range);

#endif
