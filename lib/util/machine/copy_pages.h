/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_COPY_PAGES_H
#define TERN_COPY_PAGES_H

/* Copies long runs that lie in another core's cache. */

#include "lib/util/base/atomic.h"

#include <stdbool.h>
#include <stddef.h>

/* The shortest run that gains. */
enum { TERN_COPY_PAGES_LEAST = 32 * 1024 };

/* Copies `bytes` bytes, which do not overlap, as memcpy does. On processors where that is faster it
 * copies eight pages at a time, a little of each in turn: a prefetcher follows one page, and so
 * eight of them work at once. */
TERN_OURS void tern_copy_pages(void *to, const void *from, size_t bytes);

/* Returns true if this processor gains. */
TERN_OURS bool tern_copy_pages_gains(void);

#endif
