/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_BLOCK_H
#define TERN_BLOCK_H

/* Moves equal blocks between scattered memory and a packed stream; where packing spends its time.
 * Private to lib/type. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* An address `bytes` further on. As integers, for buffers may begin at NULL (MPI_BOTTOM) and blocks
 * lie anywhere. */
static inline char *tern_block_at(char *base, int64_t bytes)
{
    return (char *)((uintptr_t)base + (uintptr_t)bytes);
}

/* `count` blocks of `size` bytes, `stride` bytes apart from `at` on, to `packed` (or from there
 * when not `pack`). */
void tern_block_move_strided(bool pack, char *packed, char *at, int64_t count, int64_t stride,
                             size_t size);
/* The same for blocks at base + places[i]. */
void tern_block_move_placed(bool pack, char *packed, char *base, const int64_t *places,
                            int64_t count, size_t size);

#endif
