/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef CONTENT_H
#define CONTENT_H

/* What buffers hold when plans are executed without data (symbolic.h): pieces, each of units of the inputs of a set of ranks. */

#include "lib/coll/plan/plan.h"

#include <stdbool.h>
#include <stdint.h>

struct piece {
    int32_t begin, end; /* units of the buffer; few enough, so that a cache holds many pieces */
    int32_t shift;      /* unit x is unit x + shift of the inputs */
    int32_t set;        /* whose inputs */
};

/* What a buffer holds; what no piece covers is undefined. */
struct content {
    struct piece *pieces; /* in order */
    int count, room;
    int before; /* of the room, so much lies before them */
    int found;  /* where was looked last */
};

/* Sets of ranks are numbers; equal sets are equal numbers. Those of ranks lo .. hi - 1: */
int32_t set_of(int lo, int hi);
void sets_forget(void);

void content_put(struct content *content, struct piece piece);
/* What another one holds, in its own memory. */
void content_copy(struct content *content, const struct content *from);
void content_release(struct content *content);
/* Does it hold exactly this (and perhaps something elsewhere)? */
bool content_has(struct content *content, struct piece piece);
/* Units of `ref`, which are in `from`, stand at `to` from now on. */
void content_move(struct content *from, struct tern_ref ref, struct content *content, int64_t to);
/* `to` is `ref` of `from` joined with `to`, unit by unit; `ref` is the left operand. `ordered`: only neighbours, the lower ranks
 * left. NULL, or the fault. */
const char *content_join(struct content *from, struct tern_ref ref, struct content *content, struct tern_ref to, bool ordered);

#endif
