/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_OFI_LANDING_H
#define TERN_OFI_LANDING_H

/* Pieces of registered memory of our own: a message is read into them that cannot be read into the
 * program's memory, and is written out of them if the peer cannot read it there. Each port has
 * some, from the first use on. Locks: the lane's lock. */

#include "lib/btl/ofi/fabric/fabric.h"

enum {
    TERN_OFI_LANDING_BYTES = 128 << 10, /* of a piece */
    TERN_OFI_LANDING_PIECES = 8,        /* of a port */
};

struct tern_ofi_landing {
    unsigned char *memory; /* NULL: there are none */
    struct tern_ofi_region region;
    uint32_t used; /* bit i: piece i is in use */
};

/* Makes the pieces of the endpoint, if there are none yet. Returns false if there is no memory, or
 * if the provider refuses to register it. */
bool tern_ofi_landing_open(struct tern_ofi_landing *landing, uint32_t rail,
                           struct fid_ep *endpoint);
/* Frees all pieces, whose operations have ended. */
void tern_ofi_landing_close(struct tern_ofi_landing *landing);

/* Returns a piece, or NULL if all are in use. */
unsigned char *tern_ofi_landing_take(struct tern_ofi_landing *landing);
/* Ends the use of a piece. Does nothing if the pieces have been freed. */
void tern_ofi_landing_give(struct tern_ofi_landing *landing, const unsigned char *piece);

#endif
