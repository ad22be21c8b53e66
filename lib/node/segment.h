/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_SHM_SEGMENT_H
#define TERN_SHM_SEGMENT_H

/*
 * The node's memory: one file without a name, shared by all ranks of the job on this node.
 *
 *      head | half 0: shared header | one block per local rank | rings, as they are needed ... |
 * half 1: the same
 *
 * MPI programs that a rank runs one after the other take turns with the halves (programs.h). All
 * offsets below count from the begin of this program's half. The file's size is only address space;
 * pages are allocated (fallocate) before they are touched, so a full node gives an error code and
 * never SIGBUS. Under our own launcher it is a memfd that every rank inherits; under another one, a
 * memfd of local rank 0 that the others open through /proc.
 */

#include "lib/node/doorbell.h"
#include "lib/node/programs.h"
#include "lib/util/atomic.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The second is TERN_LANES_MAX, also of a sender whose library was built otherwise. */
enum { TERN_SEGMENT_CPUS = 1024, TERN_SEGMENT_LANES = 8 };

struct tern_segment_rank {
    /* Whoever has sent this rank something rings it. */
    struct tern_bell bell __attribute__((aligned(TERN_CACHE_LINE)));
    /* Written once when the rank attaches. */
    uint32_t attached __attribute__((aligned(TERN_CACHE_LINE)));
    int32_t pid;
    uint64_t cookie_address; /* of a random word in the rank's own memory ... */
    uint64_t cookie;         /* ... and its value: whoever reads this there may read all there */
    uint64_t cpus[TERN_SEGMENT_CPUS / 64]; /* processors the rank may run on */
    /* When this rank last polled inside a call that waits (tern_ticks), or that it stays in one: is
     * it there to answer? */
    uint64_t waiting_at __attribute__((aligned(TERN_CACHE_LINE)));
    /* Rings to this rank, by the sender's lane: offset of the one announced last, chained through
     * tern_ring.next. The count of announcements, raised after each, spares the receiver looking at
     * all of them. */
    uint32_t announced __attribute__((aligned(TERN_CACHE_LINE)));
    uint64_t inbox[TERN_SEGMENT_LANES];
};

struct tern_segment {
    char *base; /* this program's half of the file; NULL: not attached */
    size_t size;
    int fd;
    uint64_t start; /* of the half in the file */
    uint32_t local_size, local_rank;
};

extern struct tern_segment tern_segment;

/* Maps this program's half of the node's memory and fills in this rank's block. Collective over the
 * node only under a foreign launcher, and only the first time. Waits where tern_program_find_half
 * does. */
int tern_segment_attach(void);
/* In its place on a rank that is alone on its node: takes part in what the others do together. */
int tern_segment_attend(void);
/* Leaves and unmaps it. */
void tern_segment_detach(void);

struct tern_segment_rank *tern_segment_rank(uint32_t local_rank);

/* Takes `size` bytes (a multiple of the page) of zeroed shared memory. 0 or TERN_ERR_NO_MEM
 * (nothing is said). */
int tern_segment_allocate(size_t size, uint64_t *ret_offset);
/* The same for what comes and goes: any size, which is rounded up to a power of two of pages. */
int tern_segment_take(size_t size, uint64_t *ret_offset);
void tern_segment_give(uint64_t offset, size_t size);

/* What several ranks of the node agree on without a word: they make the same calls, so each can say
 * the same. */
struct tern_segment_name {
    uint64_t context;
    /* local rank of the group's first one: groups with the same context are disjoint */
    uint32_t leader;
    uint32_t serial;
};

/* Memory that `users` ranks of the node share by name, each of which asks once: the first one takes
 * it, zeroed, the others find it. All get the same answer: 0 or TERN_ERR_NO_MEM (nothing is said).
 * Waits for nobody. */
int tern_segment_meet(const struct tern_segment_name *name, uint32_t users, size_t size,
                      uint64_t *ret_offset);
/* Gives it back, once for all users, all of whom have asked. */
void tern_segment_part(uint64_t offset);
/* Bytes that the ranks of the node have taken, blocks and rings; 0: not attached. */
size_t tern_segment_used(void);
/* Gives pages back to the node; the address space stays used. */
void tern_segment_discard(uint64_t offset, size_t size);

/* For programs.c. Allocates pages of the file. 0 or TERN_ERR_NO_MEM with text. */
int tern_segment_reserve(int fd, uint64_t start, size_t size);
/* Gives back the pages of a half that nobody needs any more: it reads as zeros. */
void tern_segment_clean(int fd, struct tern_half half);

#endif
