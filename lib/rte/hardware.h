/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_HARDWARE_H
#define TERN_HARDWARE_H

/*
 * The parts of a node (packages, caches, cores ...), and the parts to which this process is bound.
 * Everything is read from the kernel's files on demand, in about 0.1 ms for all kinds. Neither
 * hwloc nor the launcher is needed, and MPI_Init pays nothing.
 */

#include <stdbool.h>
#include <stdint.h>

/* Kinds of parts, from the widest to the narrowest. */
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

/* Stands in place of a part's number if no part of that kind holds all processors of this process,
 * or if the node has no part of that kind. */
enum { TERN_HW_NOT_BOUND = -1 };

/* Returns the name of the resource type for MPI_Get_hw_resource_info, such as "hwloc://Package". */
const char *tern_rte_hw_name(enum tern_hw_kind kind);

/* Reads the name of a kind: hwloc's with or without "hwloc://", or Open MPI's ("socket",
 * "numanode", "hwthread"), in capital or small letters. Returns false if no kind has that name. */
bool tern_rte_hw_find(const char *name, enum tern_hw_kind *ret_kind);

/* Finds for each kind the one part that holds all processors on which the calling thread may run
 * now, or TERN_HW_NOT_BOUND. Sets ret_exists, unless NULL, to whether this node has parts of the
 * kind. The number of a part is its lowest processor: unique among the node's parts of the kind,
 * and meaningless between nodes. `root` is "" for this host, or in tests a directory with recorded
 * files. */
void tern_rte_hw_places(const char *root, int32_t ret_part[TERN_HW_KINDS],
                        bool ret_exists[TERN_HW_KINDS]);

/* Does what tern_rte_hw_places does, for the processors in the list `cpus`, such as "0-3,8". */
void tern_rte_hw_places_of(const char *root, const char *cpus, int32_t ret_part[TERN_HW_KINDS],
                           bool ret_exists[TERN_HW_KINDS]);

/* Returns the bytes of the data cache of level `level` that processor `cpu` uses. Returns 0 if
 * there is none or its size is unknown. */
int64_t tern_rte_hw_cache_bytes(const char *root, int cpu, int level);

/* Finds where the launcher bound a rank of this job at its start. Returns false if the node is not
 * known. ret_part[TERN_HW_MACHINE] is TERN_HW_NOT_BOUND if nothing is known about the place within
 * the node. Parts are not numbered as by tern_rte_hw_places: compare them only with each other.
 * Needs no network; takes about 20 us per rank. */
bool tern_rte_hw_launch_place(uint32_t rank, uint32_t *ret_node, int32_t ret_part[TERN_HW_KINDS]);

/* Reads a locality string of PMIx, such as "SK0:L30:L20-1:CR0-1:HT0-3:NM0". A kind with one number
 * gives the part to which the process is bound. A kind that is not named does not exist on the
 * node; its part is 0 for all ranks. Returns false, with TERN_HW_NOT_BOUND for all kinds, if `text`
 * is no such string. */
bool tern_rte_hw_parse_locality(const char *text, int32_t ret_part[TERN_HW_KINDS]);

#endif
