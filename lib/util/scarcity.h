/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_SCARCITY_H
#define TERN_SCARCITY_H

/* When accept4 fails for want of descriptors or memory, the connection stays in the queue, and the
 * listening socket stays readable. So whoever waits for that socket must leave it alone for a
 * while, or turns round and round. */

#include <stdbool.h>

enum { TERN_SCARCITY_MS = 100 }; /* before accept4 is tried again */

/* Returns true if accept4 has failed with this errno, and will fail again until somebody closes or
 * frees something. */
bool tern_scarcity_is(int error);
/* Says why connections wait, once per process. */
void tern_scarcity_say(int error);

#endif
