/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_HMAC_H
#define TERN_HMAC_H

/*
 * HMAC-SHA256 (RFC 2104), by which the two ends of a connection prove to each other that they know
 * the job's secret. Nettle computes it and is loaded when a listener opens, or on first use, so
 * that a job on one host never pays for it. Any thread may call.
 */

#include <stdbool.h>
#include <stddef.h>
#include <sys/uio.h>

/* Bytes of a secret, of a proof, and of a nonce. */
enum { TERN_SECRET_BYTES = 32, TERN_PROOF_BYTES = 32, TERN_NONCE_BYTES = 32 };

/* Loads Nettle. Returns 0; then tern_hmac never fails. Returns TERN_ERR_OTHER with text if Nettle
 * cannot be loaded now; a later call may succeed. Call this before a proof is checked: a proof
 * that cannot be computed is not wrong. */
int tern_hmac_load(void);

/* Computes the proof of the parts, taken one after the other. Returns 0, or TERN_ERR_OTHER with
 * text if Nettle cannot be loaded. */
int tern_hmac(const unsigned char secret[TERN_SECRET_BYTES], const struct iovec *parts, int count,
              unsigned char ret_proof[TERN_PROOF_BYTES]);

/* Returns a function of Nettle's by its name, and loads Nettle if needed. Returns NULL if that
 * fails; dlerror says why. */
void *tern_nettle_function(const char *name);

/* Returns true if both proofs are equal. The time does not depend on where they differ. */
bool tern_proof_equal(const unsigned char a[TERN_PROOF_BYTES],
                      const unsigned char b[TERN_PROOF_BYTES]);

/* Fills in `size` random bytes that nobody can guess. Returns 0, or TERN_ERR_OTHER with text. */
int tern_random(void *ret_bytes, size_t size);

/* Reads a secret from its text of 64 hexadecimal digits. Returns false if `text` is not of that
 * form. */
bool tern_secret_read(const char *text, unsigned char ret_secret[TERN_SECRET_BYTES]);
/* Writes a secret as such a text. */
void tern_secret_write(const unsigned char secret[TERN_SECRET_BYTES],
                       char ret_text[2 * TERN_SECRET_BYTES + 1]);

#endif
