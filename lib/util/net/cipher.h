/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_CIPHER_H
#define TERN_CIPHER_H

/*
 * One direction of an encrypted connection: a sequence of records. Each record carries 1 to
 * TERN_RECORD_MOST bytes of data.
 *
 *      head: length (4 bytes), proof of the length (8)  |  the data, encrypted  |  tag (16)
 *
 * The cipher is AES-128-GCM (NIST SP 800-38D), by Nettle. Both ends count the records and make the
 * nonce from the record's number, which is never sent. So a record that was changed, repeated, left
 * out or reordered does not open. The length has its own proof: an attacker who changes the length
 * must not make the receiver wait for bytes that never come. The keys are derived from the job's
 * secret and from the connection's handshake, so each connection and each direction has its own
 * keys. An attacker who learns the job's secret can decrypt recorded traffic.
 */

#include "lib/util/net/handshake.h"

#include <sys/uio.h>

/* Bytes of a head, of a tag, and most data of a record. */
enum { TERN_RECORD_HEAD = 12, TERN_RECORD_TAG = 16, TERN_RECORD_MOST = 32 * 1024 };
/* Bytes that a record needs in addition to its data. */
enum { TERN_RECORD_EXTRA = TERN_RECORD_HEAD + TERN_RECORD_TAG };

struct tern_cipher;

/* Checks whether this host's Nettle can make records. Returns 0, or TERN_ERR_OTHER with text. */
int tern_cipher_check(void);

/* The two directions of a connection: from the end that called (connect), or from the end that was
 * called (accept). */
enum tern_direction { TERN_FROM_CALLER, TERN_FROM_CALLED };

/* Makes the keys of one direction. Returns NULL with TERN_ERR_OTHER or TERN_ERR_NO_MEM and text if
 * that fails. The caller frees the result with tern_cipher_free. */
struct tern_cipher *tern_cipher_new(enum tern_direction direction, const struct tern_hello *hello,
                                    const struct tern_answer *answer,
                                    const unsigned char secret[TERN_SECRET_BYTES]);
/* Erases the keys and frees `cipher`. Does nothing if `cipher` is NULL. */
void tern_cipher_free(struct tern_cipher *cipher);

/* Encrypts the next record in place: `length` bytes of data, at least 1, which already stand in
 * `record` behind room for the head. The finished record has TERN_RECORD_EXTRA bytes more than the
 * data. */
void tern_cipher_seal(struct tern_cipher *cipher, unsigned char *record, uint32_t length);

/* Reads the head of the next record. Returns the number of data bytes in the record, or 0 if the
 * head is not what the sender wrote. */
uint32_t tern_cipher_read_head(struct tern_cipher *cipher,
                               const unsigned char head[TERN_RECORD_HEAD]);
/* Decrypts the next record in place: `length` bytes of data behind the head. Returns false if the
 * record is not what the sender wrote. Then the caller must use neither this record nor any later
 * one. */
bool tern_cipher_open(struct tern_cipher *cipher, unsigned char *record, uint32_t length);

#endif
