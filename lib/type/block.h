/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_BLOCK_H
#define TERN_BLOCK_H

/* Moves equal blocks and short runs between scattered memory and a packed stream. Packing spends
 * its time here. Private to lib/type. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Returns the address `bytes` behind `base`. Computed as integers, because a buffer may begin at
 * NULL (MPI_BOTTOM) and blocks may lie anywhere. */
static inline char *tern_block_at(char *base, int64_t bytes)
{
    return (char *)((uintptr_t)base + (uintptr_t)bytes);
}

struct tern_entry; /* type_program.h */

/* Rows of equal blocks, or rows of runs of different lengths. */
struct tern_block_rows {
    char *base;
    size_t size;           /* bytes of a block, > 0; if `list` is set, of the longest run */
    int64_t count, stride; /* blocks in a row, and bytes from one block to the next */
    /* offsets of the blocks in a row, in bytes from the row's beginning; NULL: `stride` apart */
    const int64_t *places;
    /* if not NULL, each row consists of the `count` runs of this list instead of equal blocks */
    const struct tern_entry *list;
    int64_t rows, row_stride;
    /* offsets of the rows, in bytes from base; NULL: `row_stride` apart */
    const int64_t *row_places;
    bool streamed;             /* true if the whole transfer is larger than the caches */
};

/* Returns the number of bytes from which on a transfer counts as larger than the caches. */
int64_t tern_block_stream_min(void);

/* Copies all blocks to `packed`, one after the other, if `pack`; else copies `packed` to the
 * blocks. */
void tern_block_move(bool pack, char *packed, const struct tern_block_rows *blocks);

#endif
