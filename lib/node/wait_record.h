/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_WAIT_RECORD_H
#define TERN_WAIT_RECORD_H

/* This rank's wait record in the node's memory (lib/util/net/launcher.h), for a launcher that reads
 * it: our own. */

#include "lib/util/net/launcher.h"

#include <stdbool.h>

/* Returns true if a launcher reads wait records. */
bool tern_wait_record_wanted(void);
/* Writes the record, except `changes` and `process`, and says that the rank sleeps. Call it from
 * one thread at a time, as the next functions. */
void tern_wait_record_write(const struct tern_wait_record *record);
/* Says that the rank sleeps again in the wait that it has written last. `messages`: so many were
 * sent and received so far. */
void tern_wait_record_again(uint64_t messages);
/* Says that the rank does not sleep in that wait now. */
void tern_wait_record_pause(void);

#endif
