/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_BTL_SECRET_H
#define TERN_BTL_SECRET_H

/* The job's secret, by which ranks prove to each other that they belong to the job. Our launcher
 * puts it into the roster; under another launcher rank 0 makes it. Any thread may call. */

#include "lib/util/net/hmac.h"

/* Makes the secret on rank 0, if the launcher gave none. Call it before the card is published.
 * Returns 0, or TERN_ERR_OTHER with text. */
int tern_secret_offer(void);

/* Returns the secret. NULL while the secret or this program's number is not known: a handshake
 * needs both. The first call asks for the secret; the doorbell rings when it has arrived. */
const unsigned char *tern_secret(void);

#endif
