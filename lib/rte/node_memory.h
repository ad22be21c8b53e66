/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_NODE_MEMORY_H
#define TERN_NODE_MEMORY_H

/*
 * The memory that our launcher made for the ranks of this node.
 */

#include <stdbool.h>
#include <stddef.h>

/*
 * Takes over that memory. `text` is the value of TERN_NODE_MEMORY, "FD:SIZE:TOKEN" (TOKEN: 32
 * hexadecimal digits), or NULL. Returns false if `text` and file do not fit together; then nothing
 * was changed and nothing printed. Owner: the caller gets the descriptor, which is closed on exec.
 * The first SIZE bytes of the file are for the ranks. Behind them lie `*ret_roster` bytes of the
 * launcher's (lib/util/net/roster.h).
 *
 * FD may by now name another file or none, because sudo closes descriptors that it does not know.
 * Then `path` is opened (TERN_NODE_MEMORY_PATH, the launcher's /proc/PID/fd/FD, or NULL). The
 * variables may also come from a job around ours. Therefore the file must begin with "TERNSHM1" and
 * the token.
 */
bool tern_rte_adopt_node_memory(const char *text, const char *path, int *ret_fd, size_t *ret_size,
                                size_t *ret_roster);

/* Returns true if `nspace` is a job of our launcher, which gives its ranks such memory. */
bool tern_rte_gives_node_memory(const char *nspace);

#endif
