/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/util/net/tcp_address.h"

#include "lib/util/base/error.h"

#include <arpa/inet.h>
#include <errno.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool same_bits(const unsigned char *a, const unsigned char *b, int bits)
{
    int whole = bits / 8, rest = bits % 8;
    if (memcmp(a, b, (size_t)whole) != 0)
        return false;
    return rest == 0 || ((a[whole] ^ b[whole]) >> (8 - rest)) == 0;
}

bool tern_tcp_same_subnet(const struct tern_tcp_address *a, const struct tern_tcp_address *b)
{
    return a->family == b->family && a->prefix == b->prefix &&
           same_bits(a->bytes, b->bytes, a->prefix);
}

bool tern_tcp_same_address(const struct tern_tcp_address *a, const struct tern_tcp_address *b)
{
    return a->family == b->family && same_bits(a->bytes, b->bytes, tern_tcp_bits_of(a->family));
}

bool tern_tcp_is_loopback(const struct tern_tcp_address *address)
{
    static const unsigned char one[16] = {[15] = 1};
    return address->family == 4 ? address->bytes[0] == 127 : memcmp(address->bytes, one, 16) == 0;
}

/* ---- interfaces ---- */

static bool read_address(const char *text, struct tern_tcp_address *ret)
{
    *ret = (struct tern_tcp_address){0};
    if (inet_pton(AF_INET, text, ret->bytes) == 1)
        ret->family = 4;
    else if (inet_pton(AF_INET6, text, ret->bytes) == 1)
        ret->family = 6;
    ret->prefix = (uint8_t)(ret->family ? tern_tcp_bits_of(ret->family) : 0);
    return ret->family != 0;
}

static int read_subnet(const char *parameter, char *word, struct tern_tcp_word *ret_word)
{
    char *slash = strchr(word, '/'), *end = NULL;
    *slash = 0;
    bool fine = read_address(word, &ret_word->subnet);
    long bits = strtol(slash + 1, &end, 10);
    *slash = '/';
    if (!fine || end == slash + 1 || *end || bits < 0 ||
        bits > tern_tcp_bits_of(ret_word->subnet.family))
        return tern_error(TERN_ERR_ARG,
                          "%s: `%s` is not a subnet; expected one such as 192.168.1.0/24 or "
                          "fd00::/8",
                          parameter, word);
    ret_word->is_subnet = true;
    ret_word->subnet.prefix = (uint8_t)bits;
    return 0;
}

static int read_word(const char *parameter, char *word, struct tern_tcp_word *ret_word)
{
    struct tern_tcp_address address;
    if (strchr(word, '/'))
        return read_subnet(parameter, word, ret_word);
    if (read_address(word, &address))
        return tern_error(TERN_ERR_ARG,
                          "%s: `%s` is an address; expected the name of an interface, or a subnet "
                          "such as %s/%d",
                          parameter, word, word, address.family == 4 ? 24 : 64);
    if (strlen(word) >= sizeof ret_word->interface)
        return tern_error(TERN_ERR_ARG, "%s: `%s` is too long for the name of an "
                                        "interface", parameter,
                          word);
    memcpy(ret_word->interface, word, strlen(word) + 1);
    return 0;
}

int tern_tcp_filter_read(const char *parameter, const char *text,
                         struct tern_tcp_filter *ret_filter)
{
    struct tern_tcp_filter filter = {0};
    char *copy = strdup(text ? text : ""), *rest = copy, *word;
    int rc = copy ? 0 : tern_error(TERN_ERR_NO_MEM, "no memory to read %s", parameter);
    while (!rc && (word = strsep(&rest, ","))) {
        word += strspn(word, " ");
        word[strcspn(word, " ")] = 0;
        if (!*word)
            continue;
        rc = filter.count == TERN_TCP_WORDS_MAX
                 ? tern_error(TERN_ERR_ARG, "%s names more than %d interfaces", parameter,
                              TERN_TCP_WORDS_MAX)
                 : read_word(parameter, word, &filter.words[filter.count++]);
    }
    free(copy);
    if (!rc)
        *ret_filter = filter;
    return rc;
}

static bool word_means(const struct tern_tcp_word *word, const struct tern_tcp_address *address)
{
    if (!word->is_subnet)
        return strcmp(word->interface, address->interface) == 0;
    return word->subnet.family == address->family &&
           same_bits(word->subnet.bytes, address->bytes, word->subnet.prefix);
}

bool tern_tcp_filter_has(const struct tern_tcp_filter *filter,
                         const struct tern_tcp_address *address)
{
    for (int i = 0; i < filter->count; i++)
        if (word_means(&filter->words[i], address))
            return true;
    return false;
}

static uint8_t count_bits(const unsigned char *mask, int bytes)
{
    int bits = 0;
    for (int i = 0; i < bytes; i++)
        bits += __builtin_popcount(mask[i]);
    return (uint8_t)bits;
}

static bool read_interface(const struct ifaddrs *entry, struct tern_tcp_address *ret)
{
    *ret = (struct tern_tcp_address){0};
    if (!entry->ifa_addr || !entry->ifa_netmask || !(entry->ifa_flags & IFF_UP) ||
        !(entry->ifa_flags & IFF_RUNNING) || strlen(entry->ifa_name) >= sizeof ret->interface)
        return false;
    memcpy(ret->interface, entry->ifa_name, strlen(entry->ifa_name) + 1);
    if (entry->ifa_addr->sa_family == AF_INET) {
        ret->family = 4;
        memcpy(ret->bytes, &((struct sockaddr_in *)entry->ifa_addr)->sin_addr, 4);
        ret->prefix = count_bits(
            (unsigned char *)&((struct sockaddr_in *)entry->ifa_netmask)->sin_addr, 4);
        return true;
    }
    if (entry->ifa_addr->sa_family != AF_INET6)
        return false;
    const struct in6_addr *six = &((struct sockaddr_in6 *)entry->ifa_addr)->sin6_addr;
    ret->family = 6;
    memcpy(ret->bytes, six, 16);
    ret->prefix =
        count_bits(((struct sockaddr_in6 *)entry->ifa_netmask)->sin6_addr.s6_addr, 16);
    return !IN6_IS_ADDR_LINKLOCAL(six);
}

int tern_tcp_list_addresses(struct tern_tcp_address ret_list[TERN_TCP_ADDRESSES_MAX],
                            bool *ret_cut)
{
    struct ifaddrs *all = NULL;
    int count = 0;
    *ret_cut = false;
    if (getifaddrs(&all))
        return 0;
    for (int loopback = 0; loopback < 2; loopback++)
        for (const struct ifaddrs *entry = all; entry; entry = entry->ifa_next) {
            struct tern_tcp_address address;
            if (!read_interface(entry, &address) ||
                tern_tcp_is_loopback(&address) != (loopback == 1))
                continue;
            if (count == TERN_TCP_ADDRESSES_MAX)
                *ret_cut = true;
            else
                ret_list[count++] = address;
        }
    freeifaddrs(all);
    return count;
}

/* ---- listening ---- */

/* Makes a socket of both families, or of IPv4 alone if the host has no IPv6. */
static int make_socket(struct tern_tcp_address *ret_any)
{
    *ret_any = (struct tern_tcp_address){.family = 6};
    int fd = socket(AF_INET6, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0) {
        ret_any->family = 4;
        fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    }
    if (fd < 0)
        return -1;
    setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &(int){0}, sizeof(int));
    /* where few ports are allowed, an earlier job may have used this one a moment ago */
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &(int){1}, sizeof(int));
    return fd;
}

static int listen_at(uint16_t wanted, void (*prepare)(int fd), uint16_t *ret_port,
                     bool *ret_only_four)
{
    struct sockaddr_storage address;
    struct tern_tcp_address any;
    int fd = make_socket(&any);
    if (fd < 0)
        return -1;
    if (prepare)
        prepare(fd);
    socklen_t size = tern_tcp_sockaddr(&any, wanted, &address);
    if (bind(fd, (struct sockaddr *)&address, size) || listen(fd, SOMAXCONN) ||
        getsockname(fd, (struct sockaddr *)&address, &size)) {
        int error = errno;
        close(fd);
        errno = error;
        return -1;
    }
    tern_tcp_from_sockaddr(&address, &any);
    *ret_port = any.port;
    *ret_only_four = address.ss_family == AF_INET;
    return fd;
}

int tern_tcp_listen(uint16_t first, uint16_t last, void (*prepare)(int fd), uint16_t *ret_port,
                    bool *ret_only_four)
{
    int fd = -1;
    errno = EADDRNOTAVAIL; /* if `last` is below `first` */
    /* an int can go one beyond the last port, which a uint16_t cannot */
    for (int port = first; port <= last && fd < 0; port++)
        fd = listen_at((uint16_t)port, prepare, ret_port, ret_only_four);
    return fd;
}

/* ---- addresses for the system and for people ---- */

socklen_t tern_tcp_sockaddr(const struct tern_tcp_address *address, uint16_t port,
                            struct sockaddr_storage *ret)
{
    memset(ret, 0, sizeof *ret);
    if (address->family == 4) {
        struct sockaddr_in *four = (struct sockaddr_in *)ret;
        four->sin_family = AF_INET;
        four->sin_port = htons(port);
        memcpy(&four->sin_addr, address->bytes, 4);
        return sizeof *four;
    }
    struct sockaddr_in6 *six = (struct sockaddr_in6 *)ret;
    six->sin6_family = AF_INET6;
    six->sin6_port = htons(port);
    memcpy(&six->sin6_addr, address->bytes, 16);
    return sizeof *six;
}

const char *tern_tcp_text(const struct tern_tcp_address *address, char text[TERN_TCP_TEXT])
{
    char plain[INET6_ADDRSTRLEN] = "?";
    inet_ntop(address->family == 4 ? AF_INET : AF_INET6, address->bytes, plain, sizeof plain);
    if (address->port)
        snprintf(text, TERN_TCP_TEXT, address->family == 4 ? "%s:%u" : "[%s]:%u", plain,
                 address->port);
    else
        snprintf(text, TERN_TCP_TEXT, "%s", plain);
    return text;
}

void tern_tcp_from_sockaddr(const struct sockaddr_storage *from, struct tern_tcp_address *ret)
{
    const struct sockaddr_in *four = (const struct sockaddr_in *)from;
    const struct sockaddr_in6 *six = (const struct sockaddr_in6 *)from;
    bool is_four = from->ss_family == AF_INET,
         mapped = !is_four && IN6_IS_ADDR_V4MAPPED(&six->sin6_addr);
    struct tern_tcp_address address = {.family = is_four || mapped ? 4 : 6};
    address.prefix = (uint8_t)tern_tcp_bits_of(address.family);
    address.port = ntohs(is_four ? four->sin_port : six->sin6_port);
    if (is_four)
        memcpy(address.bytes, &four->sin_addr, 4);
    else
        memcpy(address.bytes, six->sin6_addr.s6_addr + (mapped ? 12 : 0), mapped ? 4 : 16);
    *ret = address;
}

const char *tern_tcp_sockaddr_text(const struct sockaddr_storage *from, char text[TERN_TCP_TEXT])
{
    struct tern_tcp_address address;
    tern_tcp_from_sockaddr(from, &address);
    return tern_tcp_text(&address, text);
}
