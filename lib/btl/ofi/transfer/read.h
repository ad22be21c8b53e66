/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_OFI_READ_H
#define TERN_OFI_READ_H

/* Transfers: long messages that the receiver reads out of the sender's memory in pieces. Locks: the
 * lane's lock. */

#include "lib/btl/btl.h"
#include "lib/btl/ofi/wire/ofi_lane.h"

/* As in struct tern_btl. */
int tern_ofi_get(struct tern_transfer *transfer);

/* Begins further pieces of the transfers under way. Returns their number. */
int tern_ofi_read_on(struct tern_ofi_lane *lane);

/* Handles that a port is closed: what it had under way is read by others. */
void tern_ofi_readings_left(struct tern_ofi_lane *lane, const struct tern_ofi_port *port);
/* Notes that the other end of the link has left out a rail: reads from it that are under way will
 * end soon or never. */
void tern_ofi_readings_await(struct tern_ofi_lane *lane, const struct tern_ofi_link *link,
                             uint32_t rail);
/* Leaves out a rail of ours whose reads from such a rail do not end: only that ends their use of
 * the memory. Returns the number of rails. */
int tern_ofi_readings_look(struct tern_ofi_lane *lane, uint64_t now_ms);

#endif
