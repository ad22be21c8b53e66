/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_HMAC_H
#define TERN_HMAC_H

/*
 * HMAC-SHA256 (RFC 2104), by which the two ends of a connection prove to each other that they know
 * the job's secret. Nettle does it, opened when it is first needed: a job on one host never pays
 * for it. Any thread may call.
 */

#include <stdbool.h>
#include <stddef.h>
#include <sys/uio.h>

enum { TERN_SECRET_BYTES = 32, TERN_PROOF_BYTES = 32, TERN_NONCE_BYTES = 32 };

/* The proof of the parts, one after the other. 0, or TERN_ERR_OTHER with text: Nettle cannot be
 * opened. */
int tern_hmac(const unsigned char secret[TERN_SECRET_BYTES], const struct iovec *parts, int count,
              unsigned char ret_proof[TERN_PROOF_BYTES]);

/* A function of Nettle's, which is opened for it. Returns NULL, and dlerror says why, if it cannot
 * be had. */
void *tern_nettle_function(const char *name);

/* Are they the same? Takes the same time wherever they differ. */
bool tern_proof_equal(const unsigned char a[TERN_PROOF_BYTES],
                      const unsigned char b[TERN_PROOF_BYTES]);

/* `size` bytes that nobody can guess. 0 or TERN_ERR_OTHER with text. */
int tern_random(void *ret_bytes, size_t size);

/* A secret is written as 64 hexadecimal digits. False: not such a text. */
bool tern_secret_read(const char *text, unsigned char ret_secret[TERN_SECRET_BYTES]);
void tern_secret_write(const unsigned char secret[TERN_SECRET_BYTES],
                       char ret_text[2 * TERN_SECRET_BYTES + 1]);

#endif
