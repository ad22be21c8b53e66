/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_DEVICE_MOVE_H
#define TERN_DEVICE_MOVE_H

/* Moves bytes of typed buffers that are in device memory, wholly or in part, by copies of the
 * driver. Private to lib/type; others use cursors and tern_type_copy. */

#include "lib/type/type.h"

/* Packs the cursor's next bytes to `packed`, or unpacks them from there, and advances. `packed` may
 * be in memory of any kind. Returns the bytes moved; fewer than `max` only at the end. If a copy
 * fails, sets cursor->error and goes on as if the bytes had been moved; what was to be packed is
 * then 0. */
size_t tern_device_move(struct tern_cursor *cursor, void *packed, size_t max, bool pack);

/* Starts to pack the cursor's next bytes to `packed`, or to unpack them from there, and advances.
 * `direct`: kernels reach `packed`, because it is in device memory, or pinned memory of ours. Sets
 * *ret_mark, which tells when that has ended. Returns 0, or TERN_ERR_*; then nothing is under way.
 * Not for a buffer of TERN_TYPE_MIXED. */
int tern_device_start(struct tern_cursor *cursor, char *packed, size_t bytes, bool pack,
                      bool direct, struct tern_accel_mark *ret_mark);

/* Copies `bytes` bytes between two cursors, one of them in device memory. Returns `bytes`, or
 * TERN_ERR_*. */
int64_t tern_device_type_copy(struct tern_cursor *to, struct tern_cursor *from, int64_t bytes);

#endif
