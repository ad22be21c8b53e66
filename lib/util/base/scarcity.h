/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_SCARCITY_H
#define TERN_SCARCITY_H

/* If accept4 fails because descriptors or memory are exhausted, the connection stays in the queue
 * and the listening socket stays readable. A thread that polls the socket must then leave it alone
 * for a while. Otherwise the thread loops without a pause. */

#include <stdbool.h>

enum { TERN_SCARCITY_MS = 100 }; /* wait before accept4 is tried again */

/* Returns true if accept4 failed with this errno because of such a shortage, so that it will fail
 * again until a process closes or frees something. */
bool tern_scarcity_is(int error);
/* Prints why connections wait. Once per process. */
void tern_scarcity_say(int error);

#endif
