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

/* Classes of elements: enum tern_basic, and the unnamed pairs from TERN_RMA_PAIRS on. A class fits
 * a byte of a message. */
enum { TERN_RMA_PAIRS = 128, TERN_RMA_CLASSES = TERN_RMA_PAIRS + TERN_REDUCE_PAIRS };
_Static_assert((int)TERN_BASIC_COUNT <= (int)TERN_RMA_PAIRS && TERN_RMA_CLASSES <= 256,
               "numbers of classes");

/* Returns the class of all elements of a type; TERN_BASIC_NONE if they differ. */
static inline int tern_rma_class(const struct tern_type *type)
{
    return TERN_UNLIKELY(type->pair != 0) ? TERN_RMA_PAIRS + type->pair - 1 : type->basic;
}

/* Packed elements of one class, and what to do with them. */
struct tern_rma_combine {
    int basic; /* the class */
    enum tern_reduce_op op;
    tern_reduce_loop *loop;
    int packed; /* bytes of an element in the packed stream */
    int span;   /* bytes of an element in an array */
    /* of elements with a hole inside, bytes before the hole, and where it ends; else both are 0 */
    int hole, hole_end;
};

/* Returns true if each element is two runs. */
static inline bool tern_rma_has_hole(const struct tern_rma_combine *combine)
{
    return combine->hole_end > 0;
}

enum { TERN_RMA_NATURAL_MAX = 64 }; /* bytes of an element in an array, at most */

/* Copy an element between the packed stream and the layout of an array. Both have the same bytes in
 * the same order, but for the hole. */
void tern_rma_to_natural(const struct tern_rma_combine *combine, char *natural, const char *packed);
void tern_rma_to_packed(const struct tern_rma_combine *combine, char *packed, const char *natural);

/* Fills the table that tern_rma_combine_find looks into. Call it first, with the library's lock. */
void tern_rma_combine_init(void);
/* Returns what combines elements of class `basic`; NULL if the operation is not defined on them. */
const struct tern_rma_combine *tern_rma_combine_find(enum tern_reduce_op op, int basic);

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
