/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_SHM_PULL_H
#define TERN_SHM_PULL_H

/* Copies a long message straight from its sender's memory (process_vm_readv). */

#include "lib/btl/btl.h"

/* Reads the parameter btl_shm_single_copy. */
void tern_shm_pull_init(void);

/* Implements struct tern_btl's get: copies `length` bytes at `address` of the peer to `to`. Returns
 * 0, or TERN_ERR_UNSUPPORTED if the rest goes faster through the ring or can only go there. `to`
 * then stands where the copy has ended. */
int tern_shm_pull(struct tern_peer *peer, uint64_t address, struct tern_cursor *to, size_t length);

#endif
