/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_OFI_OFFER_H
#define TERN_OFI_OFFER_H

/* Offers: memory of ours with a long message, which the receiver reads (read.h). Locks: the lane's
 * lock. */

#include "lib/btl/btl.h"

/* Added to addresses that are offsets, so that none is 0 or TERN_OFI_BY_NUMBER. */
enum { TERN_OFI_BIAS = 4096 };

/* As in struct tern_btl. */
int tern_ofi_register_memory(struct tern_peer *peer, const void *start, size_t length,
                             struct tern_registration *ret_registration);
int tern_ofi_register_copy(struct tern_peer *peer, struct tern_cursor *cursor,
                           struct tern_registration *ret_registration);
void tern_ofi_deregister_memory(struct tern_peer *peer,
                                const struct tern_registration *registration);

#endif
