/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_TCP_ADDRESS_H
#define TERN_TCP_ADDRESS_H

/* This host's addresses, which of them may be used, and how they are written. */

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

/* Of its bytes. */
static inline int tern_tcp_bits_of(int family)
{
    return family == 4 ? 32 : 128;
}

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

/* Reads such a list; NULL or "": empty. TERN_ERR_ARG with text that names `parameter` and the wrong
 * word. */
int tern_tcp_filter_read(const char *parameter, const char *text,
                         struct tern_tcp_filter *ret_filter);
bool tern_tcp_filter_has(const struct tern_tcp_filter *filter,
                         const struct tern_tcp_address *address);

/* The addresses of this host's interfaces that are up and run; those of the loopback last.
 * Link-local ones are left out. Returns how many; *ret_cut: there were more. */
int tern_tcp_list_addresses(struct tern_tcp_address ret_list[TERN_TCP_ADDRESSES_MAX],
                            bool *ret_cut);

bool tern_tcp_is_loopback(const struct tern_tcp_address *address);
bool tern_tcp_same_address(const struct tern_tcp_address *a, const struct tern_tcp_address *b);
bool tern_tcp_same_subnet(const struct tern_tcp_address *a, const struct tern_tcp_address *b);

/* ---- for the system and for people ---- */

socklen_t tern_tcp_sockaddr(const struct tern_tcp_address *address, uint16_t port,
                            struct sockaddr_storage *ret);
/* What accept and getsockname give; a socket for both families has IPv4 addresses within IPv6 ones,
 * which become IPv4. */
void tern_tcp_from_sockaddr(const struct sockaddr_storage *from, struct tern_tcp_address *ret);
/* "192.0.2.2:1024", "[fd00::2]:1024"; with port 0 the address alone. */
enum { TERN_TCP_TEXT = 72 };
const char *tern_tcp_text(const struct tern_tcp_address *address, char text[TERN_TCP_TEXT]);
/* The same for what accept and getsockname give. */
const char *tern_tcp_sockaddr_text(const struct sockaddr_storage *address,
                                   char text[TERN_TCP_TEXT]);

#endif
