/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_SHM_SHARE_H
#define TERN_SHM_SHARE_H

/* Memory for the ranks of a node under a launcher that gives them none (all but our own). */

#include <stddef.h>
#include <stdint.h>

/* Gives every rank of the node a descriptor (closed on exec) of one file of `wanted` bytes, or of
 * `least` at least where files are limited, zeroed but for its first 64 bytes. Collective over the
 * job; blocks. Returns 0, or TERN_ERR_NO_MEM or TERN_ERR_OTHER with text. */
int tern_share_memory(uint64_t least, uint64_t wanted, int *ret_fd, size_t *ret_size);

/* Takes the part of a rank that is alone on its node: the two fences of the job, in which the ranks
 * of other nodes call tern_share_memory. */
int tern_share_attend(void);

#endif
