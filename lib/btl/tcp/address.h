/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_TCP_RECORD_H
#define TERN_TCP_RECORD_H

/*
 * Addresses: the record in which they are published, and which pairs of an own and a peer's address
 * are worth trying, in which order. Which of them work is found out by trying (connecting.h).
 */

#include "lib/util/tcp_address.h"

/* ---- the published record ---- */

/* Bytes of the record, at most `room`; 0: it does not fit. It tells nothing of ports, and so is the
 * same for all ranks of a host that may use the same interfaces. */
size_t tern_tcp_record_write(const struct tern_tcp_address *list, int count, void *record,
                             size_t room);
/* With the port of the rank in all of them. Returns how many addresses, or -1: it is no such
 * record, or no port. */
int tern_tcp_record_read(const void *record, size_t length, uint64_t port,
                         struct tern_tcp_address ret_list[TERN_TCP_ADDRESSES_MAX]);

/* ---- pairs ---- */

struct tern_tcp_pair {
    int own;    /* index, or -1: the system shall choose the address to come from */
    int theirs; /* index */
};

/* Every address of theirs that any of ours could reach, the likeliest first, with ours where one is
 * in its subnet. Loopback addresses only for `same_host`, and last; another host's that are our
 * own, too, next to last. Returns how many, at most TERN_TCP_ADDRESSES_MAX. */
int tern_tcp_pair(const struct tern_tcp_address *own, int own_count,
                  const struct tern_tcp_address *theirs, int their_count, bool same_host,
                  struct tern_tcp_pair ret_pairs[TERN_TCP_ADDRESSES_MAX]);

#endif
