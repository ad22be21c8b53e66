/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/btl/tcp/sealed.h"

#include "lib/util/base/error.h"
#include "lib/settings/param.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

enum { RECORD_ROOM = TERN_RECORD_MOST + TERN_RECORD_EXTRA, IN_ROOM = 2 * RECORD_ROOM };

struct tern_tcp_sealed {
    struct tern_cipher *sends, *receives;
    /* offsets of the part of the record in `out` that is not written yet */
    uint32_t out_begin, out_end;
    uint32_t in_begin, in_end;   /* offsets of the bytes in `in` that were not given out yet */
    uint32_t in_length; /* of the record that begins at in_begin; 0: its head was not read yet */
    unsigned char out[RECORD_ROOM], in[IN_ROOM];
};

bool tern_tcp_sealed_wanted(void)
{
    return tern_param_bool("btl_tcp_encrypt");
}

struct tern_tcp_sealed *tern_tcp_sealed_new(bool by_caller, const struct tern_hello *hello,
                                            const struct tern_answer *answer,
                                            const unsigned char secret[TERN_SECRET_BYTES])
{
    struct tern_tcp_sealed *sealed = calloc(1, sizeof *sealed);
    if (!sealed) {
        tern_error(TERN_ERR_NO_MEM, "no memory for an encrypted connection");
        return NULL;
    }
    enum tern_direction from_caller = by_caller ? TERN_FROM_CALLER : TERN_FROM_CALLED;
    enum tern_direction to_caller = by_caller ? TERN_FROM_CALLED : TERN_FROM_CALLER;
    sealed->sends = tern_cipher_new(from_caller, hello, answer, secret);
    sealed->receives = sealed->sends ? tern_cipher_new(to_caller, hello, answer, secret) : NULL;
    if (sealed->receives)
        return sealed;
    tern_tcp_sealed_free(sealed);
    return NULL;
}

void tern_tcp_sealed_free(struct tern_tcp_sealed *sealed)
{
    if (!sealed)
        return;
    tern_cipher_free(sealed->sends);
    tern_cipher_free(sealed->receives);
    free(sealed);
}

/* ---- outgoing ---- */

bool tern_tcp_sealed_holds(const struct tern_tcp_sealed *sealed)
{
    return sealed->out_begin != sealed->out_end;
}

/* Writes the rest of the record. Returns false with errno if some of it stays. */
static bool write_record(struct tern_tcp_sealed *sealed, int fd)
{
    while (tern_tcp_sealed_holds(sealed)) {
        ssize_t n = send(fd, sealed->out + sealed->out_begin, sealed->out_end - sealed->out_begin,
                         MSG_NOSIGNAL | MSG_DONTWAIT);
        if (n < 0 && errno != EINTR)
            return false;
        sealed->out_begin += n > 0 ? (uint32_t)n : 0;
    }
    return true;
}

/* Collects the bytes of the parts behind the first `skip`, as many as a record has room for.
 * Returns how many. */
static uint32_t collect(const struct iovec *parts, int count, size_t skip, unsigned char *room)
{
    uint32_t length = 0;
    for (int i = 0; i < count && length < TERN_RECORD_MOST; i++) {
        size_t left = TERN_RECORD_MOST - length, n = parts[i].iov_len;
        if (skip >= n) {
            skip -= n;
            continue;
        }
        n = n - skip < left ? n - skip : left;
        memcpy(room + length, (const char *)parts[i].iov_base + skip, n);
        length += (uint32_t)n;
        skip = 0;
    }
    return length;
}

ssize_t tern_tcp_sealed_write(struct tern_tcp_sealed *sealed, int fd, const struct iovec *parts,
                              int count)
{
    size_t taken = 0;
    while (write_record(sealed, fd)) {
        uint32_t length = collect(parts, count, taken, sealed->out + TERN_RECORD_HEAD);
        if (!length)
            return (ssize_t)taken;
        tern_cipher_seal(sealed->sends, sealed->out, length);
        sealed->out_begin = 0;
        sealed->out_end = length + TERN_RECORD_EXTRA;
        taken += length;
    }
    return taken ? (ssize_t)taken : -1;
}

/* ---- incoming ---- */

ssize_t tern_tcp_sealed_fill(struct tern_tcp_sealed *sealed, int fd)
{
    sealed->in_end -= sealed->in_begin;
    memmove(sealed->in, sealed->in + sealed->in_begin, sealed->in_end);
    sealed->in_begin = 0;
    ssize_t n = recv(fd, sealed->in + sealed->in_end, IN_ROOM - sealed->in_end, MSG_DONTWAIT);
    sealed->in_end += n > 0 ? (uint32_t)n : 0;
    return n;
}

static int forged(void)
{
    errno = EBADMSG;
    return -1;
}

int tern_tcp_sealed_next(struct tern_tcp_sealed *sealed, const unsigned char **ret_bytes,
                         size_t *ret_length)
{
    unsigned char *record = sealed->in + sealed->in_begin;
    uint32_t there = sealed->in_end - sealed->in_begin;
    if (!sealed->in_length) {
        if (there < TERN_RECORD_HEAD)
            return 0;
        sealed->in_length = tern_cipher_read_head(sealed->receives, record);
        if (!sealed->in_length)
            return forged();
    }
    if (there < sealed->in_length + TERN_RECORD_EXTRA)
        return 0;
    if (!tern_cipher_open(sealed->receives, record, sealed->in_length))
        return forged();
    *ret_bytes = record + TERN_RECORD_HEAD;
    *ret_length = sealed->in_length;
    sealed->in_begin += sealed->in_length + TERN_RECORD_EXTRA;
    sealed->in_length = 0;
    return 1;
}
