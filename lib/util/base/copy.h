/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_COPY_H
#define TERN_COPY_H

/* Copies the few bytes of a short message without a function call. */

#include <stddef.h>
#include <string.h>

/* Most bytes that tern_copy_few copies. */
enum { TERN_COPY_FEW = 32 };

/* Copies `n` bytes, 0 to TERN_COPY_FEW. If `n` is not a power of two, the two words copied
 * overlap. */
static inline void tern_copy_few(void *to, const void *from, size_t n)
{
    char *t = to;
    const char *f = from;
    if (n >= 16) {
        memcpy(t, f, 16);
        memcpy(t + n - 16, f + n - 16, 16);
    } else if (n >= 8) {
        memcpy(t, f, 8);
        memcpy(t + n - 8, f + n - 8, 8);
    } else if (n >= 4) {
        memcpy(t, f, 4);
        memcpy(t + n - 4, f + n - 4, 4);
    } else if (n) {
        t[0] = f[0];
        t[n / 2] = f[n / 2];
        t[n - 1] = f[n - 1];
    }
}

#endif
