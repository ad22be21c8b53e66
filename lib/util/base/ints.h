/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_INTS_H
#define TERN_INTS_H

/* An array of counts or displacements as the user passed it: of int, or of MPI_Count or MPI_Aint (8
 * bytes). Passed by value; the memory stays the user's. */

#include <stdint.h>

struct tern_ints {
    const void *values; /* NULL: no array */
    int width; /* bytes per element: 4 or 8 */
};

/* Returns element `i`. */
static inline int64_t tern_ints_at(struct tern_ints ints, int64_t i)
{
    return ints.width == 4 ? ((const int32_t *)ints.values)[i] : ((const int64_t *)ints.values)[i];
}

/* Returns the index of the first of `n` elements that is less than `least`, or -1. */
static inline int64_t tern_ints_find_below(struct tern_ints ints, int64_t n, int64_t least)
{
    for (int64_t i = 0; i < n; i++)
        if (tern_ints_at(ints, i) < least)
            return i;
    return -1;
}

#endif
