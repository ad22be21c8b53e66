/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_MPIRUN_RANKS_NODE_MEMFD_H
#define TERN_MPIRUN_RANKS_NODE_MEMFD_H

/* Makes the memory that the ranks of a node share: a memfd that each rank inherits and that
 * disappears with the last of them. The file is sparse: the library allocates pages before it
 * touches them.
 *
 * The file begins with "TERNSHM1" and the job's token (32 hexadecimal digits). The rest is zero and
 * belongs to the library, except that the launcher marks ranks that have ended (struct
 * tern_node_head). After it comes the roster (lib/util/net/roster.h), which ranks only read. */

#include <stddef.h>
#include <stdint.h>

/* Makes a memory file without a name, closed on exec. Returns its descriptor, or -1 with errno. */
int tern_memory_file(const char *name);

/* Returns the wanted size in bytes for `ranks` ranks on the node. */
uint64_t tern_node_memory_size(int ranks);
/* Makes the node's memory, followed by the roster of `length` bytes. *ret_size is the size without
 * the roster; it is smaller than wanted if a limit on file sizes (ulimit -f) holds. Returns 0 or
 * TERN_ERR_OTHER. */
int tern_node_memory_create(int ranks, const char *token, const void *roster, size_t length,
                            int *ret_fd, uint64_t *ret_size);
/* Tells the other ranks of the node, through the memory, that this rank will start no further
 * program. */
void tern_node_memory_end_rank(int fd, int local_rank);

#endif
