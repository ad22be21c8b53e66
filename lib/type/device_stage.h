/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_DEVICE_STAGE_H
#define TERN_DEVICE_STAGE_H

/* A stage moves the bytes of a long message in device memory through pinned host memory, in
 * pieces: copies from the device run ahead of what is packed, and copies to it behind what is
 * unpacked. Private to lib/type; others call tern_cursor_stage, _settle and _unstage. */

#include "lib/type/type.h"

/* As tern_device_move, for a cursor that has a stage; `packed` is in host memory. */
size_t tern_stage_move(struct tern_cursor *cursor, char *packed, size_t max, bool pack);

#endif
