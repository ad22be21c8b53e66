/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_NODE_MEMORY_H
#define TERN_NODE_MEMORY_H

/*
 * The memory our launcher made for the ranks of this node. `text` is TERN_NODE_MEMORY,
 * "FD:SIZE:TOKEN" (TOKEN: 32 hexadecimal digits), or NULL. The descriptor may by now name another
 * file (a shell between us and the launcher closed it), or the variable may come from a job around
 * ours; so the file has to begin with "TERNSHM1" and the job's token. False: it does not fit,
 * nothing was touched and nothing written; the ranks then make memory of their own. Otherwise the
 * descriptor is the caller's and is closed on exec.
 */

#include <stdbool.h>
#include <stddef.h>

bool tern_rte_adopt_node_memory(const char *text, int *ret_fd, size_t *ret_size);

#endif
