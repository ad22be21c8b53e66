/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/io/access/covered.h"

#include <string.h>

static void add_one(uint64_t *covered, int64_t at, int64_t bytes)
{
    int64_t first = at / 64, last = (at + bytes - 1) / 64;
    uint64_t low = ~0ull << (at % 64), high = ~0ull >> (63 - (at + bytes - 1) % 64);
    if (first == last) {
        covered[first] |= low & high;
        return;
    }
    covered[first] |= low;
    memset(covered + first + 1, 0xff, (size_t)(last - first - 1) * sizeof *covered);
    covered[last] |= high;
}

void tern_covered_add(uint64_t *covered, int64_t at, int64_t bytes, int64_t stride, int64_t count)
{
    for (int64_t i = 0; i < count && bytes > 0; i++, at += stride)
        add_one(covered, at, bytes);
}

/* Returns the first byte at `at` or behind whose bit is `set`; `length` if there is none. */
static int64_t find(const uint64_t *covered, int64_t length, int64_t at, bool set)
{
    while (at < length) {
        uint64_t word = set ? covered[at / 64] : ~covered[at / 64];
        word &= ~0ull << (at % 64);
        if (word) {
            int64_t found = at / 64 * 64 + __builtin_ctzll(word);
            return found < length ? found : length;
        }
        at = (at / 64 + 1) * 64;
    }
    return length;
}

bool tern_covered_next(const uint64_t *covered, int64_t length, int64_t *from, int64_t *to)
{
    *from = find(covered, length, *from, true);
    *to = find(covered, length, *from, false);
    return *from < length;
}
