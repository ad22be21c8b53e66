/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_DEVICE_RANGE_H
#define TERN_DEVICE_RANGE_H

/* Whole allocations in device memory, and where devices are: for who lets other hardware reach
 * device memory. */

#include "lib/accel/accel.h"

/* Sets *ret_base and *ret_bytes to the allocation that holds `address`, which is at `place`.
 * Returns 0, or TERN_ERR_* with text. */
int tern_accel_allocation(const void *address, const struct tern_accel_place *place,
                          uintptr_t *ret_base, size_t *ret_bytes);

/* Makes a descriptor (DMA-BUF) of device memory, by which other drivers reach it. It is of whole
 * pages: sets *ret_offset to the bytes before `start`. The caller closes the descriptor. Returns
 * it, or TERN_ERR_UNSUPPORTED with text. */
int tern_accel_dmabuf(const void *start, size_t bytes, const struct tern_accel_place *place,
                      size_t *ret_offset);

enum { TERN_ACCEL_BUS_ADDRESS = 16 };
/* Writes the device's address on the PCI bus as the kernel writes it, such as "0000:17:00.0".
 * Returns false if it is not known. */
bool tern_accel_bus_address(int device, char ret_address[TERN_ACCEL_BUS_ADDRESS]);
/* Returns the device of the context that is current in this thread; if there is none, the only
 * device of this process. -1: it has not chosen one of several yet, or has none. */
int tern_accel_own_device(void);

#endif
