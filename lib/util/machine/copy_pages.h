/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_COPY_PAGES_H
#define TERN_COPY_PAGES_H

/* Copies long runs that lie in another core's cache. */

#include "lib/util/base/atomic.h"

#include <stdbool.h>
#include <stddef.h>

/* The shortest run that gains. */
enum { TERN_COPY_PAGES_LEAST = 32 * 1024 };

/* Copies `bytes` bytes, which do not overlap, as memcpy does; by pages in turn if that gains. */
TERN_OURS void tern_copy_pages(void *to, const void *from, size_t bytes);

/* Does it by eight pages at a time, a little of each in turn: a prefetcher follows one page, and so
 * eight of them work at once. By memcpy if this processor has no long vectors. */
TERN_OURS void tern_copy_pages_in_turn(void *to, const void *from, size_t bytes);

/* Set and return whether copies of pages in turn are faster. False until it is set. */
TERN_OURS void tern_copy_pages_use(bool in_turn);
TERN_OURS bool tern_copy_pages_gains(void);

#endif
