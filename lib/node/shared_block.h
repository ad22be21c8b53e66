/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_SHARED_BLOCK_H
#define TERN_SHARED_BLOCK_H

/*
 * Blocks of the node's memory that the program uses: memory of MPI_Alloc_mem and MPI_Win_allocate.
 * All ranks of the node have them mapped, so their accesses need no copy by the system. A block
 * belongs to the rank that took it, until that rank gives it back. All functions are thread-safe
 * and do not block for long.
 */

#include <stdbool.h>
#include <stddef.h>

/* Takes `size` bytes at a multiple of `alignment`, a power of two. `whole`: all zero, and allocates
 * all pages now, so that they lie near this rank. Else the system allocates a page when it is
 * touched first, as with memory of malloc. Returns 0; TERN_ERR_UNSUPPORTED without text if only
 * memory of this rank's own can be had, or if this rank shares memory with no other rank;
 * TERN_ERR_NO_MEM with text if the node has no memory. */
int tern_shared_block_take(size_t size, size_t alignment, bool whole, void **ret_base);
/* Gives a block back. Returns false, and does nothing, if no block begins at `base`. */
bool tern_shared_block_give(void *base);

/* Unmaps `size` bytes at `base`, the node's memory, except for blocks that the program still has:
 * they become private memory with the same addresses and contents. Call tern_shared_block_save
 * while the node's memory still has its contents, then tern_shared_block_unmap. */
void tern_shared_block_save(void);
void tern_shared_block_unmap(void *base, size_t size);

#endif
