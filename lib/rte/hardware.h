/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_HARDWARE_H
#define TERN_HARDWARE_H

/*
 * The parts of a node and which of them this process is bound to. Everything is read from the
 * kernel's files when asked, about 0.1 ms for all kinds: neither hwloc nor the launcher is needed,
 * and MPI_Init pays nothing.
 */

#include <stdbool.h>
#include <stdint.h>

/* From the widest to the narrowest. */
enum tern_hw_kind {
    TERN_HW_MACHINE,
    TERN_HW_PACKAGE,
    TERN_HW_NUMA,
    TERN_HW_L3,
    TERN_HW_L2,
    TERN_HW_L1,
    TERN_HW_CORE,
    TERN_HW_PU, /* hardware thread */
    TERN_HW_KINDS
};

/* No part of that kind holds all processors of this process, or the node has none of that kind. */
enum { TERN_HW_NOT_BOUND = -1 };

/* The resource type as MPI_Get_hw_resource_info names it, "hwloc://Package". */
const char *tern_rte_hw_name(enum tern_hw_kind kind);

/* Reads such a name: hwloc's with or without "hwloc://", or Open MPI's ("socket", "numanode",
 * "hwthread"); capital or small letters. False: no kind is called so. */
bool tern_rte_hw_find(const char *name, enum tern_hw_kind *ret_kind);

/* For each kind: whether this node has parts of it (ret_exists, may be NULL), and the one part that
 * holds all processors the calling thread may run on now, or TERN_HW_NOT_BOUND. The number of a
 * part is its lowest processor: different for the parts of a kind on a node, and meaningless
 * between nodes. `root` is "" for this host, or a directory with recorded files in tests. */
void tern_rte_hw_places(const char *root, int32_t ret_part[TERN_HW_KINDS],
                        bool ret_exists[TERN_HW_KINDS]);

/* The same with the processors given as a list like "0-3,8" in place of the thread's own. */
void tern_rte_hw_places_of(const char *root, const char *cpus, int32_t ret_part[TERN_HW_KINDS],
                           bool ret_exists[TERN_HW_KINDS]);

/* Size of the data cache of this level that a processor uses; 0: there is none, or nobody says how
 * large. */
int64_t tern_rte_hw_cache_bytes(const char *root, int cpu, int level);

/* Where the launcher bound a rank of this job when it started it; local, about 20 us per rank.
 * Parts are numbered otherwise than above: compare them only with each other. False: the node is
 * not known. ret_part[TERN_HW_MACHINE] is TERN_HW_NOT_BOUND if nothing is known within the node. */
bool tern_rte_hw_launch_place(uint32_t rank, uint32_t *ret_node, int32_t ret_part[TERN_HW_KINDS]);

/* Reads a locality string of PMIx, such as "SK0:L30:L20-1:CR0-1:HT0-3:NM0": a kind with one number
 * is the part the process is bound to. Kinds that are not named are parts that the node does not
 * have: 0, the same for all. False, with nothing but TERN_HW_NOT_BOUND: no such string. */
bool tern_rte_hw_parse_locality(const char *text, int32_t ret_part[TERN_HW_KINDS]);

#endif
