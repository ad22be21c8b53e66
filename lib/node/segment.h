/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_SHM_SEGMENT_H
#define TERN_SHM_SEGMENT_H

/*
 * The node's memory: one file without a name, shared by all ranks of the job on this node.
 *
 *      head | half 0: shared header | one block per local rank | rings, made on first use ...
 *           | half 1: likewise
 *
 * MPI programs that a rank runs one after the other alternate between the halves (programs.h). All
 * offsets below count from the beginning of this program's half. The file's size is only address
 * space. Pages are allocated (fallocate) before they are touched, so a full node gives an error
 * code and never SIGBUS; only blocks of MPI_Alloc_mem are like malloc's (shared_block.c). Under our
 * own launcher the file is a memfd that every rank inherits. Under another one it is a memfd of
 * local rank 0, which the others open through /proc.
 */

#include "lib/node/doorbell.h"
#include "lib/node/programs.h"
#include "lib/util/atomic.h"
#include "lib/util/gpu_way.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* TERN_SEGMENT_LANES equals TERN_LANES_MAX, and holds for senders whose library was built with
 * another number too. */
enum { TERN_SEGMENT_CPUS = 1024, TERN_SEGMENT_LANES = 8 };

/* A rank's block. */
struct tern_segment_rank {
    /* Rung by every rank that has sent this rank something. */
    struct tern_bell bell __attribute__((aligned(TERN_CACHE_LINE)));
    /* Written once when the rank attaches. `attached` is nonzero when the rest is valid. */
    uint32_t attached __attribute__((aligned(TERN_CACHE_LINE)));
    int32_t pid;
    uint64_t cookie_address; /* address of a random word in the rank's own memory ... */
    /* ... and its value: a process that reads this value there may read all the rank's memory */
    uint64_t cookie;
    uint64_t cpus[TERN_SEGMENT_CPUS / 64]; /* processors the rank may run on */
    /* Ticks (tern_ticks) of this rank's last poll inside a call that waits, or a time that no clock
     * reaches while it stays in one. Peers learn from it whether the rank is there to answer. */
    uint64_t waiting_at __attribute__((aligned(TERN_CACHE_LINE)));
    /* Rings to this rank, by the sender's lane: `inbox` is the offset of the ring announced last;
     * tern_ring.next leads to the others. `announced` counts announcements and is raised after
     * each, so that the receiver need not look at all lanes. */
    uint32_t announced __attribute__((aligned(TERN_CACHE_LINE)));
    uint64_t inbox[TERN_SEGMENT_LANES];
    /* Where the first GPU is that the rank has used in a long collective. Written once, before
     * `gpu_told` becomes nonzero. */
    uint32_t gpu_told;
    struct tern_gpu_way gpu;
};

/* This process's view of the memory. */
struct tern_segment {
    char *base; /* beginning of this program's half; NULL: not attached */
    size_t size; /* of the half, in bytes */
    int fd;
    uint64_t start; /* offset of the half in the file */
    uint32_t local_size, local_rank;
};

extern struct tern_segment tern_segment;

/* Maps this program's half of the node's memory and fills in this rank's block. Under a foreign
 * launcher the first call is collective over the node. Blocks where tern_program_find_half does.
 * Returns 0 or TERN_ERR_*. */
int tern_segment_attach(void);
/* Stands in for tern_segment_attach on a rank that is alone on its node: takes part in the
 * collective steps of the others. */
int tern_segment_attend(void);
/* Leaves the memory and unmaps it, except for blocks that the program has (shared_block.h). */
void tern_segment_detach(void);

/* Returns the block of a local rank. */
struct tern_segment_rank *tern_segment_rank(uint32_t local_rank);
/* Returns true if this process can read all memory of the rank that has the block. Costs a system
 * call until the answer is yes. Any refusal counts as no (seccomp, Yama, ptrace scope, user). */
bool tern_segment_can_read(const struct tern_segment_rank *block);

/* Takes `size` bytes, a multiple of the page size, of zeroed shared memory for as long as the job
 * runs. Returns 0, or TERN_ERR_NO_MEM without text. */
int tern_segment_allocate(size_t size, uint64_t *ret_offset);
/* Takes memory that tern_segment_give can give back. Any `size`; it is rounded up to a power of two
 * of pages. Returns like tern_segment_allocate. */
int tern_segment_take(size_t size, uint64_t *ret_offset);
/* Gives it back. Small pieces keep their pages for the next one that takes such a size. */
void tern_segment_give(uint64_t offset, size_t size);

/* Takes `size` bytes like tern_segment_take, but only as address space, with one page of memory at
 * the beginning. tern_segment_fill allocates the pages of a part before it is touched: whoever
 * fills a part decides on which NUMA node it lies. Both return 0, or TERN_ERR_NO_MEM without text.
 * tern_segment_unclaim gives all back, and the pages to the node. */
int tern_segment_claim(size_t size, uint64_t *ret_offset);
int tern_segment_fill(uint64_t offset, size_t size);
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
 * caller takes the memory, zeroed; the others find it. All get the same answer: 0, or
 * TERN_ERR_NO_MEM without text. Waits for nobody. */
int tern_segment_meet(const struct tern_segment_name *name, uint32_t users, size_t size,
                      uint64_t *ret_offset);
/* Gives such memory back. One call for all users, after all of them have called
 * tern_segment_meet. */
void tern_segment_part(uint64_t offset);
/* Returns the bytes that the ranks of the node have taken, blocks and rings; 0: not attached. */
size_t tern_segment_used(void);
/* Gives the pages back to the node. The address space stays taken. */
void tern_segment_discard(uint64_t offset, size_t size);

/* For programs.c. Allocates pages of the file. Returns 0, or TERN_ERR_NO_MEM with text. */
int tern_segment_reserve(int fd, uint64_t start, size_t size);
/* Gives back the pages of a half that no program needs any more. The half then reads as zeros. */
void tern_segment_clean(int fd, struct tern_half half);

#endif
