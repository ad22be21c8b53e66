/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_OFI_DEVICE_RAILS_H
#define TERN_OFI_DEVICE_RAILS_H

/* Which of this rank's network cards are near a GPU: bytes between a GPU and a card behind another
 * root of the bus, or at another processor, go several times as slowly. */

#include "lib/accel/accel.h"
#include "lib/btl/ofi/fabric/fabric.h"

/* Returns the rails for device memory at `place`, a bit for each: the nearest ones to the device
 * on the PCI bus, or all if that is not known. Any thread may call. */
uint32_t tern_ofi_device_rails(const struct tern_accel_place *place);
/* The same, for memory of any kind. */
uint32_t tern_ofi_memory_rails(const void *start);

#endif
