/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_DEVICE_MAPPED_H
#define TERN_DEVICE_MAPPED_H

/*
 * Targets whose memory is in a device's. A rank of their node opens it (lib/btl/device_access.h)
 * and copies without their help. If it cannot, it asks. Accumulates are done under control->serial,
 * which all ranks of the node take for such a target, and the target itself for those who ask.
 */

#include "lib/rma/reach.h"

/* Lets the other ranks of the node open this rank's memory, until tern_rma_device_unshare. Returns
 * a key for the offer; 0: they must ask. */
uint64_t tern_rma_device_share(const void *base);
void tern_rma_device_unshare(uint64_t key);

/* Opens the memory of a target, of this rank itself or of another one of the node. Sets
 * target->device if this rank reaches it. `mine`: this rank's own memory. */
void tern_rma_device_open(struct tern_rma_target *target, bool self,
                          const struct tern_rma_offer *offer, const void *mine);
void tern_rma_device_close(struct tern_rma_target *target);

#endif
