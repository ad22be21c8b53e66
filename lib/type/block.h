/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_BLOCK_H
#define TERN_BLOCK_H

/* Moves equal blocks and short runs between scattered memory and a packed stream; where packing
 * spends its time. Private to lib/type. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* An address `bytes` further on. As integers, for buffers may begin at NULL (MPI_BOTTOM) and blocks
 * lie anywhere. */
static inline char *tern_block_at(char *base, int64_t bytes)
{
    return (char *)((uintptr_t)base + (uintptr_t)bytes);
}

struct tern_entry; /* program.h */

/* Rows of equal blocks, or rows of runs of any lengths. */
struct tern_block_rows {
    char *base;
    size_t size;           /* bytes of a block, > 0; of runs: the longest one's */
    int64_t count, stride; /* blocks in a row, and bytes from one to the next */
    const int64_t *places; /* of the blocks in a row, bytes from its begin; NULL: `stride` apart */
    /* not NULL: rows are the `count` runs of this list, no equal blocks */
    const struct tern_entry *list;
    int64_t rows, row_stride;
    const int64_t *row_places; /* of the rows, bytes from base on; NULL: `row_stride` apart */
    bool streamed;             /* part of more bytes than the caches hold */
};

/* How many those are. */
int64_t tern_block_stream_min(void);

/* All of them to `packed`, one after the other, or from there when not `pack`. */
void tern_block_move(bool pack, char *packed, const struct tern_block_rows *blocks);

#endif
