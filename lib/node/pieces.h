/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_PIECES_H
#define TERN_PIECES_H

/*
 * Pieces of the node's memory (segment.h), by their offsets: who takes one, and who gives it back.
 * Any process of the node may do either. All functions are thread-safe, and hold also if another
 * rank is killed within them. Those that fail return TERN_ERR_NO_MEM without text, unless told
 * otherwise.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Takes `size` bytes, a multiple of the page size, of zeroed shared memory of the core for as long
 * as the job runs. */
int tern_segment_allocate(size_t size, uint64_t *ret_offset);
/* Takes memory of the core that tern_segment_give can give back. Any `size`. */
int tern_segment_take(size_t size, uint64_t *ret_offset);
/* Gives it back. Small pieces keep their pages for the next one that takes such a size. */
void tern_segment_give(uint64_t offset, size_t size);

/*
 * Takes address space of any size for the program's memory, without pages, and maps it here. Other
 * ranks map it with tern_segment_reach. Prefers the arena. `must`: the caller can use no other
 * memory; else none of the arena is taken if the addresses of a process are limited (ulimit -v),
 * because other ranks could not map it. Returns 0, TERN_ERR_NO_SPACE if the node's memory has no
 * room, or TERN_ERR_NO_MEM if it has but this process cannot map it; both without text.
 */
int tern_segment_claim(size_t size, bool must, uint64_t *ret_offset);
/* Says why the node's memory has no room for a window of `size` bytes. Returns TERN_ERR_NO_MEM. */
int tern_segment_refuse(size_t size);
/* Allocates the pages of a part before it is touched: whoever fills a part decides on which NUMA
 * node it lies. Returns TERN_ERR_NO_MEM with a text that says what is short. */
int tern_segment_fill(uint64_t offset, size_t size);
/* Gives all of a claim back, and the pages to the node. */
void tern_segment_unclaim(uint64_t offset, size_t size);

/* A name on which several ranks of the node agree without communication: they make the same calls,
 * so each can compute the same name. */
struct tern_segment_name {
    uint64_t context;
    /* local rank of the group's first rank: groups with equal context are disjoint */
    uint32_t leader;
    uint32_t serial;
};

/* Finds memory that `users` ranks of the node share by name; each of them calls once. The first
 * caller takes the memory, zeroed; the others find it. All get the same answer. Waits for
 * nobody. */
int tern_segment_meet(const struct tern_segment_name *name, uint32_t users, size_t size,
                      uint64_t *ret_offset);
/* Gives such memory back. One call for all users, after all of them have called
 * tern_segment_meet. */
void tern_segment_part(uint64_t offset);

/* Returns the bytes that the ranks of the node have taken, as addresses; 0: not attached. */
size_t tern_segment_used(void);

/* For segment.c. Returns the bytes in front of the first piece. */
size_t tern_segment_header_bytes(void);
/* Makes the books of a half of `half_bytes` bytes, unless another rank has. */
void tern_segment_begin(uint64_t half_bytes);

#endif
