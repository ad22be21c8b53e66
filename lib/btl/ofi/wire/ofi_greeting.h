/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_OFI_GREETING_H
#define TERN_OFI_GREETING_H

/*
 * Greetings: HELLO and WELCOME, by which two lanes prove that they belong to one job, and tell each
 * other their slots, cookies and endpoints (ofi_frame.h). Locks: the lane's lock.
 */

#include "lib/btl/ofi/wire/ofi_link.h"

/* Sends a HELLO or a WELCOME by the link. Returns what tern_ofi_post returns. */
int tern_ofi_greet(struct tern_ofi_lane *lane, struct tern_ofi_link *link,
                   enum tern_ofi_kind kind);
/* Handles a greeting that has arrived: a WELCOME if `link` is given, else a HELLO. `bytes` is the
 * whole frame. */
void tern_ofi_take_greeting(struct tern_ofi_lane *lane, struct tern_ofi_link *link,
                            const unsigned char *bytes);
/* Takes greetings for this lane that have arrived at lane 0. Returns their number. */
int tern_ofi_take_visitors(struct tern_ofi_lane *lane);
/* Counts a frame that is dropped, because no rank of this job has sent it to this process. The
 * first one is reported. */
void tern_ofi_note_stranger(struct tern_ofi_lane *lane);

#endif
