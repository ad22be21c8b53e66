/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_COVERED_H
#define TERN_COVERED_H

/* Which bytes of a window were written: one bit for each. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Returns the bytes of the bits for `length` bytes. */
static inline size_t tern_covered_bytes(int64_t length)
{
    return (size_t)((length + 63) / 64) * sizeof(uint64_t);
}

/* Marks the bytes at .. at + bytes - 1, and those `stride` behind, `count` times. */
void tern_covered_add(uint64_t *covered, int64_t at, int64_t bytes, int64_t stride, int64_t count);

/* Finds the next marked bytes at *from or behind, of `length` bytes: *from .. *to - 1. Returns
 * false if there are none. */
bool tern_covered_next(const uint64_t *covered, int64_t length, int64_t *from, int64_t *to);

#endif
