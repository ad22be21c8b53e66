/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_OFI_READ_H
#define TERN_OFI_READ_H

/* Transfers: long messages that the receiver reads out of the sender's memory in pieces. Locks: the
 * lane's lock. */

#include "lib/btl/btl.h"
#include "lib/btl/ofi/ofi_lane.h"

/* As in struct tern_btl. */
int tern_ofi_register_memory(struct tern_peer *peer, const void *start, size_t length,
                             struct tern_registration *ret_registration);
void tern_ofi_deregister_memory(struct tern_peer *peer,
                                const struct tern_registration *registration);
int tern_ofi_get(struct tern_transfer *transfer);

/* Begins further pieces of the transfers under way. Returns their number. */
int tern_ofi_read_on(struct tern_ofi_lane *lane);

#endif
