/* SPDX-License-Identifier: BSD-3-Clause */
#include "mpirun/plan/hosts/host_list.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

#include "lib/util/base/error.h"
#include "lib/util/base/log.h"
#include "lib/util/base/text.h"

enum { MOST_SLOTS = 1 << 20 };

int tern_host_parse_slots(const char *text, const char *where, int *ret_slots)
{
    char *end;
    long slots = strtol(text, &end, 10);
    if (end == text || *end || slots < 1 || slots > MOST_SLOTS)
        return tern_error(TERN_ERR_ARG, "\"%s\" is not a number of slots (in %s); expected 1 to %d",
                          text, where, MOST_SLOTS);
    *ret_slots = (int)slots;
    return 0;
}

int tern_host_parse_name(const char *name, size_t length, struct tern_host_entry *entry)
{
    const char *text = name, *at = memchr(name, '@', length);
    if (at && (size_t)(at - name) < sizeof entry->user) {
        memcpy(entry->user, name, at - name);
        entry->user[at - name] = '\0';
    }
    if (at) {
        length -= at + 1 - name;
        name = at + 1;
    }
    if (!length || length >= sizeof entry->name)
        return tern_error(TERN_ERR_ARG, "\"%s\" is not a host name", text);
    memcpy(entry->name, name, length);
    entry->name[length] = '\0';
    return 0;
}

int tern_host_parse(const char *text, struct tern_host_entry *ret_entry)
{
    struct tern_host_entry entry = { 0 };
    const char *colon = strchr(text, ':');
    /* More than one colon: an IPv6 address. It can have slots only after brackets. */
    if (text[0] == '[') {
        const char *close = strchr(text, ']');
        if (!close)
            return tern_error(TERN_ERR_ARG, "\"%s\" is not a host name", text);
        colon = close[1] == ':' ? close + 1 : NULL;
        int error = tern_host_parse_name(text + 1, close - text - 1, &entry);
        if (error)
            return error;
    } else {
        if (colon && strchr(colon + 1, ':'))
            colon = NULL;
        int error =
            tern_host_parse_name(text, colon ? (size_t)(colon - text) : strlen(text), &entry);
        if (error)
            return error;
    }
    if (colon && strcmp(colon + 1, "*")) {
        int error = tern_host_parse_slots(colon + 1, text, &entry.slots);
        if (error)
            return error;
    } else if (!colon) {
        entry.slots = 1;
        entry.implied = true;
    }
    *ret_entry = entry;
    return 0;
}

static bool same_address(const struct sockaddr *a, const struct sockaddr *b)
{
    if (!a || !b || a->sa_family != b->sa_family)
        return false;
    if (a->sa_family == AF_INET)
        return ((const struct sockaddr_in *)a)->sin_addr.s_addr ==
               ((const struct sockaddr_in *)b)->sin_addr.s_addr;
    if (a->sa_family == AF_INET6)
        return memcmp(&((const struct sockaddr_in6 *)a)->sin6_addr,
                      &((const struct sockaddr_in6 *)b)->sin6_addr, sizeof(struct in6_addr)) == 0;
    return false;
}

static bool is_own_address(const struct sockaddr *address)
{
    if (address->sa_family == AF_INET &&
        ntohl(((const struct sockaddr_in *)address)->sin_addr.s_addr) >> 24 == IN_LOOPBACKNET)
        return true;
    struct ifaddrs *interfaces;
    if (getifaddrs(&interfaces) < 0)
        return false;
    bool own = false;
    for (struct ifaddrs *at = interfaces; at && !own; at = at->ifa_next)
        own = same_address(at->ifa_addr, address);
    freeifaddrs(interfaces);
    return own;
}

/* Returns true if `name` means this machine, as tern_host_is_here does. Also stores the name's
 * first address as text. */
static bool identify(const char *name, char *address, size_t room)
{
    char own[256] = "";
    gethostname(own, sizeof own - 1);
    *address = '\0';
    if (strcasecmp(name, "localhost") == 0 || strcasecmp(name, own) == 0)
        return true;
    /* a short name and a full name of the same host */
    size_t length = strcspn(own, ".");
    if (strncasecmp(name, own, length) == 0 && (name[length] == '\0' || name[length] == '.') &&
        (name[length] == '\0' || own[length] == '\0'))
        return true;
    struct addrinfo hints = { .ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM }, *found;
    if (getaddrinfo(name, NULL, &hints, &found))
        return false;
    bool here = false;
    for (struct addrinfo *at = found; at && !here; at = at->ai_next)
        here = is_own_address(at->ai_addr);
    if (getnameinfo(found->ai_addr, found->ai_addrlen, address, room, NULL, 0, NI_NUMERICHOST))
        *address = '\0';
    freeaddrinfo(found);
    return here;
}

bool tern_host_is_here(const char *name)
{
    char address[48];
    return identify(name, address, sizeof address);
}

void tern_host_identify(struct tern_host_entry *entry)
{
    entry->here = identify(entry->name, entry->address, sizeof entry->address);
}

char *tern_host_address(const char *name)
{
    char text[INET6_ADDRSTRLEN + 32];
    struct addrinfo hints = { .ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM }, *found;
    if (getaddrinfo(name, NULL, &hints, &found))
        return NULL;
    bool good = getnameinfo(found->ai_addr, found->ai_addrlen, text, sizeof text, NULL, 0,
                            NI_NUMERICHOST) == 0;
    freeaddrinfo(found);
    return good ? tern_must_copy(text) : NULL;
}

/* ---- lists ---- */

/* Compares addresses too, because a host may have several names. */
struct tern_host_entry *tern_host_list_find_entry(const struct tern_host_list *list,
                                    const struct tern_host_entry *wanted)
{
    for (int i = 0; i < list->count; i++) {
        struct tern_host_entry *entry = &list->items[i];
        if ((wanted->here && entry->here) || strcasecmp(entry->name, wanted->name) == 0 ||
            (*wanted->address && strcmp(entry->address, wanted->address) == 0))
            return entry;
    }
    return NULL;
}

void tern_host_list_free(struct tern_host_list *list)
{
    tern_strings_free(&list->sequence);
    free(list->items);
    *list = (struct tern_host_list){ 0 };
}

int tern_host_list_find(const struct tern_host_list *list, const char *name)
{
    for (int i = 0; i < list->count; i++) {
        if (strcasecmp(list->items[i].name, name) == 0)
            return i;
    }
    struct tern_host_entry wanted = { 0 };
    snprintf(wanted.name, sizeof wanted.name, "%s", name);
    tern_host_identify(&wanted);
    const struct tern_host_entry *found = tern_host_list_find_entry(list, &wanted);
    return found ? (int)(found - list->items) : -1;
}

static int add_slots(int some, int more, int most)
{
    return more < most - some ? some + more : most;
}

void tern_host_list_add(struct tern_host_list *list, const struct tern_host_entry *entry)
{
    struct tern_host_entry *known = tern_host_list_find_entry(list, entry);
    if (known) {
        if (strcasecmp(known->name, entry->name))
            tern_log("%s and %s are the same host%s%s; their slots are added", known->name,
                     entry->name, *entry->address ? ", " : "", entry->address);
        known->slots = add_slots(known->slots ? known->slots : 1, entry->slots ? entry->slots : 1,
                                 MOST_SLOTS);
        known->max_slots = add_slots(known->max_slots, entry->max_slots, MOST_SLOTS);
        known->implied &= entry->implied;
        return;
    }
    if (list->count == list->room) {
        list->room = list->room ? 2 * list->room : 16;
        list->items = tern_must_grow(list->items, list->room * sizeof *list->items);
    }
    list->items[list->count++] = *entry;
}

bool tern_host_name_is_good(const char *name)
{
    static const char never[] = " /\"'^*?;|&<>$`(){}[]!,=";
    char shown[sizeof ((struct tern_host_entry *)0)->name], address[16];
    const char *scope = strchr(name, '%');
    char *bare = tern_must_format("%.*s", scope ? (int)(scope - name) : (int)strlen(name), name);
    bool named = !strchr(name, ':') || inet_pton(AF_INET6, bare, address) == 1;
    free(bare);
    tern_text_make_printable(name, false, shown, sizeof shown);
    return named && *name && *name != '-' && strcmp(name, shown) == 0 && !strpbrk(name, never);
}
