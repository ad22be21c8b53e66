/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_DEVICE_CONTEXT_H
#define TERN_DEVICE_CONTEXT_H

/* The context in which a call of the driver runs, and this library's streams and events there.
 * Private to lib/accel. */

#include "lib/accel/accel.h"
#include "lib/accel/cuda_driver.h"

/* Asks the driver where an address is. Returns false if it is in no device or managed memory. */
bool tern_cu_find_place(const struct tern_cu_driver *driver, const void *address,
                        struct tern_accel_place *ret_place);

/* Makes the context of a place current, and sets *ret_entry. Returns 0 or the driver's error. */
int tern_cu_enter(const struct tern_cu_driver *driver, const struct tern_accel_place *place,
                  struct tern_accel_entry *ret_entry);
/* Makes current what was so before. */
void tern_cu_leave(const struct tern_cu_driver *driver, const struct tern_accel_entry *entry);

/* Returns this library's stream of the context that was entered; with `again`, makes a new one
 * because the old one is not valid any more. Returns 0 or the driver's error. */
int tern_cu_find_stream(const struct tern_cu_driver *driver, const struct tern_accel_entry *entry,
                        bool again, tern_cu_stream *ret_stream);
/* Returns true if this error says that a stream or event went with its context. */
bool tern_cu_lost(int result);

/* Records what the driver could not do. Returns TERN_ERR_BUFFER. */
int tern_cu_say(const struct tern_cu_driver *driver, const char *what, int result);

#endif
