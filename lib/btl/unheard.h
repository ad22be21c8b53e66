/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_UNHEARD_H
#define TERN_UNHEARD_H

/* Bytes that were sent and that the peer's host does not acknowledge, as after a network link has
 * failed. A program that waits for them is no deadlock, so the launcher's table names them
 * (lib/mpi/life/whereabouts.c). */

#include "lib/btl/peer.h"

#include <stdint.h>

/* Bytes on their way to a peer. */
struct tern_unheard {
    struct tern_process process; /* the peer */
    int64_t bytes;               /* 0: there are none */
    uint64_t since_ms;           /* since when its host is silent, on CLOCK_MONOTONIC */
};

/* Notes the bytes that have waited longest in a lane. Locks: the lane's. */
void tern_btl_note_unheard(uint32_t lane, const struct tern_unheard *unheard);
/* Returns the bytes that have waited longest in any lane. */
struct tern_unheard tern_btl_unheard(void);
/* Returns a number that changes when the result of tern_btl_unheard may have changed. */
uint32_t tern_btl_unheard_changes(void);

#endif
