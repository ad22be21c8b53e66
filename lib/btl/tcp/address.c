/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/btl/tcp/address.h"

#include <string.h>

/* ---- the published record ---- */

enum { RECORD_VERSION = 2 };

struct record_head {
    uint16_t version, count;
    uint32_t size; /* of the whole record */
};

size_t tern_tcp_record_write(const struct tern_tcp_address *list, int count, void *record,
                             size_t room)
{
    struct record_head head = {.version = RECORD_VERSION, .count = (uint16_t)count};
    size_t size = sizeof head + (size_t)count * sizeof *list;
    if (size > room)
        return 0;
    head.size = (uint32_t)size;
    memcpy(record, &head, sizeof head);
    memcpy((char *)record + sizeof head, list, size - sizeof head);
    for (int i = 0; i < count; i++)
        memset((char *)record + sizeof head + (size_t)i * sizeof *list +
                   offsetof(struct tern_tcp_address, port),
               0, sizeof list->port);
    return size;
}

static bool sane(const struct tern_tcp_address *address)
{
    return (address->family == 4 || address->family == 6) &&
           address->prefix <= tern_tcp_bits_of(address->family) &&
           memchr(address->interface, 0, sizeof address->interface);
}

int tern_tcp_record_read(const void *record, size_t length, uint64_t port,
                         struct tern_tcp_address ret_list[TERN_TCP_ADDRESSES_MAX])
{
    struct record_head head;
    if (length < sizeof head || port == 0 || port > UINT16_MAX)
        return -1;
    memcpy(&head, record, sizeof head);
    if (head.version != RECORD_VERSION || head.size != length ||
        head.count > TERN_TCP_ADDRESSES_MAX ||
        length != sizeof head + head.count * sizeof *ret_list)
        return -1;
    memcpy(ret_list, (const char *)record + sizeof head, length - sizeof head);
    for (int i = 0; i < head.count; i++) {
        if (!sane(&ret_list[i]))
            return -1;
        ret_list[i].port = (uint16_t)port;
    }
    return head.count;
}

/* ---- pairs ---- */

static bool is_private(const struct tern_tcp_address *address)
{
    const unsigned char *b = address->bytes;
    if (address->family == 6)
        return (b[0] & 0xfe) == 0xfc;
    return b[0] == 10 || (b[0] == 172 && (b[1] & 0xf0) == 16) || (b[0] == 192 && b[1] == 168) ||
           (b[0] == 169 && b[1] == 254);
}

/* Weights of a pair: how likely one address reaches the other. 0: not at all. */
enum { SUBNET = 100, ALIKE = 50, MIXED = 20, OURS = 2, LOOPBACK = 1 };

static int weigh(const struct tern_tcp_address *own, const struct tern_tcp_address *theirs,
                 bool same_host)
{
    if (own->family != theirs->family)
        return 0;
    bool loopback = tern_tcp_is_loopback(own);
    if (loopback || tern_tcp_is_loopback(theirs))
        return same_host && loopback && tern_tcp_is_loopback(theirs) ? LOOPBACK : 0;
    if (tern_tcp_same_subnet(own, theirs))
        return SUBNET;
    return is_private(own) == is_private(theirs) ? ALIKE : MIXED;
}

static bool is_among(const struct tern_tcp_address *address, const struct tern_tcp_address *list,
                     int count)
{
    for (int i = 0; i < count; i++)
        if (tern_tcp_same_address(&list[i], address))
            return true;
    return false;
}

int tern_tcp_pair(const struct tern_tcp_address *own, int own_count,
                  const struct tern_tcp_address *theirs, int their_count, bool same_host,
                  struct tern_tcp_pair ret_pairs[TERN_TCP_ADDRESSES_MAX])
{
    int weights[TERN_TCP_ADDRESSES_MAX], count = 0;
    for (int j = 0; j < their_count && count < TERN_TCP_ADDRESSES_MAX; j++) {
        struct tern_tcp_pair pair = {-1, j};
        int best = 0;
        for (int i = 0; i < own_count; i++) {
            int weight = weigh(&own[i], &theirs[j], same_host);
            if (weight > best) {
                best = weight;
                pair.own = tern_tcp_same_subnet(&own[i], &theirs[j]) ? i : -1;
            }
        }
        if (!best)
            continue;
        if (!same_host && is_among(&theirs[j], own, own_count))
            best = OURS; /* an address that every host has, such as a bridge's */
        int at = count++;
        for (; at > 0 && weights[at - 1] < best; at--) {
            weights[at] = weights[at - 1];
            ret_pairs[at] = ret_pairs[at - 1];
        }
        weights[at] = best;
        ret_pairs[at] = pair;
    }
    return count;
}
