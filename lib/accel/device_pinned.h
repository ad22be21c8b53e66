/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_DEVICE_PINNED_H
#define TERN_DEVICE_PINNED_H

/*
 * Host memory that the driver has pinned: copies from and to it run beside the processor's work,
 * and several times as fast as with other host memory.
 *
 * It is memory of ours that is registered, not memory from the driver. So it stays when the context
 * of its registration is destroyed, and is registered again when it is taken next.
 */

#include "lib/accel/accel.h"

enum { TERN_ACCEL_PINNED = 1 << 20 }; /* bytes of a piece */

/* Returns a piece of pinned memory for copies from and to `place`; NULL: all are in use, or there
 * is no memory. Sets *ret_reached if kernels there reach it at its own address. Thread-safe. */
char *tern_accel_pinned_take(const struct tern_accel_place *place, bool *ret_reached);
void tern_accel_pinned_give(char *piece);

/* Gives all pieces back. A context must be current. For tern_accel_leave only. */
void tern_accel_pinned_leave(void);

#endif
