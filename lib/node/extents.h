/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_EXTENTS_H
#define TERN_EXTENTS_H

/*
 * A list of the free stretches of an address space, in memory that several processes share. A
 * stretch that is given back joins its free neighbours, so any size that fits one gap is found.
 *
 * A process may be killed at any instruction. So a change is written to a second copy of the list,
 * and one store makes this copy the valid one: there is never a list that is half changed. Callers
 * hold a lock that passes on when its owner dies.
 */

#include <stdbool.h>
#include <stdint.h>

struct tern_extent {
    uint64_t start, end; /* bytes; the end is not part of it */
};

/* Lies in shared memory; all zero: not begun. The two copies of the list follow behind. */
struct tern_extents {
    uint32_t valid; /* which copy counts: 0 or 1 */
    uint32_t most;  /* elements of a copy */
    struct {
        uint64_t bytes; /* free in all */
        uint64_t count; /* elements */
    } lists[2];
    struct tern_extent elements[];
};

/* Returns the bytes of a list of at most `most` stretches. */
uint64_t tern_extents_size(uint32_t most);
/* Begins a list without free stretches. */
void tern_extents_begin(struct tern_extents *extents, uint32_t most);

/* Takes `size` bytes, the first that are free between `from` and `to`. Returns false if no gap
 * there has so many, or if the list is full. */
bool tern_extents_take(struct tern_extents *extents, uint64_t size, uint64_t from, uint64_t to,
                       uint64_t *ret_start);
/* Gives bytes back, none of which may be free. If the list is full and the bytes touch no free
 * stretch, they are lost: returns false. */
bool tern_extents_give(struct tern_extents *extents, uint64_t start, uint64_t size);
/* Returns the number of free bytes. Needs no lock. */
uint64_t tern_extents_free(const struct tern_extents *extents);
/* Returns how many elements a copy needs for the next change. */
uint64_t tern_extents_needed(const struct tern_extents *extents);

#endif
