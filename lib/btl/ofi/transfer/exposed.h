/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_OFI_EXPOSED_H
#define TERN_OFI_EXPOSED_H

/*
 * Copies to and from memory that a peer has exposed: fi_write and fi_read, one for each copy. A
 * write completes when its bytes are in the peer's memory (FI_DELIVERY_COMPLETE); a provider that
 * does not promise that makes reads only. Locks: the lane's lock.
 *
 * Not by raw keys, which are too long to be told with each window, and not to or from a rank with
 * several network cards: if one dies, a write by it could arrive after later ones by another.
 */

#include "lib/btl/btl.h"
#include "lib/btl/ofi/wire/ofi_lane.h"

/* As in struct tern_btl. */
int tern_ofi_expose(uint32_t lane, const void *start, size_t length,
                    struct tern_exposure *ret_exposure);
void tern_ofi_conceal(const struct tern_exposure *exposure);
int tern_ofi_copy_direct(struct tern_transfer *transfer);

/* Returns true if the provider promises that a write has arrived when it completes. */
bool tern_ofi_delivers(void);
/* Returns true if memory that the peer has exposed for `by_lane` can be reached by the link. */
struct tern_ofi_link;
bool tern_ofi_copies_reach(const struct tern_ofi_link *link, uint32_t by_lane);

/* Begins copies for which the provider had no room. Returns their number. */
int tern_ofi_copies_go_on(struct tern_ofi_lane *lane);
/* Forgets all copies. The lane's ports are closed. */
void tern_ofi_copies_free(struct tern_ofi_lane *lane);

#endif
