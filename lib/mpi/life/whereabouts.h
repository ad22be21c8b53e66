/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_WHEREABOUTS_H
#define TERN_WHEREABOUTS_H

/*
 * Tells the launcher what this rank waits for: procedure, peer, tag, communicator, place of a
 * collective, and messages that have arrived and nobody asked for. Only waits that have lasted for
 * a while are told (tern_wait_tell), so short ones cost nothing.
 */

/* Begins to tell, if a launcher listens. Call it when the library starts. */
void tern_whereabouts_begin(void);

#endif
