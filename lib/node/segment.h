/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_SHM_SEGMENT_H
#define TERN_SHM_SEGMENT_H

/*
 * The node's memory: one file without a name, shared by all ranks of the job on this node.
 *
 *      head | half 0: core: header | one block per local rank | rings, made on first use ...
 *                     arena: windows, blocks of MPI_Alloc_mem
 *           | half 1: likewise
 *
 * MPI programs that a rank runs one after the other alternate between the halves (programs.h). All
 * offsets below count from the beginning of this program's half. The file's size is only address
 * space. Each rank maps the core when it starts, and the arena up to the end of what it uses:
 * batch systems count and limit the addresses of a process, and a few tools (valgrind) cannot map
 * terabytes. Pages are allocated (fallocate) before they are touched, so a full node gives an error
 * code and never SIGBUS; only blocks of MPI_Alloc_mem are like malloc's (shared_block.c). Under our
 * own launcher the file is a memfd that every rank inherits. Under another one it is a memfd of
 * local rank 0, which the others open through /proc.
 */

#include "lib/node/doorbell.h"
#include "lib/node/programs.h"
#include "lib/node/shared_lock.h"
#include "lib/util/base/atomic.h"
#include "lib/util/machine/gpu_way.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* TERN_SEGMENT_LANES equals TERN_LANES_MAX, and holds for senders whose library was built with
 * another number too. */
enum { TERN_SEGMENT_CPUS = 1024, TERN_SEGMENT_LANES = 8 };
/* Offsets of the ranks' blocks, and of what is known about lines (lib/btl/shm/lines.h). */
enum {
    TERN_SEGMENT_RANKS_AT = 4096,
    TERN_SEGMENT_LINES_BYTES = TERN_CACHE_LINE,
    TERN_SEGMENT_LINES_AT = TERN_SEGMENT_RANKS_AT - TERN_SEGMENT_LINES_BYTES,
};

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
    /* Bytes of the memory that this process has mapped, from its address of the half on. */
    uint64_t mapped;
    /* Bytes that this rank is about to allocate, and a lock that it holds meanwhile (pieces.c). */
    uint64_t filling;
    struct tern_shared_lock fill_lock;
};

/* This process's view of the memory. */
struct tern_segment {
    char *base; /* beginning of this program's half; NULL: not attached */
    size_t size; /* bytes that are mapped; grows (tern_segment_reach) */
    size_t core; /* bytes that every rank has mapped from the beginning */
    size_t room; /* bytes that can be mapped from `base` on */
    bool limited; /* the process may have few addresses (ulimit -v) */
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

/* Maps the memory here up to offset `end`. Call before an offset of another rank's piece of the
 * program's memory (pieces.h) is used. Thread-safe. Returns false, without text, if the addresses
 * of this process are limited or taken. */
bool tern_segment_reach(uint64_t end);

/* Gives pages back to the node; they then read as zeros. The address space stays taken. Returns
 * false if the system takes none back. */
bool tern_segment_discard(uint64_t offset, size_t size);

/* The part of tern_segment_attach that comes when the half is found. Call with local_size and
 * local_rank set. */
int tern_segment_open(int fd, struct tern_half half);

#endif
