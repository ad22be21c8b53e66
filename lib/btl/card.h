/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_BTL_CARD_H
#define TERN_BTL_CARD_H

/*
 * This rank's card, from which other ranks learn how to reach it (lib/rte/rte.h publishes it), as a
 * set of parts: one for each byte mover that needs addresses. Locks: none; call it only while MPI
 * starts, comes back, or prepares to meet other jobs.
 */

#include "lib/util/net/launcher.h"

#include <stddef.h>
#include <stdint.h>

/* Sets the part of the byte mover `mover`, a name of at most 7 characters. Equal parts on all ranks
 * of a node keep the launcher's tables small. `length` 0 removes the part. Returns 0, or
 * TERN_ERR_OTHER with text if the card has no room for it. */
int tern_card_set(const char *mover, const void *bytes, size_t length);
/* Sets the number that belongs to this rank alone: its TCP port. */
void tern_card_set_own(uint64_t own);
/* Publishes the card if a part has changed since it was published last. Returns 0, or
 * TERN_ERR_OTHER with text. */
int tern_card_publish(void);
/* Returns the card and sets *ret_length to its bytes. It is valid until the next change. */
const struct tern_card *tern_card_whole(size_t *ret_length);

/* Returns the part of `mover` in another rank's card of `size` bytes, and sets *ret_length. NULL if
 * the card has no such part. Pure. */
const void *tern_card_part(const struct tern_card *card, size_t size, const char *mover,
                           size_t *ret_length);

/* What stands before each part. */
struct tern_card_head {
    char mover[8];
    uint32_t length;
};
/* Returns the offset of the mover's part in `used` bytes of parts, and sets its head; -1: there is
 * none. Pure. */
long tern_card_find(const char *bytes, size_t used, const char *mover,
                    struct tern_card_head *ret_head);
/* Writes a part with its head. Returns the bytes written. Pure. */
size_t tern_card_write(char *to, const char *mover, const void *bytes, size_t length);

#endif
