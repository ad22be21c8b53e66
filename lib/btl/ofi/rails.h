/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_OFI_RAILS_H
#define TERN_OFI_RAILS_H

/* Rails that die: a lane leaves out a network card whose link goes down, or that the provider
 * cannot use. Locks: the lane's lock. */

#include "lib/btl/ofi/wire/ofi_lane.h"

/* Looks at the cards, and closes the lane's ports on rails that are left out. Call it often; it
 * looks each TERN_OFI_LOOK_MS. Returns the number of things done. */
int tern_ofi_rails_look(struct tern_ofi_lane *lane);

#endif
