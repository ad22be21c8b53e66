/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef PLAN_CHECK_H
#define PLAN_CHECK_H

/* For tests of plans: elements that say where they come from, and the reading of a plan for races.
 */

#include "lib/coll/plan/plan.h"
#include "lib/type/type.h"

#include <stdbool.h>
#include <stdint.h>

/* An element is an 8-byte word, or two words with gaps (words 0 and 2 of four). */
extern const struct tern_type u64_type;
extern struct tern_type gappy_type;
extern const struct tern_type gap_type; /* a byte, and one of space */
void make_gappy_type(void); /* to be given back with tern_type_drop */

/* A number that nothing else has. */
uint64_t value(int64_t from, int64_t to, int64_t i);

/* Memory for `count` elements, to be freed. */
char *new_elements(const struct tern_type *type, int64_t count);
/* Element i, and is it x? */
void put(char *base, const struct tern_type *type, int64_t i, uint64_t x);
bool is(const char *base, const struct tern_type *type, int64_t i, uint64_t x);

/* Makes all steps once and keeps them in the plan's array, with room for `room` more: none is made by a function any more. */
void plan_flatten(struct tern_plan *plan, int64_t room);

/* Do both have the same steps, and as much room and time for them? */
bool plan_same(const struct tern_plan *a, const struct tern_plan *b);

/* NULL, or what is wrong with the plan by itself: no step may touch what an earlier one may still
 * use, as far as the plan's own dependencies go, nor go beyond a temporary. */
const char *plan_read(const struct tern_plan *plan);

#endif
