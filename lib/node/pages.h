/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_PAGES_H
#define TERN_PAGES_H

/* Pages of the file that is the node's memory. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Allocates pages, again after each signal, until that succeeds or is refused. If a sandbox does
 * not know fallocate, the system allocates pages when they are touched. Returns 0 or a negative
 * errno. */
int tern_pages_allocate(int fd, uint64_t start, size_t size);
/* The same for memory without which MPI cannot start. Returns 0, or TERN_ERR_NO_MEM with text. */
int tern_pages_reserve(int fd, uint64_t start, size_t size);
/* Gives pages back to the node; they then read as zeros. Returns false if the system takes none
 * back. */
bool tern_pages_give(int fd, uint64_t start, uint64_t size);
/* Gives back what no program needs any more, or at least writes zeros over it. */
void tern_pages_clean(int fd, uint64_t start, uint64_t size);

#endif
