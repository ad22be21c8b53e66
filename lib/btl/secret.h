/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_BTL_SECRET_H
#define TERN_BTL_SECRET_H

/* The job's secret, by which ranks prove to each other that they belong to the job. Our launcher
 * puts it into the roster; under another launcher rank 0 makes it. Any thread may call. */

#include "lib/util/net/hmac.h"

#include <stdbool.h>

/* Makes the secret on rank 0, if the launcher gave none. Call it before the card is published.
 * Returns 0, or TERN_ERR_OTHER with text. */
int tern_secret_offer(void);

/* Returns the secret. NULL while the secret or this program's number is not known: a handshake
 * needs both. The first call asks for the secret; the doorbell rings when it has arrived, or when
 * the launcher has answered that it will not. */
const unsigned char *tern_secret(void);
/* Returns why the secret will never be known, for people. NULL: it is known, or may still arrive.
 * Ask it when tern_secret has returned NULL; then end what needs the secret. The text stays
 * valid. */
const char *tern_secret_failure(void);
/* For the end that is called: returns true if the secret will never be known, and prints once that
 * connections from other ranks are dropped for that reason. Then drop the visitor. */
bool tern_secret_drops_visitors(void);

#endif
