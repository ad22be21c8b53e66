/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_DEVICE_SPARE_H
#define TERN_DEVICE_SPARE_H

/*
 * Device memory of this library's own, which other processes can open (device_share.h). It takes
 * the place of memory that they cannot open, or that is scattered: a copy on the device costs a few
 * microseconds, a way through the host some hundreds.
 *
 * It is kept for the next message, because the driver waits for the whole device when memory is
 * freed, and others keep their handles of it.
 */

#include "lib/accel/accel.h"

/* Returns `bytes` bytes in the context of `place`, or on its device; NULL: there is no room, or too
 * much is asked. Thread-safe. */
void *tern_accel_spare_take(const struct tern_accel_place *place, size_t bytes);
void tern_accel_spare_give(void *memory);

/* Frees all that lives in a context, which is current. For tern_accel_leave only. */
void tern_accel_spare_leave(const void *context);

#endif
