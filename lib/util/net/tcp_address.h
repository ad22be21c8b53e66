/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_TCP_ADDRESS_H
#define TERN_TCP_ADDRESS_H

/* This host's addresses, the choice among them, addresses as text, and sockets that listen at all
 * of them. */

#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

/* Most addresses of a host, and bytes of the name of an interface. */
enum { TERN_TCP_ADDRESSES_MAX = 64, TERN_TCP_INTERFACE_NAME = 16 };

/* An address of a host. */
struct tern_tcp_address {
    uint8_t family;          /* 4 or 6 */
    uint8_t prefix;          /* length of the subnet's prefix, in bits */
    uint16_t port;           /* in the host's byte order; 0: no port */
    unsigned char bytes[16]; /* the first 4 or all 16, in network order */
    char interface[TERN_TCP_INTERFACE_NAME]; /* "eth0", closed by a 0 byte */
};

/* Returns the length of an address in bits. */
static inline int tern_tcp_bits_of(int family)
{
    return family == 4 ? 32 : 128;
}

/* ---- which interfaces ---- */

/* A list of interface names and of subnets in CIDR notation, such as
 * "eth0,10.1.0.0/16,fd00::/8,eth1". */
enum { TERN_TCP_WORDS_MAX = 64 };
struct tern_tcp_filter {
    int count;
    struct tern_tcp_word {
        bool is_subnet;
        struct tern_tcp_address subnet;
        char interface[TERN_TCP_INTERFACE_NAME];
    } words[TERN_TCP_WORDS_MAX];
};

/* Reads such a list. NULL or "" gives an empty list. Returns 0, or TERN_ERR_ARG with a text that
 * names `parameter` and the wrong word. */
int tern_tcp_filter_read(const char *parameter, const char *text,
                         struct tern_tcp_filter *ret_filter);
/* Returns true if the list names the address's interface or a subnet that contains the address. */
bool tern_tcp_filter_has(const struct tern_tcp_filter *filter,
                         const struct tern_tcp_address *address);

/* Lists the addresses of this host's interfaces that are up and running, loopback addresses last,
 * link-local addresses left out. Returns how many. Sets *ret_cut if there are more than fit. */
int tern_tcp_list_addresses(struct tern_tcp_address ret_list[TERN_TCP_ADDRESSES_MAX],
                            bool *ret_cut);

/* Returns true if the address is a loopback address. */
bool tern_tcp_is_loopback(const struct tern_tcp_address *address);
/* Returns true if both have equal family and bytes. */
bool tern_tcp_same_address(const struct tern_tcp_address *a, const struct tern_tcp_address *b);
/* Returns true if both have equal family, prefix length and subnet bits. */
bool tern_tcp_same_subnet(const struct tern_tcp_address *a, const struct tern_tcp_address *b);

/* ---- listening ---- */

/* Opens a listening socket for both families if the host has both, at the first free port from
 * `first` to `last`; both 0: any port. `prepare` sets more options before the socket is bound;
 * NULL: none. Sets *ret_port, and *ret_only_four if the host has no IPv6. The descriptor does not
 * block and is close-on-exec. Returns it, or -1 with errno. */
int tern_tcp_listen(uint16_t first, uint16_t last, void (*prepare)(int fd), uint16_t *ret_port,
                    bool *ret_only_four);

/* ---- for the system and for people ---- */

/* Fills in the system's form of `address` with `port`. Returns its length. */
socklen_t tern_tcp_sockaddr(const struct tern_tcp_address *address, uint16_t port,
                            struct sockaddr_storage *ret);
/* Converts an address from accept or getsockname. A socket for both families shows IPv4 addresses
 * inside IPv6 ones; these become IPv4. */
void tern_tcp_from_sockaddr(const struct sockaddr_storage *from, struct tern_tcp_address *ret);
/* Writes "192.0.2.2:1024" or "[fd00::2]:1024", or the address alone if the port is 0. Returns
 * `text`. */
enum { TERN_TCP_TEXT = 72 };
const char *tern_tcp_text(const struct tern_tcp_address *address, char text[TERN_TCP_TEXT]);
/* Writes an address from accept or getsockname in that form. Returns `text`. */
const char *tern_tcp_sockaddr_text(const struct sockaddr_storage *address,
                                   char text[TERN_TCP_TEXT]);

#endif
