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
/* Does the same, but a primary context stays held. Returns its device; -1: it is none. */
int tern_cu_leave_held(const struct tern_cu_driver *driver, const struct tern_accel_entry *entry);

/* Returns the id of a context that lives, which no other context gets; 0: not known. */
unsigned long long tern_cu_context_id(const struct tern_cu_driver *driver, const void *context);

/* Returns this library's stream of the context that was entered; with `again`, makes a new one
 * because the old one is not valid any more. Returns 0 or the driver's error. */
int tern_cu_find_stream(const struct tern_cu_driver *driver, const struct tern_accel_entry *entry,
                        bool again, tern_cu_stream *ret_stream);
/* Returns true if this error says that a stream or event went with its context: of drivers that
 * lack cuCtxGetId. */
bool tern_cu_lost(int result);

/* Takes an event of the context that was entered, and gives it back to the pool. Returns 0 or the
 * driver's error. */
int tern_cu_take_event(const struct tern_cu_driver *driver, void *context,
                       tern_cu_event *ret_event);
void tern_cu_give_event(const struct tern_cu_driver *driver, void *context, tern_cu_event event);

/* Gives back streams and events of each context that surely lives. `leaving` is called before with
 * the context, which is current then. */
typedef void tern_cu_leaving(const void *context);
void tern_cu_leave_contexts(const struct tern_cu_driver *driver, tern_cu_leaving *leaving);

/* Forgets the stream and the events of an earlier context at the address of the one that was
 * entered: they went with it, and the driver crashes if it is given them. */
void tern_cu_forget_earlier(const struct tern_cu_driver *driver,
                            const struct tern_accel_entry *entry);

/* Records what the driver could not do. Returns TERN_ERR_BUFFER. */
int tern_cu_say(const struct tern_cu_driver *driver, const char *what, int result);

#endif
