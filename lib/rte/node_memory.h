/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_NODE_MEMORY_H
#define TERN_NODE_MEMORY_H

/*
 * The memory our launcher made for the ranks of this node. `text` is TERN_NODE_MEMORY,
 * "FD:SIZE:TOKEN" (TOKEN: 32 hexadecimal digits), or NULL. The descriptor may by now name another
 * file or none (sudo closes what it does not know); then the launcher's own is opened at `path`
 * (TERN_NODE_MEMORY_PATH, /proc/PID/fd/FD, or NULL). Or the variables come from a job around ours;
 * so the file has to begin with "TERNSHM1" and the token. False: it does not fit, nothing was
 * touched and nothing written. Otherwise the descriptor is the caller's and is closed on exec. The
 * SIZE bytes are for the ranks; behind them lie `*ret_roster` bytes of the launcher's
 * (lib/util/roster.h).
 */

#include <stdbool.h>
#include <stddef.h>

bool tern_rte_adopt_node_memory(const char *text, const char *path, int *ret_fd, size_t *ret_size,
                                size_t *ret_roster);

/* Is `nspace` a job of our launcher, which gives its ranks such memory? */
bool tern_rte_gives_node_memory(const char *nspace);

#endif
