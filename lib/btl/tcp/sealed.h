/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_TCP_SEALED_H
#define TERN_TCP_SEALED_H

/*
 * The encrypted half of a link (btl_tcp_encrypt): what its frames are made into before they are
 * written, and what is read before it is frames. The frames are cut into records
 * (lib/util/cipher.h) wherever it suits. For writing the caller holds the link's out_lock, for
 * reading the lane's lock.
 */

#include "lib/util/cipher.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct tern_tcp_sealed;

/* Shall links be encrypted? All ranks must agree. */
bool tern_tcp_sealed_wanted(void);

/* Returns NULL with text if there is no memory, or no Nettle that can. */
struct tern_tcp_sealed *tern_tcp_sealed_new(bool by_caller, const struct tern_hello *hello,
                                            const struct tern_answer *answer,
                                            const unsigned char secret[TERN_SECRET_BYTES]);
/* NULL: nothing. */
void tern_tcp_sealed_free(struct tern_tcp_sealed *sealed);

/* Like sendmsg, also with no parts: then it only writes what it still holds. Bytes that were taken
 * may stay here for a while. Returns -1 with errno if none was taken. */
ssize_t tern_tcp_sealed_write(struct tern_tcp_sealed *sealed, int fd, const struct iovec *parts,
                              int count);
/* Returns true if bytes that were taken are not written yet. */
bool tern_tcp_sealed_holds(const struct tern_tcp_sealed *sealed);

/* Reads once from the socket, as recv does. */
ssize_t tern_tcp_sealed_fill(struct tern_tcp_sealed *sealed, int fd);
/* The next bytes that were said, valid until the next fill. Returns 1; 0: no more have come; -1:
 * what has come is not what the other end has sent, errno is EBADMSG. */
int tern_tcp_sealed_next(struct tern_tcp_sealed *sealed, const unsigned char **ret_bytes,
                         size_t *ret_length);

#endif
