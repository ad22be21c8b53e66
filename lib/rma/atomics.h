/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_RMA_ATOMICS_H
#define TERN_RMA_ATOMICS_H

/*
 * Accumulates on mapped memory, atomic element by element.
 *
 * An element of 1, 2, 4 or 8 bytes at a multiple of its size is changed by an atomic instruction
 * (fetch-and-add and its kin for integers, else a loop of compare-and-swap) or under a lock, as the
 * mode of the target says (lib/rma/guard.h). Any other element is changed under a lock. The rule
 * never depends on the operation. So all operations on one element are atomic to each other.
 */

#include "lib/rma/guard.h"
#include "lib/type/reduction.h"

/* Packed elements of one basic type, and what to do with them. */
struct tern_rma_combine {
    enum tern_basic basic;
    enum tern_reduce_op op;
    tern_reduce_loop *loop;
    int packed;             /* bytes of an element in the packed stream */
    int span;               /* bytes of an element in an array */
};

/* Fills the table that tern_rma_combine_find looks into. Call it first, with the library's lock. */
void tern_rma_combine_init(void);
/* Returns what combines elements of class `basic`; NULL if the operation is not defined on them. */
const struct tern_rma_combine *tern_rma_combine_find(enum tern_reduce_op op, enum tern_basic basic);

/* Combines `count` packed elements at `origin` into window memory at `target`, where they have no
 * gaps if there are several. Copies the elements before to `before`, packed, unless NULL. `origin`
 * may be NULL if the operation is TERN_REDUCE_NO_OP. `turf` is NULL if
 * nobody else changes the memory meanwhile. */
void tern_rma_combine_run(const struct tern_rma_combine *combine, const struct tern_rma_turf *turf,
                          char *target, const char *origin, char *before, int64_t count);

/* Does the operation on one number of 4 or 8 bytes at `target`, in a short way, if it is one of the
 * usual ones. Returns false if nothing was done. `compare`: NULL, or the value to compare with. */
bool tern_rma_fetch_word(const struct tern_rma_turf *turf, const struct tern_type *type,
                         enum tern_reduce_op op, char *target, const char *origin,
                         const char *compare, char *before);

/* Replaces the element at `target` by `origin` if it equals `compare`, byte by byte. Copies the
 * element before to `before`. All three are packed. `turf` as above. */
void tern_rma_compare_and_swap(const struct tern_rma_combine *combine,
                               const struct tern_rma_turf *turf, char *target, const char *origin,
                               const char *compare, char *before);

#endif
