/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_TCP_RECORD_H
#define TERN_TCP_RECORD_H

/*
 * Addresses: the record in which a rank publishes them, and the pairs of an own and a peer's
 * address that are worth trying, in order. Trying finds out which of them work (connecting.h).
 */

#include "lib/util/net/tcp_address.h"

/* ---- the published record ---- */

/* Writes the record, at most `room` bytes. Returns its bytes, or 0 if it does not fit. The record
 * contains no port, so it is equal on all ranks of a host that may use the same interfaces. */
size_t tern_tcp_record_write(const struct tern_tcp_address *list, int count, void *record,
                             size_t room);
/* Reads a record, and sets the port of the rank in all addresses. Returns the number of addresses,
 * or -1 if the record or the port is invalid. */
int tern_tcp_record_read(const void *record, size_t length, uint64_t port,
                         struct tern_tcp_address ret_list[TERN_TCP_ADDRESSES_MAX]);

/* ---- pairs ---- */

/* An own address and one of the peer's. */
struct tern_tcp_pair {
    int own;    /* index, or -1: let the system choose */
    int theirs; /* index */
};

/* Lists every address of the peer that any of ours may reach, the likeliest first, each with our
 * address in its subnet if there is one. Lists loopback addresses only for `same_host`, and last.
 * Addresses of another host that are also ours come next to last. Returns the number of pairs, at
 * most TERN_TCP_ADDRESSES_MAX. */
int tern_tcp_pair(const struct tern_tcp_address *own, int own_count,
                  const struct tern_tcp_address *theirs, int their_count, bool same_host,
                  struct tern_tcp_pair ret_pairs[TERN_TCP_ADDRESSES_MAX]);

#endif
