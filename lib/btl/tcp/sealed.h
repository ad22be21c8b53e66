/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_TCP_SEALED_H
#define TERN_TCP_SEALED_H

/*
 * The encryption of a link (btl_tcp_encrypt): turns frames into records before they are written,
 * and records into frames after they are read. A record (lib/util/net/cipher.h) may begin and end
 * anywhere in a frame. Locks: for writing the caller holds the link's out_lock, for reading the
 * lane's lock.
 */

#include "lib/util/net/cipher.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct tern_tcp_sealed;

/* Returns true if links are encrypted. All ranks must agree. */
bool tern_tcp_sealed_wanted(void);

/* Makes the keys of a connection. `by_caller`: this end has called. Returns NULL with text if there
 * is no memory, or no suitable Nettle. */
struct tern_tcp_sealed *tern_tcp_sealed_new(bool by_caller, const struct tern_hello *hello,
                                            const struct tern_answer *answer,
                                            const unsigned char secret[TERN_SECRET_BYTES]);
/* Erases and frees the keys. NULL: does nothing. */
void tern_tcp_sealed_free(struct tern_tcp_sealed *sealed);

/* Encrypts and writes bytes; returns like sendmsg. With no parts, only writes what was encrypted
 * before. Bytes that were taken may stay here for a while. Returns -1 with errno if none was
 * taken. */
ssize_t tern_tcp_sealed_write(struct tern_tcp_sealed *sealed, int fd, const struct iovec *parts,
                              int count);
/* Returns true if bytes that were taken are not written yet. */
bool tern_tcp_sealed_holds(const struct tern_tcp_sealed *sealed);

/* Reads once from the socket; returns like recv. */
ssize_t tern_tcp_sealed_fill(struct tern_tcp_sealed *sealed, int fd);
/* Gives the next decrypted bytes, valid until the next fill. Returns 1; 0 if no whole record has
 * arrived; -1 with errno EBADMSG if a record is not what the other end has sent. */
int tern_tcp_sealed_next(struct tern_tcp_sealed *sealed, const unsigned char **ret_bytes,
                         size_t *ret_length);

#endif
