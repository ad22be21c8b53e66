/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_TCP_ADDRESS_H
#define TERN_TCP_ADDRESS_H

/*
 * Addresses: which of this host's may be used, the record in which a rank publishes its own, and which pairs of an own and
 * a peer's address are worth trying, in which order. Which of them work is found out by trying (reception.h).
 */

#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

enum { TERN_TCP_ADDRESSES_MAX = 64, TERN_TCP_INTERFACE_NAME = 16 };

struct tern_tcp_address {
    uint8_t family;          /* 4 or 6 */
    uint8_t prefix;          /* bits of the subnet */
    uint16_t port;           /* the host's byte order; 0: none */
    unsigned char bytes[16]; /* 4 or all of them, network order */
    char interface[TERN_TCP_INTERFACE_NAME]; /* "eth0", closed by 0 */
};

/* ---- which interfaces ---- */

/* "eth0,10.1.0.0/16,fd00::/8,eth1": names, and subnets in CIDR notation. */
enum { TERN_TCP_WORDS_MAX = 64 };
struct tern_tcp_filter {
    int count;
    struct tern_tcp_word {
        bool is_subnet;
        struct tern_tcp_address subnet;
        char interface[TERN_TCP_INTERFACE_NAME];
    } words[TERN_TCP_WORDS_MAX];
};

/* Reads such a list; NULL or "": empty. TERN_ERR_ARG with text that names `parameter` and the wrong word. */
int tern_tcp_filter_read(const char *parameter, const char *text, struct tern_tcp_filter *ret_filter);
bool tern_tcp_filter_has(const struct tern_tcp_filter *filter, const struct tern_tcp_address *address);

/* The addresses of this host's interfaces that are up and run; those of the loopback last. Link-local ones are left out.
 * Returns how many; *ret_cut: there were more. */
int tern_tcp_list_addresses(struct tern_tcp_address ret_list[TERN_TCP_ADDRESSES_MAX], bool *ret_cut);

bool tern_tcp_is_loopback(const struct tern_tcp_address *address);
bool tern_tcp_same_subnet(const struct tern_tcp_address *a, const struct tern_tcp_address *b);

/* ---- the published record ---- */

/* Bytes of the record, at most `room`; 0: it does not fit. */
size_t tern_tcp_record_write(const struct tern_tcp_address *list, int count, void *record, size_t room);
/* Returns how many addresses, or -1: it is no such record. */
int tern_tcp_record_read(const void *record, size_t length, struct tern_tcp_address ret_list[TERN_TCP_ADDRESSES_MAX]);

/* ---- pairs ---- */

struct tern_tcp_pair {
    int own;    /* index, or -1: the system shall choose the address to come from */
    int theirs; /* index */
};

/* Every address of theirs that any of ours could reach, the likeliest first, with ours where one is in its subnet. Loopback
 * addresses only for `same_host`, and last; another host's that are our own, too, next to last. Returns how many, at most TERN_TCP_ADDRESSES_MAX. */
int tern_tcp_pair(const struct tern_tcp_address *own, int own_count, const struct tern_tcp_address *theirs, int their_count,
                  bool same_host, struct tern_tcp_pair ret_pairs[TERN_TCP_ADDRESSES_MAX]);

/* ---- for the system and for people ---- */

socklen_t tern_tcp_sockaddr(const struct tern_tcp_address *address, uint16_t port, struct sockaddr_storage *ret);
/* "192.0.2.2:1024", "[fd00::2]:1024"; with port 0 the address alone. */
enum { TERN_TCP_TEXT = 72 };
const char *tern_tcp_text(const struct tern_tcp_address *address, char text[TERN_TCP_TEXT]);
/* The same for what accept and getsockname give. */
const char *tern_tcp_sockaddr_text(const struct sockaddr_storage *address, char text[TERN_TCP_TEXT]);

#endif
