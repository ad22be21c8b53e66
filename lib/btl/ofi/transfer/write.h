/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_OFI_WRITE_H
#define TERN_OFI_WRITE_H

/* Long messages whose sender's memory cannot be registered: the sender copies them into registered
 * pieces of its own (landing.h), and writes these into the receiver's memory. Locks: the lane's
 * lock. */

#include "lib/btl/btl.h"
#include "lib/btl/ofi/wire/ofi_lane.h"

/* As in struct tern_btl. */
int tern_ofi_put(struct tern_transfer *transfer);

/* Begins further writes of the messages under way. Returns their number. */
int tern_ofi_write_on(struct tern_ofi_lane *lane);

#endif
