/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_DEVICE_ACCESS_H
#define TERN_DEVICE_ACCESS_H

/* Device memory that ranks of a node open for longer than a message, for windows. By the byte mover
 * ipc (lib/btl/ipc). Thread-safe. */

#include "lib/accel/accel.h"

#include <stdint.h>

struct tern_ipc_import;

/* Lets the ranks of this node open the allocation that holds `start`, until tern_ipc_unshare.
 * Returns a key, or 0 if that is not possible; then the reason was said. */
uint64_t tern_ipc_share(const void *start);
void tern_ipc_unshare(uint64_t key);

/* Opens `bytes` bytes at `address` of local rank `owner`, who has given `key`. `place`: the context
 * that should use the bytes; NULL: any. Sets *ret_memory to where the bytes are in this process.
 * Returns NULL if it cannot. The caller gives the result back by tern_ipc_release. */
struct tern_ipc_import *tern_ipc_open(uint32_t owner, uint64_t key, uint64_t address,
                                      uint64_t bytes, const struct tern_accel_place *place,
                                      char **ret_memory);
void tern_ipc_release(struct tern_ipc_import *import);

#endif
