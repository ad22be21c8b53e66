/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_CIPHER_H
#define TERN_CIPHER_H

/*
 * One direction of an encrypted connection: a sequence of records, each of up to TERN_RECORD_MOST
 * bytes of what is said.
 *
 *      head: length (4 bytes), its proof (8)  |  the bytes, encrypted  |  tag (16)
 *
 * AES-128-GCM (NIST SP 800-38D), by Nettle. Each record has a number, which both ends count and
 * nobody sends; the nonce is made of it, so a record that is changed, repeated, left out or out of
 * order does not open. The head has a proof of its own: whoever changes the length must not make
 * the receiver wait for bytes that never come. Keys come of the job's secret and of the handshake
 * of this connection, so each connection and direction has others. Whoever learns the job's secret
 * can decrypt what was recorded.
 */

#include "lib/util/handshake.h"

#include <sys/uio.h>

enum { TERN_RECORD_HEAD = 12, TERN_RECORD_TAG = 16, TERN_RECORD_MOST = 32 * 1024 };
/* What a record is longer than what it says. */
enum { TERN_RECORD_EXTRA = TERN_RECORD_HEAD + TERN_RECORD_TAG };

struct tern_cipher;

/* Can records be made here? 0, or TERN_ERR_OTHER with text: not with this host's Nettle. */
int tern_cipher_check(void);

/* The two directions of a connection. */
enum tern_direction { TERN_FROM_CALLER, TERN_FROM_CALLED };

/* Makes the keys of one direction. Returns NULL with TERN_ERR_OTHER or TERN_ERR_NO_MEM and text. */
struct tern_cipher *tern_cipher_new(enum tern_direction direction, const struct tern_hello *hello,
                                    const struct tern_answer *answer,
                                    const unsigned char secret[TERN_SECRET_BYTES]);
/* Forgets the keys. NULL: nothing. */
void tern_cipher_free(struct tern_cipher *cipher);

/* Makes the next record of `length` bytes, at least 1, that stand in `record` behind the head
 * already. The record has TERN_RECORD_EXTRA bytes more. */
void tern_cipher_seal(struct tern_cipher *cipher, unsigned char *record, uint32_t length);

/* Reads the head of the next record. Returns the length of what the record says, or 0 if the head
 * is not the sender's. */
uint32_t tern_cipher_read_head(struct tern_cipher *cipher,
                               const unsigned char head[TERN_RECORD_HEAD]);
/* Opens the next record in place: `length` bytes behind the head. Returns false if it is not the
 * sender's: then nothing of it, nor of what follows, may be used. */
bool tern_cipher_open(struct tern_cipher *cipher, unsigned char *record, uint32_t length);

#endif
