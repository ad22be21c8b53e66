/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_MPIRUN_RANKS_NODE_MEMFD_H
#define TERN_MPIRUN_RANKS_NODE_MEMFD_H

/* The memory that the ranks of a node share: a memfd, inherited by each of them, gone with the last
 * of them. Sparse: pages are the library's to allocate before it touches them. Its first bytes are
 * "TERNSHM1" and the job's token (32 hexadecimal digits); the rest is zero and the library's, but
 * for the ranks that have ended (struct tern_node_head). Behind it lies the roster
 * (lib/util/roster.h), which is only read. */

#include <stddef.h>
#include <stdint.h>

/* A memory file without a name, closed on exec. Its descriptor, or -1 and errno. */
int tern_memory_file(const char *name);

/* Size for so many ranks on the node. */
uint64_t tern_node_memory_size(int ranks);
/* Smaller where a limit on the size of files (ulimit -f) holds; *ret_size is without the roster of
 * `length` bytes. 0 or TERN_ERR_OTHER. */
int tern_node_memory_create(int ranks, const char *token, const void *roster, size_t length,
                            int *ret_fd, uint64_t *ret_size);
/* Tells the others that no program of this rank comes any more. */
void tern_node_memory_end_rank(int fd, int local_rank);

#endif
