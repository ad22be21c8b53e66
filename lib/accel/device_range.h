/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_DEVICE_RANGE_H
#define TERN_DEVICE_RANGE_H

/* Whole allocations in device memory, for who registers them with other hardware. */

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

#endif
