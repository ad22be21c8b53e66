/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_SHM_SHARE_H
#define TERN_SHM_SHARE_H

/* Memory for the ranks of a node whose launcher gives them none (any but our own). */

#include <stddef.h>
#include <stdint.h>

/* A descriptor (closed on exec) of the same zeroed file on every rank of the node, but for its
 * first 64 bytes; of at least `least` bytes. Collective over the job; blocks. 0, or TERN_ERR_NO_MEM
 * or TERN_ERR_OTHER with text. */
int tern_share_memory(uint64_t least, int *ret_fd, size_t *ret_size);

/* The part of a rank that is alone on its node: the two fences of the job in which the others
 * share. */
int tern_share_attend(void);

#endif
