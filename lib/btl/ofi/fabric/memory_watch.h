/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_OFI_MEMORY_WATCH_H
#define TERN_OFI_MEMORY_WATCH_H

/*
 * Watches memory, so that a registration of it is not used any more when its addresses have got
 * other pages: after munmap, mremap, madvise, brk, and whatever else of the program takes memory
 * away.
 *
 * The kernel's userfaultfd reports that for ranges that are registered with it in write-protect
 * mode. Nothing is write-protected, so no page fault is ever reported. A thread of ours reads the
 * reports and marks what they concern; who takes memory away waits until its report has been read.
 * The thread takes no lock and allocates nothing, because a thread that waits for it may hold any
 * lock.
 *
 * Only private anonymous memory can be watched: files and shared memory may change unreported.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A range of whole pages that is watched. All members are atomic. */
struct tern_memory_watch {
    uintptr_t start, end; /* equal: nothing is watched here */
    bool stale;           /* the range has lost pages */
};
enum { TERN_MEMORY_WATCHES = 256 };
extern struct tern_memory_watch tern_memory_watches[TERN_MEMORY_WATCHES];

/* Watches the pages of `length` bytes at `start` by a watch that is not in use. Returns false if
 * that is not possible: the system refuses, or the memory is of another kind. Locks: the caller
 * serialises all calls here. */
bool tern_memory_watch_begin(struct tern_memory_watch *watch, const void *start, size_t length);
/* Ends it. The kernel goes on reporting, as long as the mapping lasts. */
void tern_memory_watch_end(struct tern_memory_watch *watch);
/* Returns true if no memory is being taken away by another thread at this moment. If false is
 * returned, a watch says nothing now. */
bool tern_memory_watch_is_quiet(void);
/* Returns true if the range has lost pages. Valid after tern_memory_watch_is_quiet: whatever was
 * taken away before that call, by any thread, is counted. */
bool tern_memory_watch_is_stale(const struct tern_memory_watch *watch);
/* Ends the thread and all watches. */
void tern_memory_watch_stop(void);

#endif
