/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_OFI_ARRIVAL_H
#define TERN_OFI_ARRIVAL_H

/* Finds the link of each frame that arrives, and keeps frames that come before their turn. A table
 * of kinds (frame_kinds.c) tells what a frame means. Locks: the lane's lock. */

#include "lib/btl/ofi/wire/ofi_link.h"

/* A kind of frames. */
struct tern_ofi_frame_kind {
    bool numbered;      /* frames of this kind are taken in the order of their numbers */
    size_t least, most; /* bytes of a frame */
    /* Returns true if a frame may look like this; NULL: any may. */
    bool (*is_sane)(const unsigned char *bytes, size_t length);
    /* Handles a frame, whose turn has come. A HELLO has no link. */
    void (*take)(struct tern_ofi_lane *lane, struct tern_ofi_link *link,
                 const unsigned char *bytes, size_t length);
};

/* By enum tern_ofi_kind. A kind without `take` does not exist. */
extern const struct tern_ofi_frame_kind tern_ofi_frame_kinds[TERN_OFI_KINDS];

/* Handles a frame that has arrived. Its bytes are valid during the call. */
void tern_ofi_frame_arrived(struct tern_ofi_lane *lane, const unsigned char *bytes, size_t length);

#endif
