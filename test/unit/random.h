/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RANDOM_H
#define RANDOM_H

/* Random choices of tests, the same in each run (xorshift: Marsaglia 2003). */

#include <stdint.h>

static uint64_t seed; /* a test sets it, to anything but 0 */

static inline int64_t choose(int64_t low, int64_t high)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return low + (int64_t)(seed % (uint64_t)(high - low + 1));
}

#endif
